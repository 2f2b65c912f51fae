import LodestoreBytes

/// A value within a document, read as the value of an attribute.
///
/// See Format.md, "Derived attributes".
package enum DocumentMember {
  /// The value at `path` in the document `bytes` if it is of `type`, otherwise null.
  ///
  /// Integers convert to the nearest double or float. A double converts to an integer if it is a
  /// whole number within the type's range.
  package static func value(
    at path: [String], of bytes: ByteView, as type: AttributeType
  ) throws(FormatError) -> Value {
    var found = bytes
    for name in path {
      guard let member = try DocumentReader.member(named: name, in: found) else { return .null }
      found = member
    }
    let value = try scalar(found)
    switch (value, type) {
    case (.integer(let number), .double): return .double(Double(number))
    case (.unsigned(let number), .double): return .double(Double(number))
    case (.integer(let number), .float): return .double(Double(Float(number)))
    case (.unsigned(let number), .float): return .double(Double(Float(number)))
    case (.double(let number), .float): return .double(Double(Float(number)))
    case (.double(let number), _) where type.integerRange != nil:
      let integer: Value? =
        Int64(exactly: number).map { .integer($0) }
        ?? UInt64(exactly: number).map { .integer(unsigned: $0) }
      return integer.map { $0.fits(type) ? $0 : .null } ?? .null
    default: return value.fits(type) ? value : .null
    }
  }

  /// The scalar in `bytes`; null for null, arrays and objects.
  package static func scalar(_ bytes: ByteView) throws(FormatError) -> Value {
    var reader = DocumentReader(bytes)
    return try reader.scalar() ?? .null
  }
}
