internal import LMDB
internal import LodestoreFormat

extension Catalogue {
  /// Returns the format versions that the file requires.
  static func requirement(_ header: Tree, in transaction: Transaction) throws -> FormatRequirement {
    guard let bytes = try transaction.get(HeaderField.format.key, in: header) else {
      throw FormatError("the header has no field 'format'")
    }
    return try FormatRequirement(bytes: bytes)
  }

  /// Throws ``StoreError/Code/newerFormat`` if this library does not support the versions that the
  /// file requires.
  static func check(
    _ requirement: FormatRequirement, path: String, isWriting: Bool
  ) throws(StoreError) {
    let known = FormatVersion.current.rawValue
    guard requirement.lowestReader <= known else {
      throw .newerFormat(path, needed: requirement.lowestReader, isWriting: false)
    }
    guard !isWriting || requirement.lowestWriter != SealDescription.lowestWriter else {
      throw .sealed("'\(path)'", nil)
    }
    guard !isWriting || requirement.lowestWriter <= known else {
      throw .newerFormat(path, needed: requirement.lowestWriter, isWriting: true)
    }
  }
}

extension Catalogue.Trees {
  /// Notes in the header that the file uses `features`.
  ///
  /// The transaction that first uses them must call this. Nothing is written if the header already
  /// requires them. The version numbers never decrease.
  func require(_ features: Set<FormatFeature>, in transaction: WritingTransaction) throws {
    let stored = try Catalogue.requirement(header, in: transaction.reads)
    let needed = stored.raised(to: FormatRequirement(of: features))
    guard needed != stored else { return }
    try transaction.put(HeaderField.format.key, needed.bytes, in: header)
  }
}
