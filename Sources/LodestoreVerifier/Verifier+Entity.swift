import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

/// An index whose tree exists.
struct VerifiedIndex {
  let description: EntityDescription.Index
  /// The name in findings, such as `Film.episodeId`.
  let name: String
  let tree: Tree
  /// The id of the first record without an entry, in an index under construction.
  let end: UInt64
}

/// The state of the check of one entity's records and indexes.
struct EntityVerification: ~Copyable {
  let entity: EntityDescription
  let layouts: [UInt16: RecordLayout]
  /// The indexes whose trees exist.
  let indexes: [VerifiedIndex]
  let recordTree: Tree?
  var encoder = KeyEncoder()
  /// The sums of the entries, in the order of ``indexes``.
  var sums: [EntrySums]

  init(entity: EntityDescription, indexes: [VerifiedIndex], recordTree: Tree?) {
    self.entity = entity
    layouts = entity.layoutsByNumber
    self.indexes = indexes
    self.recordTree = recordTree
    sums = indexes.map { _ in EntrySums() }
  }

  /// The name of an index in findings, such as `Film.episodeId`.
  static func subject(_ index: EntityDescription.Index, _ entity: EntityDescription) -> String {
    "\(entity.name).\(entity.indexName(index))"
  }
}

extension Verifier {
  func verifyEntity(_ entity: EntityDescription) throws {
    let before = findings.count
    let recordTree = tree(.records(entity: entity.number), of: entity.name)
    var indexes: [VerifiedIndex] = []
    for index in entity.indexes + entity.building {
      let name = TreeName.index(entity: entity.number, index: index.number)
      let subject = EntityVerification.subject(index, entity)
      guard let tree = tree(name, of: subject) else { continue }
      let end =
        entity.building.contains(index)
        ? try builtEnd(CounterKey.building(entity: entity.number, index: index.number)) : .max
      indexes.append(VerifiedIndex(description: index, name: subject, tree: tree, end: end))
    }
    var verification = EntityVerification(entity: entity, indexes: indexes, recordTree: recordTree)
    var result = VerificationReport.Entity(name: entity.name)
    if let recordTree {
      try guarding(recordTree.name) {
        result.recordCount = try transaction.count(of: recordTree)
        try verifyRecords(of: &verification, in: recordTree)
      }
    }
    for (number, index) in indexes.enumerated() {
      try guarding(index.tree.name) {
        let count = try transaction.count(of: index.tree)
        result.indexEntryCount += count
        try verifyIndex(number, &verification)
        let expected =
          index.end == .max ? result.recordCount : try self.count(recordTree, below: index.end)
        // If there are other findings about the entity, they explain the difference.
        if recordTree != nil, count != expected, findings.count == before {
          add(
            .indexCount, tree: index.tree.name, subject: index.name,
            "has \(count) entries, must have one for each of \(expected) records")
        }
      }
    }
    result.findingCount = findings.count - before
    report.entities.append(result)
  }

  /// The tree of this name; `nil` after adding a finding if it does not exist.
  func tree(_ name: TreeName, of subject: String) -> Tree? {
    if let tree = trees[name.text] { return tree }
    add(.treeMissing, tree: name.text, subject: subject, "the tree must exist")
    return nil
  }

  /// The id of the first record without entries in a computed index.
  func builtEnd(
    of index: EntityDescription.ComputedIndex, _ entity: EntityDescription
  ) throws -> UInt64 {
    guard index.isBuilding else { return .max }
    return try builtEnd(CounterKey.buildingComputed(entity: entity.number, index: index.number))
  }

  /// The id of the first record without an entry in the index under construction with this counter.
  private func builtEnd(_ counter: [UInt8]) throws -> UInt64 {
    guard let counters = trees[TreeName.counters.text],
      let body = try transaction.get(counter, in: counters), body.count == 8
    else { return 1 }
    return body.uint64(at: 0)
  }

  private func count(_ records: Tree?, below end: UInt64) throws -> Int {
    guard let records else { return 0 }
    var count = 0
    try walk(records) { key, _ in
      if key.count == 8, key.uint64(at: 0) < end { count += 1 }
    }
    return count
  }

  // MARK: Records

  private func verifyRecords(of verification: inout EntityVerification, in tree: Tree) throws {
    let content = DigestedContent.records(entity: verification.entity.number)
    let findingCount = findings.count
    var digest = ContentDigest()
    var size: UInt64 = 0
    var previous: UInt64 = 0
    try walk(tree) { key, body in
      if let number = ContentDigest(of: content, key: key, body: body) { digest += number }
      size += UInt64(body.count)
      guard key.count == 8 else {
        return add(
          .recordKey, tree: tree.name, subject: verification.entity.name, key: key,
          "the key has \(key.count) bytes, must have 8")
      }
      let id = key.uint64(at: 0)
      if id == 0 || id >= 1 << 63 {
        add(
          .recordKey, tree: tree.name, subject: verification.entity.name, record: id,
          "the id is \(id), ids are from 1 to 2^63 - 1")
      } else if id <= previous {
        add(
          .recordKey, .lmdbKeyOrder, tree: tree.name, subject: verification.entity.name,
          record: id, "the id is after \(previous)")
      }
      previous = id
      try verifyRecord(id, body, of: &verification, in: tree)
    }
    // After a finding the computed digest is not stored, because comparing it would only report the
    // same damage again.
    guard findings.count == findingCount else { return }
    digests[content] = digest
    if verification.entity.keepsSize { try verifySize(size, of: verification.entity) }
  }

  /// Checks the stored total length of the records against `size`.
  private func verifySize(_ size: UInt64, of entity: EntityDescription) throws {
    guard let counters = trees[TreeName.counters.text] else { return }
    let key = CounterKey.size(entity: entity.number)
    let stored = try transaction.get(key, in: counters)
    // The check of the counters reports a wrong length.
    if let stored, stored.count != 8 { return }
    let value = stored?.uint64(at: 0)
    guard value != size else { return }
    add(
      .counter, .counterSize, tree: counters.name, subject: entity.name, key: key,
      "the size of the records is \(value.map(String.init) ?? "missing"), must be \(size)")
  }

  private func verifyRecord(
    _ id: UInt64, _ body: ByteView, of verification: inout EntityVerification,
    in tree: Tree
  ) throws {
    let entity = verification.entity.name
    func add(_ code: Finding.Code, _ detail: @autoclosure () -> String, _ rule: FormatRule? = nil) {
      self.add(code, rule, tree: tree.name, subject: entity, record: id, detail())
    }
    let view: RecordView
    do throws(FormatError) {
      let number = try RecordLayout.layoutNumber(of: body)
      guard let layout = verification.layouts[number] else {
        return add(.recordLayout, "layout \(number) is not in the catalogue")
      }
      view = try RecordView(body, layout: layout)
    } catch {
      return add(.recordShape, "\(error)", error.rule)
    }
    do throws(FormatError) {
      if body.count > 1 << 30 {
        throw FormatError("the record has \(body.count) bytes", .recordSize)
      }
      try view.validate(id: id)
      try Self.validateJSON(in: view)
    } catch {
      add(.recordContent, "\(error)", error.rule)
    }
    for attribute in verification.entity.attributes
    where !attribute.isOptional && !attribute.isRemoved {
      let place = view.layout.slotIndex(ofAttribute: attribute.number)
      let isNull = place.map { view.isNull(view.layout.slots[$0]) } ?? (attribute.initial == .null)
      if isNull {
        add(.recordRequired, "'\(attribute.name)' is null, must have a value")
      }
    }
    for number in verification.indexes.indices where id < verification.indexes[number].end {
      Self.expectEntry(of: id, view, number, &verification)
    }
  }

  private static func validateJSON(in view: RecordView) throws(FormatError) {
    for place in view.layout.slots where place.type == .json && !view.isNull(place) {
      try DocumentReader(view.variableBytes(place)).validate(onlyJSON: true)
    }
  }
}
