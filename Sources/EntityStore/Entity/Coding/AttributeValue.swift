internal import LodestoreBytes
package import LodestoreFormat

/// A Swift type whose values an attribute can hold: the scalars of the format and their optionals.
///
/// The library conforms `Bool`, the integers, `Float`, `Double`, `String`, `Data`, `Date`, `UUID`,
/// `URL`, `Decimal` and `JSONValue`. Enumerations with a raw value of such a type, and any
/// `Codable` type, are stored without a conformance. Do not conform other types: the requirements
/// begin with an underscore and belong to the library.
public protocol AttributeValue: Sendable {
  /// The way in which values are stored.
  static var _storage: AttributeStorage { get }
  /// The value without its Swift type.
  var _storedValue: StoredValue { get }
  /// The value whose stored form is `stored`; `nil` when `stored` has another type.
  static func _value(from stored: StoredValue) -> Self?
  /// Writes the value as the next attribute of a record.
  func _write(to writer: inout RecordWriter)
  /// Reads the next attribute of a record.
  static func _read(from reader: inout RecordReader) throws(StoreError) -> Self
}

/// A Swift type whose values an index can look up and order.
///
/// An enumeration with an indexable raw value conforms by declaring it, without further code. The
/// order is the order of the index:
/// - False comes before true.
/// - Numbers are ordered by value, with NaN last, and dates by time.
/// - Text and URLs are ordered by their UTF-8 bytes, data and UUIDs by their bytes.
/// - Null comes first.
///
/// The values are also `Codable`, because `#Predicate` requires this of the values that it
/// compares. An enumeration with a raw value gets this conformance from the standard library.
public protocol IndexableValue: AttributeValue, Codable {}

/// The way in which an attribute is stored; an opaque value that the library creates.
@_documentation(visibility: internal)
public struct AttributeStorage: Sendable {
  /// The stored type; for a reference the type of the target's key.
  ///
  /// The target's key is looked up at each access. When this value is created, the target's schema
  /// may still be under construction, because references may lead back to it.
  package var type: AttributeType {
    get { target.map { ReferenceKey.of($0).storedType } ?? plainType }
    set { plainType = newValue }
  }
  private var plainType: AttributeType
  package var isOptional: Bool
  package var shape: String?
  /// The entity to which the values refer by its unique key; `nil` when the values are not
  /// references.
  var target: (any Entity.Type)?
  /// The outline of the documents; `nil` when the program declares none.
  var members: DocumentOutline?
  /// The Swift type that `shape` names, if the program declares it.
  var documentType: (any (Decodable & Sendable).Type)?

  package init(type: AttributeType, isOptional: Bool = false, shape: String? = nil) {
    plainType = type
    self.isOptional = isOptional
    self.shape = shape
  }

  /// Stores values as the unique key of `target`.
  init(referringTo target: any Entity.Type) {
    self.init(type: .string)
    self.target = target
  }

  /// Stores values as documents of `type`.
  init(documentsOf type: any (Decodable & Sendable).Type) {
    self.init(type: .document, shape: "\(type)")
    documentType = type
  }

  /// A copy of this storage that also has the outline of its documents: the names and types of
  /// their members.
  var outlined: AttributeStorage {
    var storage = self
    storage.members = documentType.map { DocumentOutline(of: $0) }
    return storage
  }

  /// Returns whether this storage can read the values of `attribute`.
  ///
  /// Compares descriptions only, not stored values.
  func reads(_ attribute: EntityDescription.Attribute) -> Bool {
    guard type == attribute.type else { return false }
    guard type == .document, let shape else { return true }
    guard let members, let stored = attribute.members else { return shape == attribute.shape }
    return members.changes(from: stored).allSatisfy(\.fits)
  }

  /// Whether values may be arrays.
  var hasElements: Bool {
    type == .json || documentType.map { DocumentType($0).element != nil } ?? false
  }

  /// Whether values may be arrays, objects or scalars.
  var isDocument: Bool { type == .json || type == .document }

  var optional: AttributeStorage {
    var storage = self
    storage.isOptional = true
    return storage
  }

  /// The storage of documents of any shape.
  @usableFromInline static var document: AttributeStorage { AttributeStorage(type: .document) }
  @usableFromInline static var optionalDocument: AttributeStorage { document.optional }
}

/// A stored value without its Swift type; an opaque value that the library creates.
@_documentation(visibility: internal)
public struct StoredValue: Sendable, Hashable {
  var value: Value

  init(_ value: Value) { self.value = value }

  static let null = StoredValue(.null)

  /// Encodes `value` as a document; the result is null when it cannot be encoded.
  init(document value: some Encodable) { self = (try? StoredValue(encoding: value)) ?? .null }

  @usableFromInline static var noValue: StoredValue { .null }

  @usableFromInline var isNull: Bool { value == .null }

  /// Encodes `value` as a document; throws the errors of its encoding.
  @usableFromInline
  init(encoding value: some Encodable) throws {
    var writer = DocumentWriter()
    try DocumentCoding.encode(value, into: &writer)
    self.init(.document(writer.bytes))
  }

  /// Decodes the document; `nil` when the value is not a document.
  @usableFromInline
  func decoded<V: Decodable>(_: V.Type) throws -> V? {
    guard case .document(let bytes) = value else { return nil }
    return try bytes._withBytes { try DocumentCoding.decode(V.self, from: $0) }
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// Stored as the wrapped type, and nullable.
  public static var _storage: AttributeStorage { Wrapped._storage.optional }

  /// The wrapped value, or null.
  public var _storedValue: StoredValue { self?._storedValue ?? .null }

  /// The wrapped value, or null.
  public static func _value(from stored: StoredValue) -> Self? {
    if stored.value == .null { return .some(nil) }
    return Wrapped._value(from: stored).map { .some($0) }
  }

  /// Writes the wrapped value, or null.
  @inlinable
  public func _write(to writer: inout RecordWriter) {
    if let self {
      writer.markPresent()
      self._write(to: &writer)
    } else {
      writer.writeNull(Wrapped.self)
    }
  }

  /// Reads the wrapped value, or null.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Self {
    if reader.nextIsNull() {
      reader.skip(Wrapped.self)
      return nil
    }
    return try Wrapped._read(from: &reader)
  }
}

extension Optional: IndexableValue where Wrapped: IndexableValue {}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// Stored as the raw value.
  public static var _storage: AttributeStorage { RawValue._storage }

  /// The raw value.
  public var _storedValue: StoredValue { rawValue._storedValue }

  /// The case with the raw value; `nil` when no case has it.
  public static func _value(from stored: StoredValue) -> Self? {
    RawValue._value(from: stored).flatMap { Self(rawValue: $0) }
  }

  /// Writes the raw value.
  @inlinable
  public func _write(to writer: inout RecordWriter) { rawValue._write(to: &writer) }

  /// Reads the raw value; throws ``StoreError/Code/undecodableValue`` when no case has it.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Self {
    let raw = try RawValue._read(from: &reader)
    guard let value = Self(rawValue: raw) else { throw reader.unknownCase(Self.self, raw) }
    return value
  }
}
