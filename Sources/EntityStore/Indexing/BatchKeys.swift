internal import LodestoreFormat

/// The keys of many records in indexes of their entity.
///
/// Where each attribute is in the current layout has been found before; records of older layouts
/// take the way of single ones.
struct BatchKeys {
  let entity: StoredEntity
  let indexes: [StoredIndex]
  private let programs: [IndexProgram?]

  /// In all indexes.
  init(of entity: StoredEntity) { self.init(of: entity, in: entity.indexes) }

  init(of entity: StoredEntity, in indexes: [StoredIndex]) {
    self.entity = entity
    self.indexes = indexes
    programs = indexes.map { IndexProgram($0.description, layout: entity.layout) }
  }

  var count: Int { programs.count }

  /// Whether the keys of records in the current layout are made of nothing but their bytes.
  var areOfRecordsAlone: Bool { programs.allSatisfy { $0 != nil } }

  /// Leaves the key of `view` in the index at `place` in ``TransactionCore/key``.
  ///
  /// - Returns: Whether some value of the tuple is null.
  @inline(__always) @discardableResult
  func encode(
    _ place: Int, of view: RecordView, id: UInt64, _ core: TransactionCore
  ) throws(StoreError) -> Bool {
    guard view.layout === entity.layout, let program = programs[place] else {
      return try core.encodeKey(of: view, id: id, in: indexes[place], of: entity)
    }
    do {
      return try program.encode(view, id: id, into: &core.key)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  /// Adds the key of `view` in the index at `place`.
  @inline(__always)
  func append(
    _ view: RecordView, id: UInt64, at place: Int, to box: EntryArenaBox, _ core: TransactionCore
  ) throws(StoreError) {
    try encode(place, of: view, id: id, core)
    box.append(key: core.key.bytes, recordID: id)
  }

  /// The word of `view` for such entries; `nil` for null.
  @inline(__always)
  func word(
    of view: RecordView, id: UInt64, for numbers: NumberEntries, _ core: TransactionCore
  ) throws(StoreError) -> UInt64? {
    if view.layout === entity.layout, let base = view.bytes.baseAddress {
      return numbers.word(of: base)
    }
    return try core.carriedOver(view, id: id, of: entity).withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap { numbers.word(of: $0) }
    }
  }

  /// Adds the keys of `records` in the index at `place`; they are of the current layout.
  ///
  /// One index after the other, so that nothing is looked up for each record.
  func collect(
    _ place: Int, of records: borrowing RecordBuffer, into arena: EntryArenaBox,
    _ core: TransactionCore
  ) throws(StoreError) {
    let layout = entity.layout
    var id: UInt64 = 0
    guard let program = programs[place] else {
      for number in 0..<records.count {
        let view = try entity.view(incoming: UnsafeRawBufferPointer(records[number]))
        id = records.id(at: number)
        try core.encodeKey(of: view, id: id, in: indexes[place], of: entity)
        arena.append(key: core.key.bytes, recordID: id)
      }
      return
    }
    var key = KeyEncoder()
    do {
      for number in 0..<records.count {
        let view = try RecordView(UnsafeRawBufferPointer(records[number]), layout: layout)
        id = records.id(at: number)
        try program.encode(view, id: id, into: &key)
        arena.append(key: key.bytes, recordID: id)
      }
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  /// Whether two records surely have the same key in the index at `place`.
  @inline(__always)
  func areSurelySame(_ place: Int, _ a: RecordView, _ b: RecordView) -> Bool {
    guard a.layout === entity.layout, b.layout === entity.layout, let program = programs[place]
    else {
      return false
    }
    return program.hasSameValues(a, b)
  }
}
