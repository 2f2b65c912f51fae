internal import LodestoreFormat

/// The id of another record, possibly of the same entity, as an attribute.
///
/// An id is stored as a number from 1 to 2⁶³ − 1 and ordered by this number. Writing an
/// ``RecordID/unassigned`` id is refused, also in an optional attribute, where `nil` stands for no
/// record. The store does not check that the record exists.
extension RecordID: IndexableValue {
  /// Stored as eight bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .recordID) }

  /// The number.
  public var _storedValue: StoredValue { StoredValue(.integer(unsigned: rawValue)) }

  /// The id with the number.
  public static func _value(from stored: StoredValue) -> RecordID? {
    if case .integer(let number) = stored.value, number >= 1 {
      RecordID(rawValue: UInt64(number))
    } else {
      nil
    }
  }

  /// Writes the number; the insert or update fails when the id is unassigned or not below 2⁶³.
  @inlinable @inline(__always)
  public func _write(to writer: inout RecordWriter) {
    if Int64(bitPattern: rawValue) < 1 { writer.failUnassigned() }
    rawValue._write(to: &writer)
  }

  /// Reads the number.
  @inlinable @inline(__always)
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> RecordID {
    RecordID(rawValue: try UInt64._read(from: &reader))
  }
}

/// An id that cannot be written, and the offset of its slot in the record.
struct UnassignedID: Error {
  let slot: Int
}

extension StoreError {
  static func unassignedID(_ entity: StoredEntity, slot: Int) -> StoreError {
    let index = entity.layout.slots.firstIndex { !$0.type.isVariable && Int($0.position) == slot }
    let attribute = index.flatMap {
      entity.description.attribute(number: entity.layout.attributes[$0].number)?.name
    }
    return unassignedID(entity.name, attribute: attribute ?? "?")
  }
}
