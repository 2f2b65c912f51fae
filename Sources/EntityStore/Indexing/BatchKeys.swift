internal import LodestoreBytes
internal import LodestoreFormat

/// Encodes the index keys of many records of one entity.
///
/// The slots of the attributes in the current layout are looked up once for all records. Keys of
/// records in older layouts are encoded one by one.
struct BatchKeys {
  let entity: StoredEntity
  let indexes: [StoredIndex]
  private let programs: [IndexProgram?]

  /// Creates the encoder for all indexes of an entity.
  init(of entity: StoredEntity) { self.init(of: entity, in: entity.indexes) }

  init(of entity: StoredEntity, in indexes: [StoredIndex]) {
    self.entity = entity
    self.indexes = indexes
    programs = indexes.map { IndexProgram($0.description, layout: entity.layout) }
  }

  var count: Int { programs.count }

  /// Whether the keys of records in the current layout depend only on the bytes of the record.
  var areOfRecordsAlone: Bool { programs.allSatisfy { $0 != nil } }

  /// Encodes the key of `view` in the index at `position` of ``indexes`` into
  /// ``TransactionCore/key``.
  ///
  /// - Returns: whether a value of the tuple is null.
  @inline(__always) @discardableResult
  func encode(
    _ position: Int, of view: RecordView, id: UInt64, _ core: TransactionCore
  ) throws(StoreError) -> Bool {
    guard view.layout === entity.layout, let program = programs[position] else {
      return try core.encodeKey(of: view, id: id, in: indexes[position], of: entity)
    }
    do {
      return try program.encode(view, id: id, into: &core.key)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  /// Appends the key of `view` in the index at `position` of ``indexes`` to `entries`.
  @inline(__always)
  func append(
    _ view: RecordView, id: UInt64, at position: Int, to entries: KeyEntries,
    _ core: TransactionCore
  ) throws(StoreError) {
    try encode(position, of: view, id: id, core)
    entries.append(key: core.key.bytes, recordID: id)
  }

  /// Returns the sort word of `view` for `numbers`, or `nil` for null; see ``WordSlot``.
  @inline(__always)
  func word(
    of view: RecordView, id: UInt64, for numbers: NumberEntries, _ core: TransactionCore
  ) throws(StoreError) -> UInt64? {
    if view.layout === entity.layout { return numbers.word(of: view.bytes) }
    return try core.carriedOver(view, id: id, of: entity)._withBytes { numbers.word(of: $0) }
  }

  /// Appends the keys of `records` in the index at `position` of ``indexes``.
  ///
  /// The records must have the current layout. One call handles many records, so that the facts
  /// of an index are looked up once for all of them.
  func collect(
    _ position: Int, of records: borrowing RecordBuffer, into entries: KeyEntries,
    _ core: TransactionCore
  ) throws(StoreError) {
    let layout = entity.layout
    var id: UInt64 = 0
    guard let program = programs[position] else {
      for number in 0..<records.count {
        let view = try entity.view(records[number])
        id = records.id(at: number)
        try core.encodeKey(of: view, id: id, in: indexes[position], of: entity)
        entries.append(key: core.key.bytes, recordID: id)
      }
      return
    }
    var key = KeyEncoder()
    do {
      for number in 0..<records.count {
        let view = try RecordView(records[number].raw, layout: layout)
        id = records.id(at: number)
        try program.encode(view, id: id, into: &key)
        entries.append(key: key.bytes, recordID: id)
      }
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  /// Returns true if two records certainly have the same key in the index at `position`, without
  /// encoding it.
  @inline(__always)
  func areSurelySame(_ position: Int, _ a: RecordView, _ b: RecordView) -> Bool {
    guard a.layout === entity.layout, b.layout === entity.layout, let program = programs[position]
    else { return false }
    return program.hasSameValues(a, b)
  }
}
