public import LodestoreBytes
internal import LMDB
internal import LodestoreFormat

/// The part of a batch insert that is inlined into the program.
///
/// The loop over the values runs where their type is known, so that no value is copied. A copy
/// would cost as much as encoding the value, because it retains each text.
@usableFromInline
final class EntityBatch {
  /// The number of values ahead of the encoded one whose texts are prefetched.
  @usableFromInline static var lookahead: Int { 4 }
  /// The number of values after which the need for prefetching is checked again.
  @usableFromInline static var sampleCount: Int { 32 }

  /// The writer of the records.
  ///
  /// The writer is allocated separately, because each write of an attribute would otherwise check
  /// exclusive access to this object.
  @usableFromInline let writer: UnsafeMutablePointer<RecordWriter>
  @usableFromInline let shape: RecordShape
  /// The maximum size of a record in bytes, without its checksum.
  @usableFromInline let sizeLimit: Int
  /// The ends of the finished records that the writer still holds.
  ///
  /// ``passOn()`` moves the records here, too. Allocated separately, like the writer.
  @usableFromInline let rows: UnsafeMutablePointer<RecordBuffer>
  private let entity: StoredEntity
  // Exclusivity is not checked, because only one thread accesses the object and the checks would
  // slow down each record.
  @exclusivity(unchecked) private var insert: BatchInsert

  init(into entity: StoredEntity, _ insert: consuming BatchInsert, core: WriteCore) {
    self.entity = entity
    self.insert = insert
    writer = .allocate(capacity: 1)
    writer.initialize(
      to: RecordWriter(sizeLimit: core.writer.sizeLimit, byteCount: RecordBuffer.memorySize))
    shape = RecordShape(entity.encodingLayout)
    sizeLimit = core.writer.largestContent
    rows = .allocate(capacity: 1)
    rows.initialize(to: RecordBuffer(byteCount: RecordBuffer.memorySize))
  }

  deinit {
    writer.deinitialize(count: 1)
    writer.deallocate()
    rows.deinitialize(count: 1)
    rows.deallocate()
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

  /// Keeps the finished record in the buffer; passes all buffered records to the batch when there
  /// are enough of them.
  @inlinable @inline(__always)
  func keep() throws(StoreError) {
    let end = writer.pointee.keep()
    rows.pointee.ends.append(end)
    if end >= RecordBuffer.usualByteCount { try passOn() }
  }

  @usableFromInline @inline(never)
  func passOn() throws(StoreError) {
    writer.pointee.moveRecords(to: &rows.pointee)
    try insert.add(&rows.pointee)
  }

  /// Adds the values of an array.
  @inlinable
  func add<E: Entity>(contentsOf values: UnsafeBufferPointer<E>) throws(StoreError) {
    guard let start = values.baseAddress else { return }
    let ahead = Self.lookahead
    var isScattered = true
    for index in 0..<values.count {
      if index % Self.sampleCount == 0, index &+ 3 <= values.count {
        isScattered = hasScatteredTexts(
          start + index, byteCount: MemoryLayout<E>.size, stride: MemoryLayout<E>.stride)
      }
      if isScattered, index &+ ahead < values.count {
        fetchTexts(of: start + (index &+ ahead), byteCount: MemoryLayout<E>.size)
      }
      try borrow(start + index) { (value: borrowing E) throws(StoreError) in try add(value) }
    }
  }

  /// Calls `body` with the value at `pointer`, without copying it.
  ///
  /// `V` is noncopyable here, because the compiler would copy a copyable value.
  @inlinable @inline(__always)
  func borrow<V: ~Copyable>(
    _ pointer: UnsafePointer<V>, _ body: (borrowing V) throws(StoreError) -> Void
  ) throws(StoreError) {
    try body(pointer.pointee)
  }

  @usableFromInline
  func fetchTexts(of value: UnsafeRawPointer, byteCount: Int) {
    StringPrefetch.prefetch(of: value, byteCount: byteCount)
  }

  /// Returns whether the texts of the three values from `value` on are scattered in memory.
  ///
  /// The texts are then outside the values and not in ascending order, so the processor does not
  /// prefetch them.
  @usableFromInline
  func hasScatteredTexts(_ value: UnsafeRawPointer, byteCount: Int, stride: Int) -> Bool {
    !StringPrefetch.areInOrder(from: value, byteCount: byteCount, stride: stride)
  }

  @usableFromInline
  func isStored(_ id: UInt64) -> StoreError { .alreadyStored(entity: entity.name, id: id) }

  /// Finishes a record that ``RecordWriter/finished(_:)`` could not finish.
  ///
  /// Returns false when the record must be encoded again with wide offsets, because its variable
  /// bytes do not fit narrow ones.
  @usableFromInline
  func end() throws(StoreError) -> Bool {
    guard try writer.pointee.finish(entity) != nil else { return false }
    try keep()
    return true
  }

  /// Returns the error of a value that could not be encoded, with the value's position in the
  /// batch.
  func located(_ error: StoreError) -> StoreError {
    guard error.isOfValue else { return error }
    return error.inBatch(at: insert.addedCount + rows.pointee.ends.count)
  }

  /// Passes on the last records, and returns the outcome of the batch.
  func finish() throws(StoreError) -> InsertCounts {
    try passOn()
    return try insert.finish()
  }
}
