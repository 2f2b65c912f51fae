import EntityStore
import LodestoreFormat
import LodestorePages
import LodestoreVerifier

extension Salvage {
  /// How many trees of later versions are carried: each that is open makes LMDB slower, and a damaged file may name
  /// any number.
  private static let mostTrees = 256

  /// Carries what the format does not list as it reads, and says what is not carried.
  ///
  /// What a later version's writers must know may follow from the records, which are no longer those that it
  /// followed from: then nothing of it is carried.
  func carryUnknown(_ file: SalvagedFile, into rebuild: StoreRebuild) throws {
    let known = FormatVersion.current.rawValue
    let isLater = max(file.requirement.lowestReader, file.requirement.lowestWriter) > known
    if isLater {
      problems.append(
        "the header asks for readers of version \(file.requirement.lowestReader) and writers of "
          + "version \(file.requirement.lowestWriter), this tool knows \(known): what they keep is not "
          + "carried")
      for field in file.unknownFields {
        problems.append("the header's field \(Self.name(field.key)) is not carried")
      }
      for description in file.unknownDescriptions {
        problems.append(
          "the description \(Finding.hexadecimal(description.key)) is not carried")
      }
    } else {
      try rebuild.putUnknown(fields: file.unknownFields, descriptions: file.unknownDescriptions)
    }
    for (place, tree) in file.unknownTrees.enumerated() {
      guard !isLater, tree.isLegal, place < Self.mostTrees else {
        problems.append("tree \(Self.name(Array(tree.name.utf8))) is not carried")
        continue
      }
      try carry(tree, of: file, into: rebuild)
    }
    for tree in file.undescribed {
      problems.append(
        "\(tree.count) records of '\(tree.name)' have no description that can be read")
    }
    if let history = try file.historyCounts() {
      problems.append(
        "history: \(history.writes) writes are not carried, nor \(history.images) images, "
          + "\(history.preserved) preserved values and \(history.consumers) marks of consumers")
    }
  }

  private func carry(
    _ tree: SalvagedFile.UnknownTree, of file: SalvagedFile, into rebuild: StoreRebuild
  ) throws {
    var batch = Batch<[UInt8]>()
    func put() throws {
      try rebuild.putUnknown(batch.take(), in: tree.name, hasIntegerKeys: tree.hasIntegerKeys)
    }
    let hasGaps = try file.forEachPair(of: tree) { key, body in
      batch.add(Array(key), Array(body))
      if batch.isFull { try put() }
    }
    // Also where there is no pair: the tree itself may say something.
    try put()
    if hasGaps {
      problems.append("some pairs of tree \(Self.name(Array(tree.name.utf8))) cannot be read")
    }
  }

  /// A name that may hold anything, on one line.
  private static func name(_ bytes: [UInt8]) -> String {
    "'" + DisplayText.escaped(String(decoding: bytes, as: UTF8.self)) + "'"
  }
}
