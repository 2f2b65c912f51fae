internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Reads an index from ids to ids: the links of one side of a relationship, or the index of an
/// attribute that holds an id.
///
/// See Format.md, "Relationships".
final class LinkCursor {
  private let index: StoredIndex
  private let cursor: Cursor
  // Only one thread uses the object. Exclusivity checks would slow down each link.
  @exclusivity(unchecked) private var prefix = KeyEncoder()

  init(_ index: StoredIndex, core: TransactionCore) throws(StoreError) {
    self.index = index
    do { cursor = try Cursor(index.tree, in: core.transaction) } catch { throw StoreError(error) }
  }

  /// Visits the ids that `id` leads to, in ascending order from `first`, until `body` returns
  /// false.
  @inline(__always)
  func forEach(of id: UInt64, from first: UInt64 = 0, _ body: (UInt64) throws -> Bool) throws {
    prefix.reset()
    prefix.append(id)
    let length = prefix.count
    if first > 0, !index.isUnique { prefix.append(recordID: first) }
    var found = try cursor.seek(atOrAfter: prefix.bytes)
    while found {
      let key = cursor.key
      guard key.count >= length, Self.areEqual(key, prefix.bytes, length) else { return }
      guard try body(try other(key, length)) else { return }
      found = try cursor.next()
    }
  }

  /// Returns the first `limit` ids that `id` leads to, in ascending order.
  func ids(of id: UInt64, limit: Int = .max) throws(StoreError) -> [UInt64] {
    guard limit > 0 else { return [] }
    var ids: [UInt64] = []
    try wrappingErrors {
      try forEach(of: id) { other in
        ids.append(other)
        return ids.count < limit
      }
    }
    return ids
  }

  /// Returns the number of ids that `id` leads to.
  func count(of id: UInt64) throws(StoreError) -> Int {
    var count = 0
    try wrappingErrors {
      try forEach(of: id) { _ in
        count &+= 1
        return true
      }
    }
    return count
  }

  /// Returns whether `id` leads to `other`.
  func contains(_ id: UInt64, _ other: UInt64) throws(StoreError) -> Bool {
    var isThere = false
    try wrappingErrors {
      try forEach(of: id, from: other) { found in
        isThere = found == other
        return index.isUnique && !isThere
      }
    }
    return isThere
  }

  /// Visits each id that leads to other ids, in ascending order, with one id that it leads to.
  func forEachSource(
    _ body: (_ id: UInt64, _ other: UInt64) throws(StoreError) -> Void
  ) throws(StoreError) {
    try wrappingErrors {
      var found = try cursor.first()
      var next: UInt64 = 0
      while found {
        if let id = KeyDecoder.leadingID(cursor.key) {
          guard Self.isID(id) else { throw damaged() }
          if id >= next {
            try body(id, try other(cursor.key, KeyDecoder.lengthOfLeadingID(cursor.key)))
            next = id &+ 1
          }
        } else if !KeyDecoder.beginsWithNull(cursor.key) {
          throw damaged()
        }
        found = try cursor.next()
      }
    }
  }

  /// Returns the number of links, and a sum that is the same for the same links in any order.
  ///
  /// The sum depends on a random seed of the process.
  ///
  /// - Parameter isTurned: whether each link is taken in the opposite direction.
  func sum(isTurned: Bool) throws(StoreError) -> (count: Int, sum: Int) {
    var (count, sum) = (0, 0)
    try wrappingErrors {
      var found = try cursor.first()
      while found {
        guard let id = KeyDecoder.leadingID(cursor.key), Self.isID(id) else { throw damaged() }
        let other = try other(cursor.key, KeyDecoder.lengthOfLeadingID(cursor.key))
        var hasher = Hasher()
        hasher.combine(isTurned ? other : id)
        hasher.combine(isTurned ? id : other)
        sum &+= hasher.finalize()
        count &+= 1
        found = try cursor.next()
      }
    }
    return (count, sum)
  }

  @inline(__always)
  private func other(_ key: ByteView, _ length: Int) throws -> UInt64 {
    let id: UInt64
    if index.isUnique {
      guard cursor.value.count == 8 else { throw damaged() }
      id = cursor.value.uint64(at: 0)
    } else {
      guard key.count == length &+ 8 else { throw damaged() }
      id = key.bigEndianUInt64(at: length)
    }
    guard Self.isID(id) else { throw damaged() }
    return id
  }

  /// Returns whether a record can have `id`; a damaged file may contain any number.
  @inline(__always)
  static func isID(_ id: UInt64) -> Bool { id &- 1 < UInt64(Int64.max) }

  @inline(never)
  private func damaged() -> StoreError { .damagedIndex(index.name, "an entry has no record id") }

  @inline(__always)
  private static func areEqual(_ a: ByteView, _ b: ByteView, _ count: Int) -> Bool {
    for index in 0..<count where a[index] != b[index] { return false }
    return true
  }
}

extension StoredEntity {
  /// Returns the id in attribute `number` of a record of any layout.
  ///
  /// Returns `nil` for null, and when there is no record.
  func recordID(
    ofAttribute number: UInt32, in view: RecordView?
  ) throws(StoreError) -> UInt64? {
    guard let view else { return nil }
    guard let index = view.layout.slotIndex(ofAttribute: number) else {
      guard case .integer(let id)? = description.attribute(number: number)?.initial else {
        return nil
      }
      return UInt64(exactly: id)
    }
    let slot = view.layout.slots[index]
    guard slot.type == .recordID, !view.isNull(slot) else { return nil }
    let id = view.bytes.uint64(at: Int(slot.position))
    guard LinkCursor.isID(id) else {
      throw StoreError(
        wrapping: FormatError(
          "attribute \(number) of a record holds the id \(id), must be from 1 to \(Int64.max)",
          .typeID, at: Int(slot.position)))
    }
    return id
  }
}
