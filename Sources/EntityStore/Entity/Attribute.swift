internal import LodestoreFormat

/// One attribute of an entity: what conditions, orders, projections, views and updates name it by.
///
/// `@Entity` writes a struct of them. By hand it is as short, with the attributes counted in the order
/// of ``EntitySchema/attributes``:
///
///     extension Film {
///       struct Attributes: Sendable {
///         var id: Attribute<Film, Film.ID> { .recordID }
///         var title: Attribute<Film, String> { .init(0) }
///         var episode: Attribute<Film, Int> { .init(1) }
///       }
///       static var attributes: Attributes { Attributes() }
///     }
///
/// Inside a condition, `$0.license["type"]` and `$0.name.lowercased()` are attributes too: something
/// that is worked out of a stored one. These can be compared; only stored ones can be fetched, assigned
/// and indexed.
public struct Attribute<E: Entity, Value>: Sendable {
  /// Index in the schema's attributes; negative for the record's id.
  @usableFromInline let ordinal: Int
  @usableFromInline let coding: _AttributeCoding<Value>
  /// What is worked out of the attribute; `nil` for itself.
  let derived: DerivedAttribute?

  @inlinable @inline(__always)
  init(_ ordinal: Int, _ coding: _AttributeCoding<Value>) {
    self.init(ordinal, coding, derived: nil)
  }

  @usableFromInline @inline(__always)
  init(_ ordinal: Int, _ coding: _AttributeCoding<Value>, derived: DerivedAttribute?) {
    self.ordinal = ordinal
    self.coding = coding
    self.derived = derived
  }
}

/// What is worked out of an attribute, as conditions know it; a class, so that an attribute without one
/// costs nothing.
///
/// Unchecked because it has subclasses; these hold constants.
@usableFromInline
class DerivedAttribute: @unchecked Sendable {}

/// How values of an attribute are stored: functions in place of a protocol, so that enumerations and
/// `Codable` types need no conformance.
public struct _AttributeCoding<Value>: Sendable {
  @usableFromInline let storage: @Sendable () -> AttributeStorage
  /// Throws what the encoding of a document throws.
  @usableFromInline let store: @Sendable (Value) throws -> StoredValue
  /// Nil when the stored value is none of the type.
  @usableFromInline let load: @Sendable (StoredValue) -> Value?
  @usableFromInline let read: @Sendable (inout RecordReader) throws(StoreError) -> Value

  @inlinable @inline(__always)
  init(
    storage: @escaping @Sendable () -> AttributeStorage,
    store: @escaping @Sendable (Value) throws -> StoredValue,
    load: @escaping @Sendable (StoredValue) -> Value?,
    read: @escaping @Sendable (inout RecordReader) throws(StoreError) -> Value
  ) {
    self.storage = storage
    self.store = store
    self.load = load
    self.read = read
  }
}

// MARK: What can be an attribute

extension Attribute where Value: AttributeValue {
  /// The attribute that is the `ordinal`th of the schema, counted from 0.
  ///
  /// The same call takes enumerations, stored as their raw values, and `Codable` values, stored as
  /// documents; each may be optional.
  @inlinable @inline(__always)
  public init(_ ordinal: Int) { self.init(ordinal, .scalar) }
}

extension Attribute {
  /// The attribute that is the `ordinal`th of the schema: an enumeration, stored as its raw value.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: RawRepresentable & Sendable, Value.RawValue: AttributeValue {
    self.init(ordinal, .enumeration)
  }

  /// The attribute that is the `ordinal`th of the schema: an enumeration that may be null.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init<W: RawRepresentable & Sendable>(_ ordinal: Int)
  where Value == W?, W.RawValue: AttributeValue {
    self.init(ordinal, .optionalEnumeration())
  }

  /// The attribute that is the `ordinal`th of the schema: an enumeration that is an ``AttributeValue``.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: AttributeValue & RawRepresentable, Value.RawValue: AttributeValue {
    self.init(ordinal, .scalar)
  }

  /// The attribute that is the `ordinal`th of the schema: an enumeration that is an ``AttributeValue``
  /// and may be null.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init<W: AttributeValue & RawRepresentable>(_ ordinal: Int)
  where Value == W?, W.RawValue: AttributeValue {
    self.init(ordinal, .scalar)
  }

  /// The attribute that is the `ordinal`th of the schema: a `Codable` value, stored as a document.
  @inlinable @inline(__always) @_disfavoredOverload
  @_documentation(visibility: internal)
  public init(_ ordinal: Int) where Value: Codable & Sendable {
    self.init(ordinal, .document)
  }

  /// The attribute that is the `ordinal`th of the schema: a `Codable` value that may be null.
  @inlinable @inline(__always) @_disfavoredOverload
  @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: _OptionalDocument & Sendable, Value._Wrapped: Sendable {
    self.init(ordinal, .optionalDocument)
  }
}

/// A `Codable` value that may be null.
///
/// A protocol, as its initializer of ``Attribute`` must be more special than that of any `Codable` value:
/// one with a type parameter for what is wrapped is not.
public protocol _OptionalDocument: Codable {
  associatedtype _Wrapped: Codable

  /// The value; `nil` for null.
  var _wrapped: _Wrapped? { get }

  /// Null, or a value.
  init(_wrapped: _Wrapped?)
}

extension Optional: _OptionalDocument where Wrapped: Codable {
  /// The value itself.
  @inlinable @inline(__always)
  public var _wrapped: Wrapped? { self }

  /// The value itself.
  @inlinable @inline(__always)
  public init(_wrapped: Wrapped?) { self = _wrapped }
}

extension Attribute where Value == RecordID<E> {
  /// The record's id.
  @inlinable @inline(__always)
  public static var recordID: Attribute { Attribute(-1, .scalar) }
}

extension _AttributeCoding where Value: AttributeValue {
  @inlinable @inline(__always)
  static var scalar: _AttributeCoding {
    _AttributeCoding(
      storage: { Value._storage }, store: { $0._storedValue }, load: { Value._value(from: $0) },
      read: { (reader) throws(StoreError) in try Value._read(from: &reader) })
  }
}

extension _AttributeCoding
where Value: RawRepresentable & Sendable, Value.RawValue: AttributeValue {
  @inlinable @inline(__always)
  static var enumeration: _AttributeCoding {
    _AttributeCoding(
      storage: { Value.RawValue._storage }, store: { $0.rawValue._storedValue },
      load: { Value.RawValue._value(from: $0).flatMap { Value(rawValue: $0) } },
      read: { (reader) throws(StoreError) in try reader.read(Value.self) })
  }
}

extension _AttributeCoding {
  @inlinable @inline(__always)
  static func optionalEnumeration<W: RawRepresentable & Sendable>() -> _AttributeCoding
  where Value == W?, W.RawValue: AttributeValue {
    _AttributeCoding(
      storage: { W.RawValue?._storage }, store: { $0.map(\.rawValue)._storedValue },
      load: { stored in
        guard let raw = W.RawValue?._value(from: stored) else { return nil }
        guard let raw else { return .some(nil) }
        return W(rawValue: raw).map { .some($0) }
      },
      read: { (reader) throws(StoreError) in try reader.read(W?.self) })
  }
}

extension _AttributeCoding where Value: Codable & Sendable {
  @inlinable @inline(__always)
  static var document: _AttributeCoding {
    _AttributeCoding(
      storage: { .document }, store: { try StoredValue(encoding: $0) },
      load: { (try? $0.decoded(Value.self)) ?? nil },
      read: { (reader) throws(StoreError) in try reader.read(Value.self) })
  }
}

extension _AttributeCoding
where Value: _OptionalDocument & Sendable, Value._Wrapped: Sendable {
  @inlinable @inline(__always)
  static var optionalDocument: _AttributeCoding {
    _AttributeCoding(
      storage: { .optionalDocument },
      store: { try $0._wrapped.map { try StoredValue(encoding: $0) } ?? .noValue },
      load: { stored in
        if stored.isNull { return Value(_wrapped: nil) }
        return ((try? stored.decoded(Value._Wrapped.self)) ?? nil).map { Value(_wrapped: $0) }
      },
      read: { (reader) throws(StoreError) in
        Value(_wrapped: try reader.read(Value._Wrapped?.self))
      })
  }
}

/// The attributes of an entity that names none: conditions are said by `#Predicate` or as format
/// strings.
public struct NoAttributes: Sendable {
  /// The only value.
  public init() {}
}

extension Entity where Attributes == NoAttributes {
  /// None.
  @_documentation(visibility: internal)
  public static var attributes: NoAttributes { NoAttributes() }
}
