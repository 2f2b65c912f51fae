/// The way in which values of an attribute are stored.
///
/// The conforming types have no instances and are separate from the value types, so that
/// enumerations and `Codable` types need no conformance. An ``Attribute`` holds a metatype, which
/// is copied without reference counting.
@usableFromInline
protocol AttributeCoding<Value>: Sendable {
  associatedtype Value

  static var storage: AttributeStorage { get }

  /// Returns the stored form of `value`, or throws the error of a document's encoding.
  static func store(_ value: Value) throws -> StoredValue

  /// Returns the value, or nil when the stored value is of another type.
  static func load(_ stored: StoredValue) -> Value?

  static func read(from reader: inout RecordReader) throws(StoreError) -> Value
}

extension AttributeCoding {
  /// Appends the stored values to `list`; returns false when one of them is of another type.
  ///
  /// The most frequent types have their own code. A protocol call for each value would take longer
  /// than reading the value from the index.
  static func load(all stored: [StoredValue], into list: inout [Value]) -> Bool {
    let frequent =
      loaded(stored, as: Int.self) ?? loaded(stored, as: String.self)
      ?? loaded(stored, as: Double.self) ?? loaded(stored, as: Int?.self)
      ?? loaded(stored, as: String?.self) ?? loaded(stored, as: Double?.self)
      ?? loaded(stored, as: Int64.self) ?? loaded(stored, as: Int32.self)
    if let frequent {
      list += frequent
      return true
    }
    list.reserveCapacity(list.count + stored.count)
    for value in stored {
      guard let loaded = load(value) else { return false }
      list.append(loaded)
    }
    return true
  }

  /// Returns the values as values of `V`.
  ///
  /// Returns `nil` when ``Value`` is not `V` or a stored value is of another type.
  @inline(__always)
  private static func loaded<V: AttributeValue>(_ stored: [StoredValue], as _: V.Type) -> [Value]? {
    guard Value.self == V.self else { return nil }
    var list: [V] = []
    list.reserveCapacity(stored.count)
    for value in stored {
      guard let loaded = V._value(from: value) else { return nil }
      list.append(loaded)
    }
    // `V` and `Value` are the same type; a cast would check each value.
    return unsafeBitCast(list, to: [Value].self)
  }
}

/// A value of a type that the format stores directly.
@usableFromInline
enum ScalarCoding<Value: AttributeValue>: AttributeCoding {
  @inlinable static var storage: AttributeStorage { Value._storage }

  @inlinable static func store(_ value: Value) -> StoredValue { value._storedValue }

  @inlinable static func load(_ stored: StoredValue) -> Value? { Value._value(from: stored) }

  @inlinable
  static func read(from reader: inout RecordReader) throws(StoreError) -> Value {
    try Value._read(from: &reader)
  }
}

/// An enumeration, stored as its raw value.
@usableFromInline
enum EnumerationCoding<Value: RawRepresentable & Sendable>: AttributeCoding
where Value.RawValue: AttributeValue {
  @inlinable static var storage: AttributeStorage { Value.RawValue._storage }

  @inlinable static func store(_ value: Value) -> StoredValue { value.rawValue._storedValue }

  @inlinable
  static func load(_ stored: StoredValue) -> Value? {
    Value.RawValue._value(from: stored).flatMap { Value(rawValue: $0) }
  }

  @inlinable
  static func read(from reader: inout RecordReader) throws(StoreError) -> Value {
    try reader.read(Value.self)
  }
}

/// An enumeration that may be null.
@usableFromInline
enum OptionalEnumerationCoding<Wrapped: RawRepresentable & Sendable>: AttributeCoding
where Wrapped.RawValue: AttributeValue {
  @inlinable static var storage: AttributeStorage { Wrapped.RawValue?._storage }

  @inlinable
  static func store(_ value: Wrapped?) -> StoredValue { value.map(\.rawValue)._storedValue }

  @inlinable
  static func load(_ stored: StoredValue) -> Wrapped?? {
    guard let raw = Wrapped.RawValue?._value(from: stored) else { return nil }
    guard let raw else { return .some(nil) }
    return Wrapped(rawValue: raw).map { .some($0) }
  }

  @inlinable
  static func read(from reader: inout RecordReader) throws(StoreError) -> Wrapped? {
    try reader.read(Wrapped?.self)
  }
}

/// A `Codable` value, stored as a document.
@usableFromInline
enum DocumentAttributeCoding<Value: Codable & Sendable>: AttributeCoding {
  @inlinable static var storage: AttributeStorage { .document }

  @inlinable
  static func store(_ value: Value) throws -> StoredValue { try StoredValue(encoding: value) }

  @inlinable
  static func load(_ stored: StoredValue) -> Value? { (try? stored.decoded(Value.self)) ?? nil }

  @inlinable
  static func read(from reader: inout RecordReader) throws(StoreError) -> Value {
    try reader.read(Value.self)
  }
}

/// A `Codable` value that may be null.
@usableFromInline
enum OptionalDocumentCoding<Value: _OptionalDocument & Sendable>: AttributeCoding
where Value._Wrapped: Sendable {
  @inlinable static var storage: AttributeStorage { .optionalDocument }

  @inlinable
  static func store(_ value: Value) throws -> StoredValue {
    try value._wrapped.map { try StoredValue(encoding: $0) } ?? .noValue
  }

  @inlinable
  static func load(_ stored: StoredValue) -> Value? {
    if stored.isNull { return Value(_wrapped: nil) }
    return ((try? stored.decoded(Value._Wrapped.self)) ?? nil).map { Value(_wrapped: $0) }
  }

  @inlinable
  static func read(from reader: inout RecordReader) throws(StoreError) -> Value {
    Value(_wrapped: try reader.read(Value._Wrapped?.self))
  }
}
