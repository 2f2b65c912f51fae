public import LodestoreEssentials

/// A type of an attribute with a fixed-width slot in records, for which any bits are a value.
///
/// ``EntityView`` reads such a value in place, which cannot fail. Do not conform to this protocol.
@_documentation(visibility: internal)
public protocol SlotValue: AttributeValue {
  /// Returns the value whose stored form begins at `slot`, which need not be aligned.
  static func _value(inSlot slot: UnsafeRawPointer) -> Self
}

extension SlotValue where Self: FixedWidthInteger & BitwiseCopyable {
  /// Returns the stored number.
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
  /// Returns the stored id.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> RecordID {
    RecordID(rawValue: UInt64._value(inSlot: slot))
  }
}

extension Bool: SlotValue {
  /// Returns false for 0, and true for any other byte.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Bool {
    slot.load(as: UInt8.self) != 0
  }
}

extension Float: SlotValue {
  /// Returns the stored number.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Float {
    Float(bitPattern: UInt32._value(inSlot: slot))
  }
}

extension Double: SlotValue {
  /// Returns the stored number.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Double {
    Double(bitPattern: UInt64._value(inSlot: slot))
  }
}

extension Date: SlotValue {
  /// Returns the stored date.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> Date {
    Date(timeIntervalSinceReferenceDate: Double._value(inSlot: slot))
  }
}

extension UUID: SlotValue {
  /// Returns the stored UUID.
  @inlinable @inline(__always)
  public static func _value(inSlot slot: UnsafeRawPointer) -> UUID {
    UUID(uuid: slot.loadUnaligned(as: uuid_t.self))
  }
}
