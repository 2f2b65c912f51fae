import LMDB
import LodestoreFormat
internal import LodestorePages

extension Verifier {
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

  /// Checks every entry of an index against its record.
  mutating func verifyEntries(
    of index: EntityDescription.Index, _ subject: String, _ tree: Tree,
    _ verification: inout EntityVerification
  ) throws {
    let cursor = try Cursor(tree, in: transaction)
    var previous = UnsafeRawBufferPointer(start: nil, count: 0)
    var found = try cursor.first()
    while found {
      let (key, body) = (cursor.key, cursor.value)
      if !previous.isEmpty, !EngineKeyOrder.precedes(previous, key, false) {
        findings.add(
          Finding(.entryKey, tree: tree.name, subject: subject, key: key, "is out of order"))
      }
      previous = key
      try verifyEntry(key, body, of: index, subject, tree, &verification)
      found = try cursor.next()
    }
  }

  private mutating func verifyEntry(
    _ key: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
    of index: EntityDescription.Index, _ subject: String, _ tree: Tree,
    _ verification: inout EntityVerification
  ) throws {
    func finding(_ code: Finding.Code, record: UInt64? = nil, _ detail: String) -> Finding {
      Finding(code, tree: tree.name, subject: subject, record: record, key: key, detail)
    }
    let expectedSize = index.isUnique ? 8 : 0
    if body.count != expectedSize {
      findings.add(
        finding(.entryBody, "the body has \(body.count) bytes, must have \(expectedSize)"))
    }
    let id =
      index.isUnique
      ? (body.count == 8 ? body._uint64(at: 0) : nil) : KeyDecoder.recordIDSuffix(key)
    guard let id else {
      // A unique entry with a wrong body has been reported just now.
      if !index.isUnique { findings.add(finding(.entryKey, "is too short for a record id")) }
      return
    }
    guard let recordTree = verification.recordTree,
      let record = try transaction.get(id, in: recordTree)
    else {
      findings.add(finding(.entryWithoutRecord, record: id, "the record is not there"))
      return
    }
    // Records that cannot be read have been reported; what their entries are is not known.
    guard let view = verification.view(of: record),
      Self.encodeKey(of: id, view, index, &verification)
    else { return }
    guard verification.encoder.bytes.elementsEqual(key) else {
      findings.add(
        finding(
          .entryStale, record: id,
          "the record's key is " + Finding.hexadecimal(verification.encoder.bytes)))
      return
    }
    if let problem = Self.problem(ofTuple: key, view, index) {
      findings.add(finding(.entryKey, record: id, problem))
    }
  }

  /// Decodes a key whose bytes agree with its record: an encoder and a decoder that are wrong in
  /// the same way are less likely than one that is.
  private static func problem(
    ofTuple key: UnsafeRawBufferPointer, _ view: RecordView, _ index: EntityDescription.Index
  ) -> String? {
    let isCut = key.count >= KeyEncoder.cutLength
    if isCut { return nil }
    var decoder = KeyDecoder(key)
    do throws(FormatError) {
      var hasNull = false
      for _ in index.attributes where try decoder.next() == .null { hasNull = true }
      let isSuffixed = IndexTuple.keyHasRecordID(isUnique: index.isUnique, hasNull: hasNull)
      let rest = key.count - decoder.offset
      return rest == (isSuffixed ? 8 : 0) ? nil : "has \(rest) bytes behind its tuple"
    } catch {
      return "\(error)"
    }
  }
}
