internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension FormatUpgrade.Step {
  /// The conversion of ids, which version 1 stored as documents.
  ///
  /// Version 1 had no type for the id of a record: an attribute declared as an id holds a document
  /// with a number. The attribute is replaced by one of type `id` with the same name, and the
  /// records are rewritten. No index has such an attribute, so no index changes. The number 0 means
  /// that no id had been assigned; the id becomes null and the attribute optional. An attribute
  /// with another document in any record stays unchanged: then its type is another one with the
  /// same name.
  static let recordIDs = FormatUpgrade.Step(version: .recordIDs) { entity in
    entity.attributes.contains(where: \.isNumberedDocument)
  } apply: { entity, transaction in
    try RecordIDUpgrade(entity, transaction)?.run()
  }
}

extension EntityDescription.Attribute {
  /// Whether the attribute was declared as `RecordID<…>` or an optional one.
  fileprivate var isNumberedDocument: Bool {
    type == .document && !isRemoved && shape?.hasPrefix("RecordID<") == true
  }
}

private struct RecordIDUpgrade {
  /// The number of records that are read before they are written; a cursor is not used across
  /// writes.
  private static let chunk = 1_000

  private let before: EntityDescription
  private let after: EntityDescription
  /// The number of the old attribute, by the number of the new one.
  private let sources: [UInt32: UInt32]
  private let records: Tree
  private let transaction: WritingTransaction

  /// Returns `nil` when no attribute can be converted.
  init?(_ entity: EntityDescription, _ transaction: WritingTransaction) throws {
    let name = TreeName.records(entity: entity.number)
    guard let records = try transaction.environment.tree(name, in: transaction.reads) else {
      throw FormatError("the records of entity '\(entity.name)' are missing")
    }
    self.transaction = transaction
    self.records = records
    before = entity
    var candidates = Dictionary(
      uniqueKeysWithValues: entity.attributes.filter(\.isNumberedDocument).map {
        ($0.number, $0.isOptional)
      })
    for number in candidates.keys
    where Self.id(in: entity.attribute(number: number)?.initial ?? .null) == nil {
      candidates[number] = nil
    }
    let cursor = try Cursor(records, in: transaction)
    var found = try cursor.first()
    while found, !candidates.isEmpty {
      let view = try entity.view(cursor.value)
      for (number, _) in candidates {
        switch Self.id(in: try entity.value(of: number, in: view)) {
        case .none: candidates[number] = nil
        case .some(.null): candidates[number] = true
        case .some: break
        }
      }
      found = try cursor.next()
    }
    if candidates.isEmpty { return nil }
    (after, sources) = entity.replacing(candidates) { Self.id(in: $0) ?? .null }
    // The new description is invalid if attributes have no free numbers, or if other parts of the
    // schema depend on a document. In that case no attribute is converted.
    guard (try? after.checkReadable()) != nil else { return nil }
  }

  // `EntityChanges` is not used: values stay equal, so no sink needs the change, and no index
  // contains a document.
  func run() throws -> EntityDescription {
    let layout = after.layout
    var next: UInt64? = 0
    while let start = next {
      var rewritten: [(id: UInt64, body: [UInt8])] = []
      next = nil
      let cursor = try Cursor(records, in: transaction)
      var found = try cursor.seek(atOrAfter: start)
      while found {
        let id = cursor.integerKey
        guard rewritten.count < Self.chunk else {
          next = id
          break
        }
        let view = try before.soundView(cursor.value, id: id)
        var values: [Value] = []
        for attribute in layout.attributes {
          let source = sources[attribute.number]
          let value = try before.value(of: source ?? attribute.number, in: view)
          values.append(source == nil ? value : Self.id(in: value) ?? .null)
        }
        rewritten.append((id, try layout.record(id: id, values: values)))
        found = try cursor.next()
      }
      for (id, body) in rewritten {
        try body._withBytes { try transaction.put(id, $0, in: records) }
      }
    }
    return after
  }

  /// The id in a document; null for null and for an unassigned id; `nil` for any other document.
  private static func id(in value: Value) -> Value? {
    guard case .document(let bytes) = value else { return value == .null ? .null : nil }
    let document = bytes._withBytes { raw in try? Document(decoding: raw) }
    guard case .integer(let number)? = document, number >= 0 else { return nil }
    return number == 0 ? .null : .integer(number)
  }
}

extension EntityDescription {
  /// A view of the record in its own layout.
  fileprivate func view(_ bytes: ByteView) throws(FormatError) -> RecordView {
    let number = try RecordLayout.layoutNumber(of: bytes)
    guard let layout = layouts.first(where: { $0.number == number }) else {
      throw FormatError("layout \(number) of a record is not in the catalogue")
    }
    return try RecordView(bytes, layout: layout)
  }

  /// A view of a record with a verified checksum; a new checksum must not hide damage.
  fileprivate func soundView(_ bytes: ByteView, id: UInt64) throws -> RecordView {
    let view = try view(bytes)
    guard Checksum.fits(bytes, id: id) else {
      throw StoreError.damagedRecord(
        entity: name, recordID: id, FormatError("its checksum does not fit its bytes"))
    }
    return view
  }

  fileprivate func value(of number: UInt32, in view: RecordView) throws(FormatError) -> Value {
    try view.value(ofAttribute: number, initial: attribute(number: number)?.initial ?? .null)
  }

  /// Returns the description with the documents `attributes` replaced by ids, in a new layout.
  ///
  /// The second result contains the number of the old attribute, by the number of the new one.
  ///
  /// - Parameters:
  ///   - attributes: the numbers of the documents; the value is whether the new attribute is
  ///     optional.
  ///   - initial: converts the initial value.
  fileprivate func replacing(
    _ attributes: [UInt32: Bool], initial: (Value) -> Value
  ) -> (EntityDescription, [UInt32: UInt32]) {
    var result = self
    var replacements: [UInt32: UInt32] = [:]
    for index in self.attributes.indices {
      let old = self.attributes[index]
      guard let isOptional = attributes[old.number] else { continue }
      let number = (result.attributes.map(\.number).max() ?? 0) + 1
      result.attributes[index].isRemoved = true
      result.attributes.append(
        Attribute(
          number: number, name: old.name, type: .recordID, isOptional: isOptional,
          initial: initial(old.initial)))
      replacements[old.number] = number
    }
    result.setCurrentLayout(layout.attributes.map { replacements[$0.number] ?? $0.number })
    return (result, Dictionary(uniqueKeysWithValues: replacements.map { ($1, $0) }))
  }
}
