extension JSONValue {
  /// Whether this is `null`.
  public var isNull: Bool { self == .null }

  /// The Boolean, or nil for any other kind.
  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The number as an `Int64`, or nil when it is none or its value is not exactly one.
  ///
  /// The double `5.0` is 5; the double `5.5` is nil.
  public var int64Value: Int64? {
    switch self {
    case .integer(let value): value
    case .unsigned(let value): Int64(exactly: value)
    case .double(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The number as a `UInt64`, or nil when it is none or its value is not exactly one.
  public var uint64Value: UInt64? {
    switch self {
    case .integer(let value): UInt64(exactly: value)
    case .unsigned(let value): value
    case .double(let value): UInt64(exactly: value)
    default: nil
    }
  }

  /// The number as an `Int`, or nil when it is none or its value is not exactly one.
  public var intValue: Int? { int64Value.flatMap { Int(exactly: $0) } }

  /// The number as a `Double`, or nil when it is none or an integer that a double cannot hold.
  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(exactly: value)
    case .unsigned(let value): Double(exactly: value)
    case .double(let value): value
    default: nil
    }
  }

  /// The string, or nil for any other kind; numbers are not converted.
  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The elements, or nil for any other kind.
  public var arrayValue: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The members, or nil for any other kind.
  public var objectValue: [String: JSONValue]? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The member of an object by its key, or nil when there is none or this is no object.
  public subscript(key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// The element of an array by its position, or nil outside the array or when this is no array.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The value at a dotted path such as `source.git` or `authors.0`, or nil.
  ///
  /// A part names a member of an object or, in digits, an element of an array; the empty path is
  /// the value itself. A key that contains a dot is reached by `subscript(key:)` only.
  public subscript(path path: String) -> JSONValue? {
    if path.isEmpty { return self }
    var value = self
    for part in path.split(separator: ".", omittingEmptySubsequences: false) {
      let next: JSONValue? =
        switch value {
        case .object(let members): members[String(part)]
        case .array: JSONPathPart.index(part).flatMap { value[$0] }
        default: nil
        }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  /// The kind in words, for messages: "a string", "an object".
  package var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean"
    case .integer, .unsigned: "an integer"
    case .double: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

package enum JSONPathPart {
  /// Digits only: `Int.init` would also take a sign, which makes two spellings of one element.
  package static func index(_ part: Substring) -> Int? {
    part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
  }
}
