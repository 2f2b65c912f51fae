internal import LodestoreBytes
internal import LodestoreFormat

/// A record as stored, valid until the end of the read.
struct StoredRow {
  let id: UInt64
  let bytes: ByteView

  /// A stamp by which changes of the record are detected: its checksum, the last four bytes of a
  /// record.
  var stamp: UInt32 {
    bytes.count < 4 ? 0 : bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
  }
}

/// Reads one attribute of records without decoding them.
struct ValueColumn {
  private let entity: StoredEntity
  private let attribute: EntityDescription.Attribute

  /// - Parameter ordinal: the index of the attribute in the program's declaration.
  init(_ entity: StoredEntity, _ ordinal: Int) throws(StoreError) {
    guard entity.declared.indices.contains(ordinal),
      let attribute = entity.description.attribute(number: entity.declared[ordinal].number)
    else { throw .badQuery("'\(entity.name)' has no attribute number \(ordinal)") }
    self.entity = entity
    self.attribute = attribute
  }

  func value(of row: StoredRow) throws -> Value {
    try entity.view(row.bytes, id: row.id).value(of: attribute)
  }

  /// The reference in the attribute; `nil` for null.
  func reference<T: Entity>(of row: StoredRow, _: T.Type) throws -> Reference<T>? {
    let value = try value(of: row)
    return value == .null ? nil : Reference(StoredValue(value))
  }
}

/// Reads the unique key of records, in the form of references, without decoding the records.
struct KeyColumn {
  private let key: ReferenceKey
  private let columns: [ValueColumn]

  init<E: Entity>(_: E.Type, _ core: TransactionCore) throws {
    key = ReferenceKey.of(E.self)
    try key.check()
    let entity = try core.entity(E.self)
    columns = try key.parts.map { try ValueColumn(entity, $0.ordinal) }
  }

  /// The stored form of a reference to the record; `nil` when the key contains null.
  func value(of row: StoredRow) throws -> Value? {
    var values: [Value] = []
    for column in columns { values.append(try column.value(of: row)) }
    return values.contains(.null) ? nil : try key.stored(values)
  }
}

extension TransactionCore {
  /// Calls `body` with the records that match `query`, in its order, until it returns false.
  func visit<E: Entity>(_ query: Query<E>, _ body: (StoredRow) throws -> Bool) throws(StoreError) {
    try run(query).forEach { id, bytes in try body(StoredRow(id: id, bytes: bytes)) }
  }

  func decode<E: Entity>(_: E.Type, _ row: StoredRow, of entity: StoredEntity) throws -> E {
    try withReader(row.bytes, id: row.id, of: entity) { try E.read(from: &$0) }
  }
}
