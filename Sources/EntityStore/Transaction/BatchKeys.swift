internal import LodestoreFormat

/// The keys of many records in the indexes of their entity.
///
/// Where each attribute is in the current layout has been found before; records of older layouts
/// take the way of single ones.
struct BatchKeys {
  private let entity: StoredEntity
  private let programs: [IndexProgram?]

  init(of entity: StoredEntity) {
    self.entity = entity
    programs = entity.indexes.map { IndexProgram($0.description, layout: entity.layout) }
  }

  var count: Int { programs.count }

  /// Leaves the key of `view` in the index at `place` in ``TransactionCore/key``.
  ///
  /// - Returns: Whether some value of the tuple is null.
  @inline(__always) @discardableResult
  func encode(
    _ place: Int, of view: RecordView, id: UInt64, _ core: TransactionCore
  ) throws(StoreError) -> Bool {
    guard view.layout === entity.layout, let program = programs[place] else {
      return try core.encodeKey(of: view, id: id, in: entity.indexes[place], of: entity)
    }
    do {
      return try program.encode(view, id: id, into: &core.key)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  /// Adds the keys of `records` in the index at `place`; they are of the current layout.
  ///
  /// One index after the other, so that nothing is looked up for each record.
  func collect(
    _ place: Int, of records: borrowing RecordRow, into arena: EntryArenaBox,
    _ core: TransactionCore
  ) throws(StoreError) {
    let layout = entity.layout
    var id: UInt64 = 0
    guard let program = programs[place] else {
      for number in 0..<records.count {
        let view = try entity.view(incoming: UnsafeRawBufferPointer(records[number]))
        id = records.id(at: number)
        try core.encodeKey(of: view, id: id, in: entity.indexes[place], of: entity)
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

  /// Whether two records of the current layout surely have the same key in the index at `place`.
  @inline(__always)
  func areSurelySame(_ place: Int, _ a: RecordView, _ b: RecordView) -> Bool {
    guard let program = programs[place] else { return false }
    return program.hasSameValues(a, b)
  }
}

/// Records in one block of memory, with their ids and room for their checksums.
struct RecordRow: ~Copyable {
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private var ends: [Int] = []
  private var ids: [UInt64] = []
  private(set) var byteCount = 0

  init(byteCount: Int) {
    capacity = byteCount
    base = .allocate(byteCount: byteCount, alignment: 16)
  }

  deinit { base.deallocate() }

  var count: Int { ends.count }

  /// Whether a record with such a content does not fit any more.
  func isFull(for contentCount: Int) -> Bool {
    byteCount + contentCount + RecordLayout.checksumSize > capacity
  }

  /// Copies `content`, making room where there is none.
  mutating func append(_ content: UnsafeRawBufferPointer, id: UInt64) {
    let end = byteCount + content.count + RecordLayout.checksumSize
    if end > capacity {
      let moved = UnsafeMutableRawPointer.allocate(byteCount: end, alignment: 16)
      moved.copyMemory(from: base, byteCount: byteCount)
      base.deallocate()
      base = moved
      capacity = end
    }
    if let source = content.baseAddress {
      (base + byteCount).copyMemory(from: source, byteCount: content.count)
    }
    byteCount = end
    ends.append(end)
    ids.append(id)
  }

  @inline(__always)
  func id(at place: Int) -> UInt64 { ids[place] }

  /// The record at `place`; valid until the next change.
  subscript(place: Int) -> UnsafeMutableRawBufferPointer {
    let start = place == 0 ? 0 : ends[place - 1]
    return UnsafeMutableRawBufferPointer(start: base + start, count: ends[place] - start)
  }

  mutating func removeAll() {
    byteCount = 0
    ends.removeAll(keepingCapacity: true)
    ids.removeAll(keepingCapacity: true)
  }
}
