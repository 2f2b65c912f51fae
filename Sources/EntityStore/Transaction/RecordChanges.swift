internal import LMDB
internal import LodestoreFormat

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

  /// Encodes `value` and calls `body` with the record's content, followed by room for a checksum.
  func withEncoded<E: Entity, R>(
    _ value: E, of entity: StoredEntity,
    _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try body(try encode(value, of: entity))
  }

  /// The record's content, valid until the next record is encoded; four bytes behind it are free.
  func encode<E: Entity>(
    _ value: E, of entity: StoredEntity
  ) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    var content: UnsafeMutableRawBufferPointer?
    var isWide = false
    while content == nil {
      writer.begin(entity.layout, isWide: isWide)
      value.encode(into: &writer)
      content = writer.finish(entity.layout, entity: entity.name)
      isWide = true
    }
    if let failure = writer.failure { throw .unencodable(entity: entity.name, cause: failure) }
    guard let content else { throw .recordTooLarge(entity: entity.name, size: 0, limit: 0) }
    try checkSize(content.count, of: entity)
    return content
  }

  func checkSize(_ count: Int, of entity: StoredEntity) throws(StoreError) {
    let limit = min(store.options.recordSizeLimitInBytes, 1 << 30)
    guard count + RecordLayout.checksumSize <= limit else {
      throw .recordTooLarge(entity: entity.name, size: count, limit: limit)
    }
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
    let checksum = Checksum.record(id: id, body: UnsafeRawBufferPointer(content))
    let whole = UnsafeMutableRawBufferPointer(
      start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
    whole.storeBytes(of: checksum.littleEndian, toByteOffset: content.count, as: UInt32.self)
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
    try collectKeys(of: oldView, id: id, of: entity, into: &oldKeys)
    try collectKeys(of: try entity.view(record, id: id), id: id, of: entity, into: &newKeys)
    try checkUnique(of: entity, id: id, hasOld: true)
    do {
      try transaction.put(id, record, in: entity.records)
    } catch {
      throw StoreError(error)
    }
    try moveEntries(of: entity, id: id, hasOld: true, hasNew: true)
    return true
  }

  func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    a.count == b.count && compareKeys(a, b) == 0
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
    do {
      try transaction.empty(entity.records)
      for index in entity.indexes { try transaction.empty(index.tree) }
    } catch {
      throw StoreError(error)
    }
  }

  /// The record that holds one of ``newKeys``' unique keys; throws when there are several.
  func conflict(of entity: StoredEntity) throws(StoreError) -> (id: UInt64, index: StoredIndex)? {
    var found: (id: UInt64, index: StoredIndex)?
    for (place, index) in entity.indexes.enumerated() where index.isUnique {
      let holder = try newKeys.withKey(place) { (key) throws(StoreError) in
        try self.holder(of: key, in: index)
      }
      guard let holder else { continue }
      if let found, found.id != holder {
        throw .severalHolders(entity: entity.name, indexes: [found.index.name, index.name])
      }
      if found == nil { found = (holder, index) }
    }
    return found
  }

  /// Stores a new record, or does what `mode` says when a unique index already leads to one.
  func insert(
    _ content: UnsafeMutableRawBufferPointer, into entity: StoredEntity, mode: ConflictResolution
  ) throws(StoreError) -> (id: UInt64, outcome: InsertOutcome) {
    if case .fail = mode { return (try insert(content, into: entity), .inserted) }
    let view = try entity.view(seal(content, id: 0), id: 0)
    try collectKeys(of: view, id: 0, of: entity, into: &newKeys)
    guard let conflict = try conflict(of: entity) else {
      return (try insert(content, into: entity), .inserted)
    }
    switch mode {
    case .fail, .ignore: return (conflict.id, .ignored)
    case .replace:
      let isChanged = try update(conflict.id, to: content, in: entity)
      return (conflict.id, isChanged ? .updated : .unchanged)
    case .patch(let attributes):
      var patched = try patch(conflict.id, with: view, attributes: attributes, in: entity)
      patched += [0, 0, 0, 0]
      let isChanged = try patched.withMutableBytes { (bytes) throws(StoreError) in
        try update(
          conflict.id, to: UnsafeMutableRawBufferPointer(rebasing: bytes.dropLast(4)), in: entity)
      }
      return (conflict.id, isChanged ? .updated : .unchanged)
    }
  }

  /// The content of record `id` with the values of `attributes` taken from `view`.
  func patch(
    _ id: UInt64, with view: RecordView, attributes: Set<UInt32>, in entity: StoredEntity
  ) throws(StoreError) -> [UInt8] {
    guard let stored = try record(id, of: entity) else {
      throw .noSuchRecord(entity: entity.name, id: id)
    }
    do {
      var values = try entity.values(of: try entity.view(stored, id: id))
      let incoming = try entity.values(of: view)
      for (place, attribute) in entity.layout.attributes.enumerated()
      where attributes.contains(attribute.number) {
        values[place] = incoming[place]
      }
      return try RecordBuilder.content(layout: entity.layout, values: values)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}

/// What an insert does when a unique index already leads to a record.
package enum ConflictResolution: Sendable {
  case fail
  case ignore
  case replace
  /// Only these attribute numbers are taken over.
  case patch(Set<UInt32>)
}

/// What became of one value.
package enum InsertOutcome: Sendable {
  case inserted, updated, unchanged, ignored
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
