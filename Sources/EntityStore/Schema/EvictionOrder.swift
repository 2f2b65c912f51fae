internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The reason why records leave the file by themselves; the raw value is the context of such writes
/// in the history.
enum EvictionCause: String, Sendable {
  /// Their date has passed.
  case expiry
  /// The entity is above its limit, and they are its oldest records.
  case limit
}

/// The order in which the records of an entity leave for one reason: that of an index over one
/// attribute, or of ids.
struct EvictionOrder: Sendable, Hashable {
  let entity: EntityNumber
  let cause: EvictionCause

  /// Before the first record that can leave: a record without a date does not expire.
  var first: EvictionPosition { cause == .expiry ? .firstDate : .first }
}

/// A place in an ``EvictionOrder``: the least key that is not before it.
///
/// The keys are those of the index; of a record in the order of ids, the id in 8 bytes BE.
struct EvictionPosition: Sendable, Comparable {
  let bytes: [UInt8]

  /// Before all keys.
  static let first = EvictionPosition(bytes: [0])

  /// Before all dates; null comes before them.
  static let firstDate = EvictionPosition(bytes: [0, 255])

  /// After every entry of a date.
  static func behind(_ date: Double) -> EvictionPosition {
    var encoder = KeyEncoder()
    encoder.append(date: date)
    return EvictionPosition(bytes: Array(encoder.bytes) + [255])
  }

  /// At an entry.
  static func at(_ key: ByteView) -> EvictionPosition {
    EvictionPosition(bytes: Array(key))
  }

  /// After an entry.
  static func behind(_ key: ByteView) -> EvictionPosition {
    EvictionPosition(bytes: Array(key) + [0])
  }

  /// Whether an entry comes before it.
  func isAbove(_ key: ByteView) -> Bool {
    bytes._withBytes { compareKeys(key, $0) < 0 }
  }

  /// The least id that is not before it, in the order of ids.
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
  /// The index over the date by which records expire; `nil` where they do not.
  var expiryIndex: StoredIndex? {
    guard let expiry = description.expiry else { return nil }
    return indexes.first { $0.description.attributes == [expiry.attribute] }
  }

  /// The index over the attribute by which the entity is limited; `nil` where ids say which records
  /// are the oldest.
  var limitIndex: StoredIndex? {
    guard let number = description.limit?.attribute else { return nil }
    return indexes.first { $0.description.attributes == [number] }
  }
}

extension StoredSchema {
  /// The orders in which records may leave; expired ones come first.
  var evictionOrders: [EvictionOrder] {
    expiring.map { EvictionOrder(entity: $0.number, cause: .expiry) }
      + limited.map { EvictionOrder(entity: $0.number, cause: .limit) }
  }

  /// The entity whose records leave in `order`; `nil` where they no longer do.
  func entity(of order: EvictionOrder) -> StoredEntity? {
    (order.cause == .expiry ? expiring : limited).first { $0.number == order.entity }
  }
}
