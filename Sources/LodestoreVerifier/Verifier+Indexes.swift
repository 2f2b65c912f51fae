import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Counts the entry that a record requires in an index.
  static func expectEntry(
    of id: UInt64, _ view: RecordView, _ number: Int, _ verification: inout EntityVerification
  ) {
    // A value that has no key was already reported with the record's content.
    guard encodeKey(of: id, view, verification.indexes[number].description, &verification) else {
      return
    }
    verification.sums[number].expect(verification.encoder.bytes, of: id)
  }

  /// Compares the entries of an index with the entries that the records require, and reports each
  /// difference.
  func verifyIndex(_ number: Int, _ verification: inout EntityVerification) throws {
    let index = verification.indexes[number]
    try verifyEntries(of: index, number, &verification)
    guard !verification.sums[number].areEqual else { return }
    try verifyEntries(ofRecordsIn: verification.recordTree, index, &verification)
    try walk(index.tree) { key, body in try compareEntry(key, body, of: index, &verification) }
  }

  private func verifyEntries(
    ofRecordsIn records: Tree?, _ index: VerifiedIndex, _ verification: inout EntityVerification
  ) throws {
    guard let records else { return }
    try walk(records) { key, body in
      guard key.count == 8, key.uint64(at: 0) < index.end,
        let view = verification.layouts.view(of: body)
      else { return }
      try verifyEntry(of: key.uint64(at: 0), view, index, &verification)
    }
  }

  /// Looks up the entry that a record requires in an index.
  private func verifyEntry(
    of id: UInt64, _ view: RecordView, _ index: VerifiedIndex,
    _ verification: inout EntityVerification
  ) throws {
    // A value that has no key was already reported with the record's content.
    guard Self.encodeKey(of: id, view, index.description, &verification) else { return }
    // The key is copied, because the encoder is reused for another record below.
    let key = Array(verification.encoder.bytes)
    func add(_ code: Finding.Code, _ detail: @autoclosure () -> String) {
      self.add(code, tree: index.tree.name, subject: index.name, record: id, key: key, detail())
    }
    guard let body = try transaction.get(key, in: index.tree) else {
      return add(.entryMissing, "the record has no entry")
    }
    // The pass over the entries reports a body of another length.
    guard index.description.isUnique, body.count == 8, body.uint64(at: 0) != id else { return }
    let holder = body.uint64(at: 0)
    if try holds(holder, key, in: index.description, &verification) {
      add(.uniqueness, "record \(holder) has the same values, in a unique index")
    } else {
      add(.entryMissing, "the entry under its key is for record \(holder)")
    }
  }

  /// Whether record `id` has a key in an index.
  private func holds(
    _ id: UInt64, _ key: [UInt8], in index: EntityDescription.Index,
    _ verification: inout EntityVerification
  ) throws -> Bool {
    guard let recordTree = verification.recordTree,
      let body = try transaction.get(id, in: recordTree),
      let view = verification.layouts.view(of: body),
      Self.encodeKey(of: id, view, index, &verification)
    else { return false }
    return verification.encoder.bytes.elementsEqual(key)
  }

  /// Encodes the record's key in `index`; returns false if some value has no key.
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
  private func verifyEntries(
    of index: VerifiedIndex, _ number: Int, _ verification: inout EntityVerification
  ) throws {
    let isUnique = index.description.isUnique
    let expectedSize = isUnique ? 8 : 0
    var previous = ByteView()
    try walk(index.tree) { key, body in
      func add(
        _ code: Finding.Code, record: UInt64? = nil, _ detail: @autoclosure () -> String,
        _ rule: FormatRule? = nil
      ) {
        self.add(
          code, rule, tree: index.tree.name, subject: index.name, record: record, key: key, detail()
        )
      }
      if !previous.isEmpty, !EngineKeyOrder.precedes(previous, key, false) {
        add(.entryKey, "is out of order", .lmdbKeyOrder)
      }
      previous = key
      if body.count != expectedSize {
        add(.entryBody, "the body has \(body.count) bytes, must have \(expectedSize)")
      }
      if let id = KeyDecoder.recordID(ofEntry: key, body, isUnique: isUnique) {
        verification.sums[number].find(key, of: id)
        if let problem = Self.problem(ofTuple: key, index.description) {
          add(.entryKey, record: id, "\(problem)", problem.rule)
        }
      } else if !isUnique {
        // A unique entry with a wrong body was already reported.
        add(.entryKey, "is too short for a record id")
      }
    }
  }

  /// Looks up the record that an entry refers to.
  private func compareEntry(
    _ key: ByteView, _ body: ByteView, of index: VerifiedIndex,
    _ verification: inout EntityVerification
  ) throws {
    guard
      let id = KeyDecoder.recordID(ofEntry: key, body, isUnique: index.description.isUnique)
    else { return }
    func add(_ code: Finding.Code, _ detail: @autoclosure () -> String) {
      self.add(code, tree: index.tree.name, subject: index.name, record: id, key: key, detail())
    }
    guard let recordTree = verification.recordTree,
      let record = try transaction.get(id, in: recordTree)
    else { return add(.entryWithoutRecord, "the record is not there") }
    // Unreadable records were already reported. Their entries are unknown.
    guard let view = verification.layouts.view(of: record),
      Self.encodeKey(of: id, view, index.description, &verification)
    else { return }
    if !verification.encoder.bytes.elementsEqual(key) {
      add(.entryStale, "the record's key is " + Finding.hexadecimal(verification.encoder.bytes))
    }
  }

  /// Decodes a key, encodes the values again, and compares the bytes.
  ///
  /// A fault of the encoder stays unnoticed only if the decoder has the same fault.
  private static func problem(
    ofTuple key: ByteView, _ index: EntityDescription.Index
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
