internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The reason for evicting records from the file.
///
/// Its raw value is the context of such writes in the history.
enum EvictionCause: String, Sendable {
  /// The record's date has passed.
  case expiry
  /// The entity is above its limit, and the record is among its oldest.
  case limit
}

/// The order in which records of an entity are evicted for one reason: by an index over one
/// attribute, or by ids.
struct EvictionOrder: Sendable, Hashable {
  let entity: EntityNumber
  let cause: EvictionCause

  /// The position before the first record that can be evicted.
  ///
  /// A record without a date does not expire.
  var first: EvictionPosition { cause == .expiry ? .firstDate : .first }
}

/// A position in an ``EvictionOrder``: a key such that entries with lower keys are before the
/// position.
///
/// The keys are those of the index. In the order of ids, a key is the id in 8 big-endian bytes.
struct EvictionPosition: Sendable, Comparable {
  let bytes: [UInt8]

  /// The position before all keys.
  static let first = EvictionPosition(bytes: [0])

  /// The position before all dates and after null.
  static let firstDate = EvictionPosition(bytes: [0, 255])

  /// Returns the position after all entries of a date.
  static func after(_ date: Double) -> EvictionPosition {
    var encoder = KeyEncoder()
    encoder.append(date: date)
    return EvictionPosition(bytes: Array(encoder.bytes) + [255])
  }

  /// Returns the position of an entry.
  static func at(_ key: ByteView) -> EvictionPosition { EvictionPosition(bytes: Array(key)) }

  /// Returns the position after an entry.
  static func after(_ key: ByteView) -> EvictionPosition {
    EvictionPosition(bytes: Array(key) + [0])
  }

  /// Returns whether the entry with this key is before the position, so that an eviction from this
  /// position on skips the entry.
  func isAbove(_ key: ByteView) -> Bool { bytes._withBytes { compareKeys(key, $0) < 0 } }

  /// For the order of ids: the lowest id that is at or after the position.
  var id: UInt64 {
    let id = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let whole = id << UInt64(8 * (8 - min(8, bytes.count)))
    return bytes.count > 8 ? whole &+ 1 : whole
  }

  static func < (a: EvictionPosition, b: EvictionPosition) -> Bool {
    b.bytes._withBytes { b in a.bytes._withBytes { compareKeys($0, b) < 0 } }
  }
}

extension StoredEntity {
  /// The index over the date by which records expire; `nil` if they do not expire.
  var expiryIndex: StoredIndex? {
    guard let expiry = description.expiry else { return nil }
    return indexes.first { $0.description.attributes == [expiry.attribute] }
  }

  /// The index over the attribute that decides which records are the oldest; `nil` if ids decide.
  var limitIndex: StoredIndex? {
    guard let number = description.limit?.attribute else { return nil }
    return indexes.first { $0.description.attributes == [number] }
  }
}

extension StoredSchema {
  /// The orders in which records may be evicted, beginning with expiry.
  var evictionOrders: [EvictionOrder] {
    expiring.map { EvictionOrder(entity: $0.number, cause: .expiry) }
      + limited.map { EvictionOrder(entity: $0.number, cause: .limit) }
  }

  /// Returns the entity whose records are evicted in `order`, or `nil` if they no longer are.
  func entity(of order: EvictionOrder) -> StoredEntity? {
    (order.cause == .expiry ? expiring : limited).first { $0.number == order.entity }
  }
}
