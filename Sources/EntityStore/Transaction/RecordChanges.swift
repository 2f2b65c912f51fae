internal import LMDB
internal import LodestoreFormat

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Single inserts, updates and deletes of record bytes, for the typed face and for kvdump alike.

extension TransactionCore {
  // MARK: Ids

  /// The id that the next new record of `entity` gets; see Format.md, "Counters".
  func nextID(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    if let known = nextIDs[entity.number] { return known }
    let next: UInt64
    do {
      let key = CounterKey.nextRecord(entity: entity.number)
      let counter = try transaction.get(key, in: store.trees.counters)
      let floor = counter.flatMap { $0.count == 8 ? $0.uint64(at: 0) : nil } ?? 1
      let cursor = try Cursor(entity.records, in: transaction)
      let highest = try cursor.last() ? cursor.integerKey : 0
      next = max(floor, highest &+ 1)
      // Format.md: ids are below 2^63; one transaction cannot use up the room that is left here.
      let limit: UInt64 = 1 << 63 - 1 << 32
      if highest >= limit || floor >= limit {
        throw StoreError.damagedIndex(
          entity.name, "its next record id is \(next), record ids are below 2^63")
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    nextIDs[entity.number] = next
    return next
  }

  /// Before a delete: afterwards the highest id present no longer tells which ids have been used.
  func raiseCounter(of entity: StoredEntity) throws(StoreError) {
    let next = try nextID(of: entity)
    // Ids given since the last delete of this transaction need the counter raised once more.
    guard raisedCounters.updateValue(next, forKey: entity.number) != next else { return }
    do {
      let key = CounterKey.nextRecord(entity: entity.number)
      let stored = try transaction.get(key, in: store.trees.counters)
      if let stored, stored.count == 8, stored.uint64(at: 0) >= next { return }
      try transaction.put(key, littleEndianBytes(next), in: store.trees.counters)
    } catch {
      throw StoreError(error)
    }
  }

  // MARK: Encoding

  /// The record's content, valid until the next record is encoded; four bytes behind it are free.
  func encode<E: Entity>(
    _ value: E, of entity: StoredEntity
  ) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    try encoder.encode(value, of: entity)
  }

  func checkSize(_ count: Int, of entity: StoredEntity) throws(StoreError) {
    try encoder.checkSize(count, of: entity)
  }

  // MARK: Changes

  /// Stores a new record.
  ///
  /// `content` has no checksum yet, and four free bytes behind it.
  func insert(
    _ content: UnsafeMutableRawBufferPointer, into entity: StoredEntity
  ) throws(StoreError) -> UInt64 {
    let id = try nextID(of: entity)
    let record = seal(content, id: id)
    let view = try entity.view(record, id: id)
    try entity.validate(view)
    try collectKeys(of: view, id: id, of: entity, into: &newKeys)
    try checkUnique(of: entity, id: nil, hasOld: false)
    do {
      try transaction.put(id, record, in: entity.records)
    } catch {
      throw StoreError(error)
    }
    nextIDs[entity.number] = id + 1
    try moveEntries(of: entity, id: id, hasOld: false, hasNew: true)
    return id
  }

  /// Writes the checksum for `id` behind `content`; returns the whole record.
  func seal(_ content: UnsafeMutableRawBufferPointer, id: UInt64) -> UnsafeRawBufferPointer {
    let whole = UnsafeMutableRawBufferPointer(
      start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
    Checksum.seal(whole, id: id)
    return UnsafeRawBufferPointer(whole)
  }

  /// Replaces record `id`; returns false, and writes nothing, when it is the same already.
  func update(
    _ id: UInt64, to content: UnsafeMutableRawBufferPointer, in entity: StoredEntity
  ) throws(StoreError) -> Bool {
    guard let stored = try record(id, of: entity) else {
      throw .noSuchRecord(entity: entity.name, id: id)
    }
    let record = seal(content, id: id)
    if isSame(stored, record) { return false }
    let oldView = try entity.view(stored, id: id)
    if try isSameInOlderLayout(oldView, record, id: id, of: entity) { return false }
    let newView = try entity.view(record, id: id)
    try entity.validate(newView, id: id)
    try collectKeys(of: oldView, id: id, of: entity, into: &oldKeys)
    try collectKeys(of: newView, id: id, of: entity, into: &newKeys)
    try checkUnique(of: entity, id: id, hasOld: true)
    try noteChange(of: entity)
    do {
      try transaction.put(id, record, in: entity.records)
    } catch {
      throw StoreError(error)
    }
    try moveEntries(of: entity, id: id, hasOld: true, hasNew: true)
    return true
  }

  func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    guard let left = a.baseAddress, let right = b.baseAddress else { return a.count == 0 }
    return memcmp(left, right, a.count) == 0
  }

  /// Whether a stored record has an older layout and the same values: it is left as it is.
  private func isSameInOlderLayout(
    _ stored: RecordView, _ incoming: UnsafeRawBufferPointer, id: UInt64, of entity: StoredEntity
  ) throws(StoreError) -> Bool {
    guard stored.layout !== entity.layout else { return false }
    return try carriedOver(stored, id: id, of: entity).withBytes { isSame($0, incoming) }
  }

  /// Removes record `id` and its entries; returns whether there was one.
  package func delete(_ id: UInt64, from entity: StoredEntity) throws(StoreError) -> Bool {
    guard let stored = try record(id, of: entity) else { return false }
    let view = try entity.view(stored, id: id)
    try collectKeys(of: view, id: id, of: entity, into: &oldKeys)
    try raiseCounter(of: entity)
    try noteChange(of: entity)
    do {
      try transaction.delete(id, in: entity.records)
    } catch {
      throw StoreError(error)
    }
    try moveEntries(of: entity, id: id, hasOld: true, hasNew: false)
    return true
  }

  /// Removes every record of `entity`, in time that does not depend on how many there are.
  package func deleteAll(of entity: StoredEntity) throws(StoreError) {
    try raiseCounter(of: entity)
    try noteChange(of: entity)
    do {
      try transaction.empty(entity.records)
      for index in entity.indexes { try transaction.empty(index.tree) }
    } catch {
      throw StoreError(error)
    }
  }
}

extension Array<UInt8> {
  mutating func withMutableBytes<R, E: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let result: Result<R, E> = withUnsafeMutableBytes { bytes in
      do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
