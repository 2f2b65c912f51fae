public import LodestoreEssentials

/// An attribute's type that takes a slot of its own size in a record, and that any bits are a value
/// of: ``EntityView`` reads it where it is, and reading cannot fail.
///
/// Do not conform to it.
@_documentation(visibility: internal)
public protocol SlotValue: AttributeValue {
  /// The value whose stored form begins at `slot`, which need not be aligned.
  static func _value(inSlot slot: UnsafeRawPointer) -> Self
}

extension SlotValue where Self: FixedWidthInteger & BitwiseCopyable {
  /// The number.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Self {
    Self(littleEndian: slot.loadUnaligned(as: Self.self))
  }
}

extension Int: SlotValue {}
extension Int8: SlotValue {}
extension Int16: SlotValue {}
extension Int32: SlotValue {}
extension Int64: SlotValue {}
extension UInt: SlotValue {}
extension UInt8: SlotValue {}
extension UInt16: SlotValue {}
extension UInt32: SlotValue {}
extension UInt64: SlotValue {}

extension RecordID: SlotValue {
  /// The number.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> RecordID {
    RecordID(rawValue: UInt64._value(inSlot: slot))
  }
}

extension Bool: SlotValue {
  /// False for 0, true for anything else.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Bool {
    slot.load(as: UInt8.self) != 0
  }
}

extension Float: SlotValue {
  /// The number.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Float {
    Float(bitPattern: UInt32._value(inSlot: slot))
  }
}

extension Double: SlotValue {
  /// The number.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Double {
    Double(bitPattern: UInt64._value(inSlot: slot))
  }
}

extension Date: SlotValue {
  /// The time.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Date {
    Date(timeIntervalSinceReferenceDate: Double._value(inSlot: slot))
  }
}

extension UUID: SlotValue {
  /// The bytes.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> UUID {
    UUID(uuid: slot.loadUnaligned(as: uuid_t.self))
  }
}
