internal import LodestoreBytes
internal import LodestoreFormat

/// The values of a record in all attributes of an index, by which `fetch(_:)` finds the record.
///
/// `@Entity` writes a function that creates a key for each unique index:
/// `Pod.key(name: "AF", version: "1")`.
public struct EntityKey<E: Entity>: Sendable {
  @usableFromInline var tuple = KeyTuple()

  @inlinable
  init() {}

  /// Creates a key of this attribute's value; for code written by `@Entity`.
  @inlinable @inline(__always)
  public init<Value>(_of attribute: Attribute<E, Value>, _ value: Value) {
    append(value, of: IndexedAttribute(attribute))
  }

  /// Returns the key with this attribute's value added; for code written by `@Entity`.
  @inlinable @inline(__always)
  public consuming func _and<Value>(_ attribute: Attribute<E, Value>, _ value: Value) -> EntityKey {
    append(value, of: IndexedAttribute(attribute))
    return self
  }

  @inlinable @inline(__always)
  mutating func append<Value>(_ value: Value, of attribute: IndexedAttribute<E, Value>) {
    do throws(StoreError) {
      tuple.append(try attribute.stored(value), of: attribute.ordinal)
    } catch {
      tuple.append(error, of: attribute.ordinal)
    }
  }
}

/// The encoded values of a key, and the attributes that they belong to.
///
/// Unless the key is long, all of it is in the value itself. So creating a key allocates nothing,
/// which matters because a lookup takes little more time than an allocation.
@usableFromInline
struct KeyTuple: Sendable {
  private typealias Room = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  private static let bitsOfOrdinal = 16
  private static let roomForOrdinals = UInt64.bitWidth / bitsOfOrdinal

  private(set) var byteCount = 0
  /// The number of values.
  private(set) var partCount = 0
  private(set) var hasNull = false
  /// The positions in the schema of the first four attributes, plus 1, with the first in the lowest
  /// bits.
  ///
  /// The number 0 stands for an attribute that is not stored.
  private var ordinals: UInt64 = 0
  /// The bytes of the key, if the key is short.
  private var room: Room = (0, 0, 0, 0, 0, 0, 0, 0)
  private var rest: Rest?

  /// The parts of a key that do not fit into a ``KeyTuple`` itself.
  private final class Rest: Sendable {
    /// All bytes of the key; empty if the ``KeyTuple`` itself holds them.
    let bytes: [UInt8]
    /// The positions in the schema of the attributes after the fourth.
    let ordinals: [Int?]
    /// The reason why a value cannot be encoded, if there is one.
    let failure: StoreError?

    init(bytes: [UInt8], ordinals: [Int?], failure: StoreError?) {
      self.bytes = bytes
      self.ordinals = ordinals
      self.failure = failure
    }
  }

  @usableFromInline
  init() {}

  /// The reason why the key cannot be used, if there is one.
  var failure: StoreError? { rest?.failure }

  /// Returns the position in the schema of the attribute whose value is at `position` of the key.
  func ordinal(at position: Int) -> Int? {
    guard position < Self.roomForOrdinals else {
      return rest?.ordinals[position - Self.roomForOrdinals]
    }
    let bits = UInt16(truncatingIfNeeded: ordinals >> UInt64(position * Self.bitsOfOrdinal))
    return bits == 0 ? nil : Int(bits) - 1
  }

  /// Calls `body` with the bytes of the key, which are not cut.
  func withBytes<R>(_ body: (ByteView) throws(StoreError) -> R) throws(StoreError) -> R {
    if let rest, !rest.bytes.isEmpty { return try rest.bytes._withBytes(body) }
    return try withUnsafeBytes(of: room) { (room) throws(StoreError) in
      try body(ByteView(room)[..<byteCount])
    }
  }
}

extension KeyTuple {
  /// Adds a value of the attribute at the position `ordinal` in the schema.
  @usableFromInline
  mutating func append(_ value: StoredValue, of ordinal: Int?) {
    if case .null = value.value { hasNull = true }
    append(ordinal)
    do throws(FormatError) {
      if let rest, !rest.bytes.isEmpty {
        try append(value.value, behind: rest.bytes)
      } else {
        try appendInRoom(value.value)
      }
    } catch {
      fail(StoreError(.unstorableValue, "cannot look up a key: \(error.reason)"))
    }
  }

  /// Adds an attribute whose value cannot be stored.
  @usableFromInline
  mutating func append(_ failure: StoreError, of ordinal: Int?) {
    append(ordinal)
    fail(failure)
  }

  @inline(__always)
  private mutating func append(_ ordinal: Int?) {
    if partCount < Self.roomForOrdinals {
      let bits = UInt16(clamping: (ordinal ?? -1) + 1)
      ordinals |= UInt64(bits) << UInt64(partCount * Self.bitsOfOrdinal)
    } else {
      rest = Rest(
        bytes: rest?.bytes ?? [], ordinals: (rest?.ordinals ?? []) + [ordinal], failure: failure)
    }
    partCount += 1
  }

  private mutating func fail(_ failure: StoreError) {
    rest = Rest(
      bytes: rest?.bytes ?? [], ordinals: rest?.ordinals ?? [], failure: self.failure ?? failure)
  }

  @inline(__always)
  private mutating func appendInRoom(_ value: Value) throws(FormatError) {
    let start = byteCount
    let (end, outgrown) = try withUnsafeMutableBytes(of: &room) {
      (room) throws(FormatError) -> (Int, [UInt8]?) in
      var encoder = KeyEncoder(in: MutableByteView(room), count: start)
      try encoder.append(value)
      return (encoder.count, encoder.isInPlace ? nil : Array(encoder.bytes))
    }
    byteCount = end
    if let outgrown { keep(outgrown) }
  }

  private mutating func append(_ value: Value, behind bytes: [UInt8]) throws(FormatError) {
    var encoder = KeyEncoder()
    bytes._withBytes { encoder.append(raw: $0) }
    try encoder.append(value)
    byteCount = encoder.count
    keep(Array(encoder.bytes))
  }

  private mutating func keep(_ bytes: [UInt8]) {
    rest = Rest(bytes: bytes, ordinals: rest?.ordinals ?? [], failure: failure)
  }
}
