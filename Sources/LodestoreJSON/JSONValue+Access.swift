extension JSONValue {
  /// Whether this is `null`.
  public var isNull: Bool { self == .null }

  /// The Boolean; `nil` for any other kind.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The number as an `Int64`; `nil` if this is not a number or not exactly an `Int64`.
  ///
  /// The double `5.0` is 5; the double `5.5` is `nil`.
  public var int64Value: Int64? {
    switch self {
    case .integer(let value): value
    case .unsigned(let value): Int64(exactly: value)
    case .double(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The number as a `UInt64`; `nil` if this is not a number or not exactly a `UInt64`.
  public var uint64Value: UInt64? {
    switch self {
    case .integer(let value): UInt64(exactly: value)
    case .unsigned(let value): value
    case .double(let value): UInt64(exactly: value)
    default: nil
    }
  }

  /// The number as an `Int`; `nil` if this is not a number or not exactly an `Int`.
  public var intValue: Int? { int64Value.flatMap { Int(exactly: $0) } }

  /// The number as a `Double`; `nil` if this is not a number, or is an integer that a double cannot
  /// represent exactly.
  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(exactly: value)
    case .unsigned(let value): Double(exactly: value)
    case .double(let value): value
    default: nil
    }
  }

  /// The string; `nil` for any other kind.
  ///
  /// Numbers are not converted.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

  /// The elements of an array; `nil` for any other kind.
  public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

  /// The members of an object; `nil` for any other kind.
  public var objectValue: [String: JSONValue]? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The member of an object by its key; `nil` if the object lacks it or this is not an object.
  public subscript(key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// The element of an array by its position; `nil` outside the array or if this is not an array.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The value at a dotted path such as `source.git` or `authors.0`; `nil` if the path leads to no
  /// value.
  ///
  /// A part names a member of an object or, in digits, an element of an array. The empty path is
  /// the value itself. Use `subscript(key:)` for a key that contains a dot.
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
}

package enum JSONPathPart {
  /// The index of an array's element.
  ///
  /// Only digits are accepted: `Int.init` also accepts a sign, which would give an element two
  /// spellings.
  package static func index(_ part: Substring) -> Int? {
    part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
  }
}
