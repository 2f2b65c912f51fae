internal import LodestoreFormat

// Members and elements of an attribute, and values computed from it.

extension Attribute where Value == JSONValue {
  /// The member `name` of the attribute's object, or of each object in the attribute's array.
  public subscript(name: String) -> Attribute<E, JSONValue> { inside(.member(name)) }

  /// The element at `index` of the attribute's array.
  public subscript(index: Int) -> Attribute<E, JSONValue> { inside(.element(index)) }
}

extension Attribute where Value: Codable {
  /// The member `name` of a nested struct or dictionary, or of each element of an array, as JSON.
  ///
  /// The name is that of the coding key. Running a query with a name that `Value` does not have
  /// throws ``StoreError/Code/invalidQuery``. If only a stored value lacks the member, the result
  /// for its record is null.
  @_disfavoredOverload
  public subscript(name: String) -> Attribute<E, JSONValue> { inside(.member(name)) }

  /// The element at `index` of an array, as JSON.
  @_disfavoredOverload
  public subscript(index: Int) -> Attribute<E, JSONValue> { inside(.element(index)) }
}

extension Attribute where Value == JSONValue {
  /// Whether a number or a text in the JSON is less than `rhs`; false for other kinds.
  public static func < (lhs: Self, rhs: JSONValue) -> Condition<E> { lhs.compared(.less, rhs) }

  /// Whether a number or a text in the JSON is at most `rhs`; false for other kinds.
  public static func <= (lhs: Self, rhs: JSONValue) -> Condition<E> {
    lhs.compared(.lessOrEqual, rhs)
  }

  /// Whether a number or a text in the JSON is greater than `rhs`; false for other kinds.
  public static func > (lhs: Self, rhs: JSONValue) -> Condition<E> { lhs.compared(.greater, rhs) }

  /// Whether a number or a text in the JSON is at least `rhs`; false for other kinds.
  public static func >= (lhs: Self, rhs: JSONValue) -> Condition<E> {
    lhs.compared(.greaterOrEqual, rhs)
  }

  /// Whether the array or text in the JSON contains `element`.
  public func contains(_ element: JSONValue) -> Condition<E> { compared(.contains, element) }
}

extension Attribute
where Value: Collection & Sendable, Value.Element: AttributeValue & Equatable {
  /// Whether the collection contains the element.
  public func contains(_ element: Value.Element) -> Condition<E> {
    compared(.contains, .value(ConditionConstant.value(element)))
  }
}

extension Attribute where Value: TextAttribute {
  /// The text in lower case by Unicode's mapping, independent of the locale; null for null.
  public func lowercased() -> Attribute<E, String?> { deriving(.call(.lowercase, [operand])) }

  /// The text in upper case by Unicode's mapping, independent of the locale; null for null.
  public func uppercased() -> Attribute<E, String?> { deriving(.call(.uppercase, [operand])) }

  /// The text without differences in case and diacritics; null for null.
  public func folded() -> Attribute<E, String?> { deriving(.call(.canonical, [operand])) }

  /// The number of characters in the text; null for null.
  public var length: Attribute<E, Int?> { deriving(.call(.length, [operand])) }
}

extension Attribute where Value == String {
  /// The number of characters in the text, the same as ``length``.
  public var count: Attribute<E, Int?> { length }
}

extension Attribute where Value: Collection & Codable {
  /// The number of elements in the collection.
  @_disfavoredOverload
  public var count: Attribute<E, Int?> {
    guard let path else { return deriving(operand) }
    return deriving(.path(ValuePath(path.root, path.steps + [.aggregate(.count)])))
  }
}
