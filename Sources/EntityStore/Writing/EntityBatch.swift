internal import LMDB
internal import LodestoreFormat

/// A batch insert of values of one type, as far as the program's own code runs it.
///
/// The loop over the values is compiled with the program, which knows their type: a copy of each
/// value would cost as much as writing it, since each text in it is counted somewhere else in
/// memory.
@usableFromInline
final class EntityBatch {
  /// How many values ahead their texts are asked for.
  @usableFromInline static var lookahead: Int { 4 }
  /// For so many values it is found out at a time whether their texts have to be asked for.
  @usableFromInline static var sampleCount: Int { 32 }

  /// In memory of its own, as each write of an attribute would otherwise check for exclusive access to
  /// this object.
  @usableFromInline let writer: UnsafeMutablePointer<RecordWriter>
  @usableFromInline let shape: RecordShape
  /// The most that a record may have without its checksum.
  @usableFromInline let sizeLimit: Int
  /// Ends of the records that the writer keeps; in memory of its own, as the writer is.
  @usableFromInline let row: UnsafeMutablePointer<RecordBuffer>
  private let entity: StoredEntity
  // Of one thread; a check of each access would show in the time of a batch.
  @exclusivity(unchecked) private var insert: BatchInsert

  init(into entity: StoredEntity, _ insert: BatchInsert, core: TransactionCore) {
    self.entity = entity
    self.insert = insert
    writer = .allocate(capacity: 1)
    writer.initialize(
      to: RecordWriter(sizeLimit: core.writer.sizeLimit, byteCount: RecordBuffer.memorySize))
    shape = RecordShape(entity.typeLayout)
    sizeLimit = core.writer.largestContent
    row = .allocate(capacity: 1)
    row.initialize(to: RecordBuffer(byteCount: RecordBuffer.memorySize))
  }

  deinit {
    writer.deinitialize(count: 1)
    writer.deallocate()
    row.deinitialize(count: 1)
    row.deallocate()
  }

  /// Adds one value.
  @inlinable @inline(__always)
  func add<E: Entity>(_ value: borrowing E) throws(StoreError) {
    if value.id.isAssigned { throw isStored(value.id.rawValue) }
    writer.pointee.begin(shape, isWide: false)
    value.encode(into: &writer.pointee)
    if let content = writer.pointee.finished(shape), content.count <= sizeLimit {
      return try keep()
    }
    if try !end() {
      writer.pointee.begin(shape, isWide: true)
      value.encode(into: &writer.pointee)
      _ = try end()
    }
  }

  /// Keeps the finished record, and passes all on that are kept when they are many.
  @inlinable @inline(__always)
  func keep() throws(StoreError) {
    let end = writer.pointee.keep()
    row.pointee.ends.append(end)
    if end >= RecordBuffer.usualByteCount { try passOn() }
  }

  @usableFromInline @inline(never)
  func passOn() throws(StoreError) {
    writer.pointee.moveRecords(to: &row.pointee)
    try insert.add(&row.pointee)
  }

  /// Adds the values of an array.
  @inlinable
  func add<E: Entity>(contentsOf values: UnsafeBufferPointer<E>) throws(StoreError) {
    guard let start = values.baseAddress else { return }
    let ahead = Self.lookahead
    var isScattered = true
    for place in 0..<values.count {
      if place % Self.sampleCount == 0, place &+ 3 <= values.count {
        isScattered = hasScatteredTexts(
          start + place, byteCount: MemoryLayout<E>.size, stride: MemoryLayout<E>.stride)
      }
      if isScattered, place &+ ahead < values.count {
        fetchTexts(of: start + (place &+ ahead), byteCount: MemoryLayout<E>.size)
      }
      try borrow(start + place) { (value: borrowing E) throws(StoreError) in try add(value) }
    }
  }

  /// Calls `body` with the value where it is.
  ///
  /// Of a type that may not be copied, as the compiler would copy another one.
  @inlinable @inline(__always)
  func borrow<V: ~Copyable>(
    _ place: UnsafePointer<V>, _ body: (borrowing V) throws(StoreError) -> Void
  ) throws(StoreError) {
    try body(place.pointee)
  }

  @usableFromInline
  func fetchTexts(of value: UnsafeRawPointer, byteCount: Int) {
    HeldTexts.prefetch(of: value, byteCount: byteCount)
  }

  /// Whether the texts of three values in a row from `value` on lie elsewhere, and not in their order.
  @usableFromInline
  func hasScatteredTexts(_ value: UnsafeRawPointer, byteCount: Int, stride: Int) -> Bool {
    !HeldTexts.areInOrder(from: value, byteCount: byteCount, stride: stride)
  }

  @usableFromInline
  func isStored(_ id: UInt64) -> StoreError { .alreadyStored(entity: entity.name, id: id) }

  /// Keeps what has been written, where more has to be found out than ``RecordWriter/finished(_:)``
  /// knows; false when it must be written again with wide offsets.
  @usableFromInline
  func end() throws(StoreError) -> Bool {
    guard try writer.pointee.finish(entity) != nil else { return false }
    try keep()
    return true
  }

  /// Takes back what can be: called when the values end with an error.
  @usableFromInline
  func takeBack() throws(StoreError) { try insert.takeBack() }

  @usableFromInline
  func finish<E: Entity>(_: E.Type) throws(StoreError) -> InsertResult<E> {
    do throws(StoreError) {
      try passOn()
    } catch {
      try insert.takeBack()
      throw error
    }
    return InsertResult(try insert.finish())
  }
}
