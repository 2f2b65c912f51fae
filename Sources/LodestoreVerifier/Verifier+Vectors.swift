import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks that the vector indexes of an entity have exactly the blocks that follow from its
  /// records and from the centroids of lists.
  func verifyVectors(of entity: EntityDescription) throws {
    guard let records = trees[TreeName.records(entity: entity.number).text] else { return }
    let layouts = entity.layoutsByNumber
    for index in entity.computedIndexes where index.kind == .vector {
      let subject = "\(entity.name).\(entity.indexName(index))"
      guard let tree = tree(index.tree(of: entity.number), of: subject) else { continue }
      let before = findings.count
      let end = try builtEnd(of: index, entity)
      let check = VectorCheck(index, tree, subject, in: self)
      try check.readLists()
      try walk(records) { key, body in
        guard key.count == 8, key.uint64(at: 0) < end, let view = layouts.view(of: body),
          case .vector(let vector) = IndexedVector(of: index, in: view, entity)
        else { return }
        try check.add(vector, id: key.uint64(at: 0))
      }
      try check.finish()
      let count = try transaction.count(of: tree)
      if findings.count == before, count != check.expected {
        add(
          .indexCount, .vectorEntries, tree: tree.name, subject: subject,
          "has \(count) blocks, must have \(check.expected)")
      }
      noteTree(tree.name, count, since: before)
    }
  }
}

/// The blocks that the tree of one vector index must have.
private final class VectorCheck {
  private let tree: Tree
  private let subject: String
  private let verifier: Verifier
  private let form: VectorForm
  private let encoder: VectorEncoder
  private var lists: VectorLists?
  /// The last block of each part in the order of ids.
  private var open: [VectorForm.Part: (number: UInt64, block: VectorBlockBuilder)] = [:]
  /// The vectors of each list in a section.
  private var listed: [Int: VectorBlockBuilder] = [:]
  private var section: UInt64 = 0
  /// The number of blocks.
  private(set) var expected = 0

  init(
    _ index: EntityDescription.ComputedIndex, _ tree: Tree, _ subject: String, in verifier: Verifier
  ) {
    self.tree = tree
    self.subject = subject
    self.verifier = verifier
    form = VectorForm(dimensions: index.dimensions)
    encoder = VectorEncoder(dimensions: index.dimensions)
  }

  func readLists() throws {
    var read = VectorLists(form)
    do {
      for part in [VectorForm.Part.groups, .lists] {
        for number in 0... as PartialRangeFrom<UInt64> {
          guard let body = try verifier.transaction.get(VectorForm.key(part, number), in: tree)
          else { break }
          expected += 1
          try read.append(VectorBlock(body, part, of: form), part, number: number, of: form)
        }
      }
      try read.check()
      if !read.isEmpty { lists = read }
    } catch let error as FormatError {
      verifier.add(
        .entryBody, error.rule ?? .vectorLists, tree: tree.name, subject: subject,
        error.description)
    }
  }

  func add(_ vector: [Float], id: UInt64) throws {
    let code = encoder.code(of: vector)
    for part in lists == nil ? [VectorForm.Part.signs, .levels] : [.levels] {
      let (number, offset) = id.quotientAndRemainder(dividingBy: form.span(part))
      if let other = open[part]?.number, other != number { try compare(part) }
      open[part, default: (number, VectorBlockBuilder())].block
        .append(code, at: UInt16(offset), part, of: form)
    }
    guard let lists else { return }
    let (section, offset) = id.quotientAndRemainder(dividingBy: VectorForm.section)
    if section != self.section { try compareSection() }
    self.section = section
    listed[lists.list(of: code), default: VectorBlockBuilder()]
      .append(code, at: UInt16(offset), .listedSigns, of: form)
  }

  func finish() throws {
    for part in [VectorForm.Part.signs, .levels] { try compare(part) }
    try compareSection()
  }

  private func compare(_ part: VectorForm.Part) throws {
    guard let (number, block) = open.removeValue(forKey: part) else { return }
    try compare(VectorForm.key(part, number), block.bytes, part, "block \(number) of \(part)")
  }

  private func compareSection() throws {
    for (list, vectors) in listed.sorted(by: { $0.key < $1.key }) {
      for (run, bytes) in vectors.runs(of: form.span(.listedSigns)).enumerated() {
        try compare(
          VectorForm.key(list: list, section: section, run: run), bytes, .listedSigns,
          "run \(run) of section \(section) of list \(list)")
      }
    }
    listed = [:]
  }

  private func compare(
    _ key: [UInt8], _ bytes: [UInt8], _ part: VectorForm.Part, _ name: String
  ) throws {
    expected += 1
    guard let found = try verifier.transaction.get(key, in: tree) else {
      verifier.add(
        .entryMissing, .vectorEntries, tree: tree.name, subject: subject, "\(name) is missing")
      return
    }
    do throws(FormatError) {
      _ = try VectorBlock(found, part, of: form)
    } catch {
      verifier.add(
        .entryBody, error.rule ?? .vectorBlock, tree: tree.name, subject: subject,
        "\(name): \(error.description)")
      return
    }
    if bytes != Array(found) {
      verifier.add(
        .entryBody, .vectorEntries, tree: tree.name, subject: subject,
        "\(name) does not have the codes of the records")
    }
  }
}
