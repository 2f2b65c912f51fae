import LodestoreBytes

/// What is inside of a document, as the value of an attribute.
///
/// See Format.md, "Derived attributes".
package enum DocumentMember {
  /// The value at `path` of the document in `bytes`, where it is one of `type`; null where it is not.
  ///
  /// Integers convert to doubles and floats, rounded to the nearest, and doubles to integers where they are
  /// one in the range of the type.
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
