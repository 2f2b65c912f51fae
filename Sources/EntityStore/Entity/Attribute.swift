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
  @usableFromInline let coding: any AttributeCoding<Value>.Type
  /// What is worked out of the attribute; `nil` for itself.
  @usableFromInline let derived: DerivedAttribute?

  @inlinable @inline(__always)
  init(_ ordinal: Int, _ coding: any AttributeCoding<Value>.Type) {
    self.init(ordinal, coding, derived: nil)
  }

  @usableFromInline @inline(__always)
  init(
    _ ordinal: Int, _ coding: any AttributeCoding<Value>.Type, derived: DerivedAttribute?
  ) {
    self.ordinal = ordinal
    self.coding = coding
    self.derived = derived
  }

  /// The index of a stored attribute in the schema's attributes; `nil` for a derived one and for the id.
  @inlinable @inline(__always)
  var storedOrdinal: Int? { derived == nil && ordinal >= 0 ? ordinal : nil }
}

/// What is worked out of an attribute, as conditions know it; a class, so that an attribute without one
/// costs nothing.
///
/// Unchecked because it has subclasses; these hold constants.
@usableFromInline
class DerivedAttribute: @unchecked Sendable {}

// MARK: What can be an attribute

extension Attribute where Value: AttributeValue {
  /// The attribute that is the `ordinal`th of the schema, counted from 0.
  ///
  /// The same call takes enumerations, stored as their raw values, and `Codable` values, stored as
  /// documents; each may be optional.
  @inlinable @inline(__always)
  public init(_ ordinal: Int) { self.init(ordinal, ScalarCoding<Value>.self) }
}

extension Attribute {
  /// The attribute that is the `ordinal`th of the schema: an enumeration, stored as its raw value.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: RawRepresentable & Sendable, Value.RawValue: AttributeValue {
    self.init(ordinal, EnumerationCoding<Value>.self)
  }

  /// The attribute that is the `ordinal`th of the schema: an enumeration that may be null.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init<W: RawRepresentable & Sendable>(_ ordinal: Int)
  where Value == W?, W.RawValue: AttributeValue {
    self.init(ordinal, OptionalEnumerationCoding<W>.self)
  }

  /// The attribute that is the `ordinal`th of the schema: an enumeration that is an ``AttributeValue``.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: AttributeValue & RawRepresentable, Value.RawValue: AttributeValue {
    self.init(ordinal, ScalarCoding<Value>.self)
  }

  /// The attribute that is the `ordinal`th of the schema: an enumeration that is an ``AttributeValue``
  /// and may be null.
  @inlinable @inline(__always)
  @_documentation(visibility: internal)
  public init<W: AttributeValue & RawRepresentable>(_ ordinal: Int)
  where Value == W?, W.RawValue: AttributeValue {
    self.init(ordinal, ScalarCoding<Value>.self)
  }

  /// The attribute that is the `ordinal`th of the schema: a `Codable` value, stored as a document.
  @inlinable @inline(__always) @_disfavoredOverload
  @_documentation(visibility: internal)
  public init(_ ordinal: Int) where Value: Codable & Sendable {
    self.init(ordinal, DocumentAttributeCoding<Value>.self)
  }

  /// The attribute that is the `ordinal`th of the schema: a `Codable` value that may be null.
  @inlinable @inline(__always) @_disfavoredOverload
  @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: _OptionalDocument & Sendable, Value._Wrapped: Sendable {
    self.init(ordinal, OptionalDocumentCoding<Value>.self)
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
  public static var recordID: Attribute { Attribute(-1, ScalarCoding<Value>.self) }
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
