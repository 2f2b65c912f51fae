import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks the tree `history`: keys and bodies, the parts of each write, ids, images and preserved
  /// values.
  func verifyHistory() throws {
    let name = TreeName.history.text
    guard let tree = trees[name] else { return }
    var check = HistoryCheck(
      verifier: self, tree: name, nextRelationship: nextRelationship(), purged: purged(in: tree),
      nextIDs: try nextIDs())
    try walk(tree) { key, body in check.visit(key, body) }
    check.end()
  }

  /// Returns an id above all assigned ids, for each entity with readable records and counters.
  private func nextIDs() throws -> [EntityNumber: UInt64] {
    var result: [EntityNumber: UInt64] = [:]
    for entity in entities {
      guard let records = trees[TreeName.records(entity: entity.number).text] else { continue }
      var next: UInt64 = 1
      do {
        let cursor = try Cursor(records, in: transaction)
        if try cursor.last() { next = cursor.integerKey &+ 1 }
      } catch {
        if error.isShortage { throw error }
        // The check of the records reports damaged records, so they are skipped here.
        continue
      }
      if let counters = trees[TreeName.counters.text],
        let body = try? transaction.get(
          CounterKey.nextRecord(entity: entity.number), in: counters), body.count == 8
      {
        next = max(next, body.uint64(at: 0))
      }
      result[entity.number] = next
    }
    return result
  }

  /// A number above the numbers of all relationships that ever existed.
  private func nextRelationship() -> UInt64 {
    guard let counters = trees[TreeName.counters.text],
      let body = try? transaction.get(CounterKey.nextRelationship, in: counters)
    else { return 1 }
    // A counter of another length was already reported.
    return body.count == 8 ? body.uint64(at: 0) : .max
  }

  private func purged(in tree: Tree) -> UInt64 {
    let key = HistoryKey.purged.bytes
    guard let body = try? transaction.get(key, in: tree),
      let content = try? key._withBytes({ (key) throws(FormatError) in
        try Checksum.unsealed(key: key, body: body)
      }), let document = try? Document(decoding: content),
      case .integer(let number) = document["number"]
    else { return 0 }
    return UInt64(max(0, number))
  }
}

/// A walk over the tree `history`.
private struct HistoryCheck {
  let verifier: Verifier
  let tree: String
  let nextRelationship: UInt64
  let purged: UInt64
  let nextIDs: [EntityNumber: UInt64]
  /// The write whose parts are being visited, the number of parts seen, and the expected number.
  var current: (number: UInt64, seen: Int, expected: Int)?
  var lastNumber: UInt64 = 0
  /// The number under which the images of the last write are stored.
  var images: UInt64 = 0
  /// The number of a purged write under which the images of later writes are stored.
  var purgedImages: UInt64?
  var records = ReportedRecords()
  var changes = ReportedChanges()

  private func add(_ key: ByteView?, _ rule: FormatRule?, _ detail: @autoclosure () -> String) {
    verifier.add(.history, rule, tree: tree, key: key, detail())
  }

  mutating func visit(_ key: ByteView, _ body: ByteView) {
    guard let known = HistoryKey(key) else {
      return add(key, .historyKey, "the key is none of those of a history")
    }
    do throws(FormatError) {
      switch known {
      case .part(let number, let part):
        let content = try Checksum.unsealed(key: key, body: body)
        try visit(number, part, try HistoryPart(decoding: content))
      case .image(let entity, let id, let number):
        try check(number, id)
        try checkImage(body, entity, id)
        try require(
          changes.hasImage(of: id, entity, number),
          "the write did not update or delete the record of the image", .historyKept)
      case .tombstone(let entity, let id, let number):
        try check(number, id)
        try checkTombstone(
          try Document(decoding: try Checksum.unsealed(key: key, body: body)), entity)
        try require(
          changes.hasPreserved(of: id, entity, number),
          "the write did not delete the record of the preserved values", .historyKept)
      case .consumer, .purged:
        let document = try Document(decoding: try Checksum.unsealed(key: key, body: body))
        guard case .integer(let number) = document["number"],
          case .date(let time) = document["time"], time.isFinite,
          number >= (known == .purged ? 1 : 0), UInt64(number) <= max(lastNumber, purged),
          UInt64(number) <= HistoryKey.lastWrite
        else {
          throw FormatError(
            "a mark has no 'number' of a recorded write, and 'time'", .historyMark)
        }
      }
    } catch {
      // The changes of an unreadable part are unknown.
      if case .part = known { changes.isPartial = true }
      add(key, error.rule, "\(error)")
    }
  }

  private mutating func visit(
    _ number: UInt64, _ part: UInt32, _ content: HistoryPart
  ) throws(FormatError) {
    guard number > purged else { throw FormatError("the write was purged", .historyNumber) }
    if let header = content.header {
      try finish()
      try require(part == 0, "a part that is not the first begins a write", .historyParts)
      let expected = max(lastNumber, purged) + 1
      // Each gap is reported once.
      defer { lastNumber = number }
      try require(
        number <= expected, "the writes from \(expected) to \(number - 1) are missing",
        .historyNumber)
      let isFirst = lastNumber == 0
      current = (number, 1, header.partCount)
      if let undone = header.undoes, undone >= number {
        throw FormatError("the write takes back one that is not before it", .historyPart)
      }
      try begin(number, header.images, isFirst: isFirst)
    } else {
      guard let known = current, known.number == number, known.seen == Int(part) else {
        throw FormatError("the part does not follow those before it", .historyParts)
      }
      current = (number, known.seen + 1, known.expected)
    }
    try check(content)
  }

  /// Begins a write.
  ///
  /// Its images are stored under the number `declared`, or under its own number if that is `nil`.
  private mutating func begin(
    _ number: UInt64, _ declared: UInt64?, isFirst: Bool
  ) throws(FormatError) {
    guard let declared else {
      endImages()
      images = number
      return
    }
    if isFirst, declared <= purged {
      images = declared
      purgedImages = declared
    }
    guard declared == images else {
      let shared = isFirst ? "a purged write" : "write \(images)"
      endImages()
      images = number
      throw FormatError("'images' is \(declared), must be absent or name \(shared)", .historyImages)
    }
  }

  /// Ends a group of writes that store their images, the records before the change, under one
  /// number.
  private mutating func endImages() {
    guard let repeated = records.end() else { return }
    add(
      nil, .historyOnce,
      "\(repeated) is reported twice by write \(images), or by those that share its images")
  }

  private mutating func check(_ content: HistoryPart) throws(FormatError) {
    for links in content.links {
      guard links.relationship > 0, links.relationship < nextRelationship else {
        throw FormatError("relationship \(links.relationship) never was", .historyRelationship)
      }
      records.append(links)
    }
    for change in content.changes {
      records.append(change)
      changes.append(change, images)
      let entity = try entity(change.entity)
      if case .updated(let numbers) = change.kind,
        let unknown = numbers.first(where: { entity.attribute(number: $0) == nil })
      {
        throw FormatError(
          "attribute \(unknown) of \(entity.name) is not in the catalogue", .historyAttributes)
      }
      if let last = change.ids.ranges.last, let next = nextIDs[change.entity],
        last.upperBound > next
      {
        throw FormatError(
          "id \(last.upperBound - 1) of entity \(change.entity) was never given", .historyIDs)
      }
    }
  }

  private mutating func finish() throws(FormatError) {
    guard let known = current else { return }
    current = nil
    try require(
      known.seen == known.expected,
      "write \(known.number) has \(known.seen) parts, must have \(known.expected)", .historyParts)
  }

  mutating func end() {
    endImages()
    do throws(FormatError) {
      try finish()
    } catch {
      add(nil, error.rule, error.reason)
    }
    for lack in changes.lacks {
      add(nil, .historyAllKept, lack)
    }
  }

  private mutating func check(_ number: UInt64, _ id: UInt64) throws(FormatError) {
    try require(
      (number > purged || number == purgedImages) && number <= lastNumber && id > 0 && id < 1 << 63,
      "it is of a write that is not recorded, or of no record", .historyNumber)
  }

  private func entity(_ number: EntityNumber) throws(FormatError) -> EntityDescription {
    guard let entity = verifier.entities.first(where: { $0.number == number }) else {
      throw FormatError("entity \(number) is not in the catalogue", .historyEntity)
    }
    return entity
  }

  private func checkImage(
    _ body: ByteView, _ number: EntityNumber, _ id: UInt64
  ) throws(FormatError) {
    let entity = try entity(number)
    let layoutNumber = try RecordLayout.layoutNumber(of: body)
    guard let layout = entity.layouts.first(where: { $0.number == layoutNumber }) else {
      throw FormatError(
        "the record's layout \(layoutNumber) is not in the catalogue", .historyImage)
    }
    let view = try RecordView(body, layout: layout)
    do throws(FormatError) {
      try view.validate(id: id)
    } catch {
      throw FormatError("the record is damaged: \(error.reason)", .historyImage)
    }
  }

  private func checkTombstone(_ document: Document, _ number: EntityNumber) throws(FormatError) {
    let entity = try entity(number)
    guard case .object(let members) = document else {
      throw FormatError("what is kept of a record is no object", .historyPreserved)
    }
    for (name, value) in members {
      guard let number = UInt32(name), String(number) == name,
        let attribute = entity.attribute(number: number),
        value == .null
          || EntityDescription.value(of: value, for: attribute.type).fits(attribute.type)
      else {
        throw FormatError(
          "'\(name)' is no attribute, or has no value of its type", .historyPreserved)
      }
    }
  }
}
