import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Counts the entry that a record must have in an index.
  static func expectEntry(
    of id: UInt64, _ view: RecordView, _ number: Int, _ verification: inout EntityVerification
  ) {
    // A value without a key has been reported with the record's content.
    guard encodeKey(of: id, view, verification.indexes[number].description, &verification) else {
      return
    }
    verification.sums[number].expect(verification.encoder.bytes, of: id)
  }

  /// Compares the entries of an index with those that the records make, and names what is wrong.
  mutating func verifyIndex(_ number: Int, _ verification: inout EntityVerification) throws {
    let index = verification.indexes[number]
    try verifyEntries(of: index, number, &verification)
    guard !verification.sums[number].areEqual else { return }
    try verifyEntries(ofRecordsIn: verification.recordTree, index, &verification)
    let cursor = try Cursor(index.tree, in: transaction)
    var found = try cursor.first()
    while found {
      try compareEntry(
        cursor.key, cursor.value, of: index.description, index.name, index.tree, &verification)
      try noteVisit()
      found = try cursor.next()
    }
  }

  private mutating func verifyEntries(
    ofRecordsIn records: Tree?, _ index: VerifiedIndex, _ verification: inout EntityVerification
  ) throws {
    guard let records else { return }
    let cursor = try Cursor(records, in: transaction)
    var found = try cursor.first()
    while found {
      let (key, body) = (cursor.key, cursor.value)
      if key.count == 8, key._uint64(at: 0) < index.end, let view = verification.view(of: body) {
        try verifyEntry(
          of: key._uint64(at: 0), view, index.description, index.name, index.tree, &verification)
      }
      try noteVisit()
      found = try cursor.next()
    }
  }

  /// Looks up the entry that a record must have in an index.
  mutating func verifyEntry(
    of id: UInt64, _ view: RecordView, _ index: EntityDescription.Index, _ subject: String,
    _ tree: Tree, _ verification: inout EntityVerification
  ) throws {
    // A value without a key has been reported with the record's content.
    guard Self.encodeKey(of: id, view, index, &verification) else { return }
    let key = verification.encoder.bytes
    func finding(_ code: Finding.Code, _ detail: String) -> Finding {
      Finding(code, tree: tree.name, subject: subject, record: id, key: key, detail)
    }
    guard let body = try transaction.get(key, in: tree) else {
      findings.add(finding(.entryMissing, "the record has no entry"))
      return
    }
    // The body's length is looked at with the entry.
    if index.isUnique, body.count == 8, body._uint64(at: 0) != id {
      let holder = body._uint64(at: 0)
      let isTwin = try holds(holder, theKeyIn: index, &verification)
      // The key's bytes were in the encoder, which has been used since.
      _ = Self.encodeKey(of: id, view, index, &verification)
      let twin = Finding(
        .uniqueness, tree: tree.name, subject: subject, record: id,
        key: verification.encoder.bytes,
        "record \(holder) has the same values, in a unique index")
      let missing = Finding(
        .entryMissing, tree: tree.name, subject: subject, record: id,
        key: verification.encoder.bytes, "the entry under its key is for record \(holder)")
      findings.add(isTwin ? twin : missing)
    }
  }

  /// Whether record `id` has the key that the encoder holds now.
  private func holds(
    _ id: UInt64, theKeyIn index: EntityDescription.Index,
    _ verification: inout EntityVerification
  ) throws -> Bool {
    let key = Array(verification.encoder.bytes)
    guard let recordTree = verification.recordTree,
      let body = try transaction.get(id, in: recordTree),
      let view = verification.view(of: body),
      Self.encodeKey(of: id, view, index, &verification)
    else { return false }
    return verification.encoder.bytes.elementsEqual(key)
  }

  /// Puts the record's key in `index` into the encoder; false when some value has none.
  private static func encodeKey(
    of id: UInt64, _ view: RecordView, _ index: EntityDescription.Index,
    _ verification: inout EntityVerification
  ) -> Bool {
    do throws(FormatError) {
      let hasNull = try IndexTuple.encode(
        index, of: view, in: verification.entity, into: &verification.encoder)
      if IndexTuple.keyHasRecordID(isUnique: index.isUnique, hasNull: hasNull) {
        verification.encoder.append(recordID: id)
      }
      return true
    } catch {
      return false
    }
  }

  /// Checks the form of every entry of an index, and counts it.
  private mutating func verifyEntries(
    of index: VerifiedIndex, _ number: Int, _ verification: inout EntityVerification
  ) throws {
    let cursor = try Cursor(index.tree, in: transaction)
    var previous = UnsafeRawBufferPointer(start: nil, count: 0)
    var found = try cursor.first()
    while found {
      let (key, body) = (cursor.key, cursor.value)
      func finding(
        _ code: Finding.Code, record: UInt64? = nil, _ detail: String, _ rule: FormatRule? = nil
      ) -> Finding {
        Finding(
          code, rule, tree: index.tree.name, subject: index.name, record: record, key: key, detail)
      }
      if !previous.isEmpty, !EngineKeyOrder.precedes(previous, key, false) {
        findings.add(finding(.entryKey, "is out of order", .lmdbKeyOrder))
      }
      previous = key
      let isUnique = index.description.isUnique
      let expectedSize = isUnique ? 8 : 0
      if body.count != expectedSize {
        findings.add(
          finding(.entryBody, "the body has \(body.count) bytes, must have \(expectedSize)"))
      }
      if let id = KeyDecoder.recordID(ofEntry: key, body, isUnique: isUnique) {
        verification.sums[number].find(key, of: id)
        if let problem = Self.problem(ofTuple: key, index.description) {
          findings.add(finding(.entryKey, record: id, "\(problem)", problem.rule))
        }
      } else if !isUnique {
        // A unique entry with a wrong body has been reported just now.
        findings.add(finding(.entryKey, "is too short for a record id"))
      }
      try noteVisit()
      found = try cursor.next()
    }
  }

  /// Looks up the record that an entry leads to.
  private mutating func compareEntry(
    _ key: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
    of index: EntityDescription.Index, _ subject: String, _ tree: Tree,
    _ verification: inout EntityVerification
  ) throws {
    guard let id = KeyDecoder.recordID(ofEntry: key, body, isUnique: index.isUnique) else { return }
    func finding(_ code: Finding.Code, _ detail: String) -> Finding {
      Finding(code, tree: tree.name, subject: subject, record: id, key: key, detail)
    }
    guard let recordTree = verification.recordTree,
      let record = try transaction.get(id, in: recordTree)
    else {
      findings.add(finding(.entryWithoutRecord, "the record is not there"))
      return
    }
    // Records that cannot be read have been reported; what their entries are is not known.
    guard let view = verification.view(of: record),
      Self.encodeKey(of: id, view, index, &verification)
    else { return }
    if !verification.encoder.bytes.elementsEqual(key) {
      findings.add(
        finding(
          .entryStale, "the record's key is " + Finding.hexadecimal(verification.encoder.bytes)))
    }
  }

  /// Decodes a key, whose bytes are compared with those that an encoder makes: an encoder and a decoder
  /// that are wrong in the same way are less likely than one that is.
  private static func problem(
    ofTuple key: UnsafeRawBufferPointer, _ index: EntityDescription.Index
  ) -> FormatError? {
    let isCut = key.count >= KeyEncoder.cutLength
    if isCut { return nil }
    var decoder = KeyDecoder(key)
    do throws(FormatError) {
      var hasNull = false
      for _ in index.attributes where try decoder.next() == .null { hasNull = true }
      let isSuffixed = IndexTuple.keyHasRecordID(isUnique: index.isUnique, hasNull: hasNull)
      let rest = key.count - decoder.offset
      return rest == (isSuffixed ? 8 : 0)
        ? nil : FormatError("has \(rest) bytes behind its tuple", .indexKey)
    } catch {
      return error
    }
  }
}
