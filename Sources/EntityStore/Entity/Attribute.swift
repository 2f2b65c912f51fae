internal import LodestoreFormat

/// An attribute of an entity, as conditions, orders, projections, views and updates name it.
///
/// `@Entity` generates a struct of attributes. A handwritten struct identifies each attribute by
/// its index in ``EntitySchema/attributes``:
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
/// Inside a condition, `$0.license["type"]` and `$0.name.lowercased()` are attributes too. Their
/// values are computed from a stored attribute. Conditions can compare computed attributes; only
/// stored ones can be fetched, assigned and indexed.
public struct Attribute<E: Entity, Value>: Sendable {
  /// The index in the schema's attributes; negative for the record's id.
  @usableFromInline let ordinal: Int
  @usableFromInline let coding: any AttributeCoding<Value>.Type
  /// The value that is computed from the attribute; `nil` for the stored value itself.
  @usableFromInline let derived: DerivedAttribute?

  @inlinable @inline(__always)
  init(_ ordinal: Int, _ coding: any AttributeCoding<Value>.Type) {
    self.init(ordinal, coding, derived: nil)
  }

  @usableFromInline @inline(__always)
  init(_ ordinal: Int, _ coding: any AttributeCoding<Value>.Type, derived: DerivedAttribute?) {
    self.ordinal = ordinal
    self.coding = coding
    self.derived = derived
  }

  /// The index of a stored attribute in the schema's attributes; `nil` for a derived one and for
  /// the id.
  @inlinable @inline(__always)
  var storedOrdinal: Int? { derived == nil && ordinal >= 0 ? ordinal : nil }
}

/// A value computed from an attribute; the query code defines the subclasses.
///
/// The type is a class, so that an attribute without a computed value costs nothing. The `Sendable`
/// conformance is unchecked because the class has subclasses, which hold constants only.
@usableFromInline
class DerivedAttribute: @unchecked Sendable {}

// MARK: Types of attributes

extension Attribute where Value: AttributeValue {
  /// The attribute at index `ordinal` of the schema, counted from 0.
  ///
  /// The call also takes enumerations, which are stored as their raw values, and `Codable` values,
  /// which are stored as documents. Each may be optional.
  @inlinable @inline(__always)
  public init(_ ordinal: Int) { self.init(ordinal, ScalarCoding<Value>.self) }
}

extension Attribute {
  /// The attribute at index `ordinal` of the schema: an enumeration, stored as its raw value.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: RawRepresentable & Sendable, Value.RawValue: AttributeValue {
    self.init(ordinal, EnumerationCoding<Value>.self)
  }

  /// The attribute at index `ordinal` of the schema: an enumeration that may be null.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init<W: RawRepresentable & Sendable>(_ ordinal: Int)
  where Value == W?, W.RawValue: AttributeValue {
    self.init(ordinal, OptionalEnumerationCoding<W>.self)
  }

  /// The attribute at index `ordinal` of the schema: an enumeration that is an ``AttributeValue``.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: AttributeValue & RawRepresentable, Value.RawValue: AttributeValue {
    self.init(ordinal, ScalarCoding<Value>.self)
  }

  /// The attribute at index `ordinal` of the schema: an enumeration that is an ``AttributeValue``
  /// and may be null.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public init<W: AttributeValue & RawRepresentable>(_ ordinal: Int)
  where Value == W?, W.RawValue: AttributeValue { self.init(ordinal, ScalarCoding<Value>.self) }

  /// The attribute at index `ordinal` of the schema: a `Codable` value, stored as a document.
  @inlinable @inline(__always) @_disfavoredOverload @_documentation(visibility: internal)
  public init(_ ordinal: Int) where Value: Codable & Sendable {
    self.init(ordinal, DocumentAttributeCoding<Value>.self)
  }

  /// The attribute at index `ordinal` of the schema: a `Codable` value that may be null.
  @inlinable @inline(__always) @_disfavoredOverload @_documentation(visibility: internal)
  public init(_ ordinal: Int)
  where Value: _OptionalDocument & Sendable, Value._Wrapped: Sendable {
    self.init(ordinal, OptionalDocumentCoding<Value>.self)
  }
}

/// A `Codable` value that may be null; only `Optional` conforms.
///
/// The initializer of ``Attribute`` for optional documents must be more specialized than the one
/// for any `Codable` value. A constraint to this protocol makes it so; a generic parameter for the
/// wrapped type would not.
public protocol _OptionalDocument: Codable {
  associatedtype _Wrapped: Codable

  /// The wrapped value; `nil` for null.
  var _wrapped: _Wrapped? { get }

  /// Creates null from `nil`, otherwise the wrapped value.
  init(_wrapped: _Wrapped?)
}

extension Optional: _OptionalDocument where Wrapped: Codable {
  /// The optional itself.
  @inlinable @inline(__always)
  public var _wrapped: Wrapped? { self }

  /// Creates the optional itself.
  @inlinable @inline(__always)
  public init(_wrapped: Wrapped?) { self = _wrapped }
}

extension Attribute where Value == RecordID<E> {
  /// The record's id.
  @inlinable @inline(__always)
  public static var recordID: Attribute { Attribute(-1, ScalarCoding<Value>.self) }
}

/// The attributes of an entity that declares none.
///
/// Conditions on such an entity are written with `#Predicate` or as format strings.
public struct NoAttributes: Sendable {
  /// Creates the only value of the type.
  public init() {}
}

extension Entity where Attributes == NoAttributes {
  /// The placeholder for an entity without declared attributes.
  @_documentation(visibility: internal)
  public static var attributes: NoAttributes { NoAttributes() }
}
