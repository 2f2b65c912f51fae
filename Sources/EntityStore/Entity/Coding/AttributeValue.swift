package import LodestoreFormat

/// A Swift type that can be an attribute: the scalars of the format and their optionals.
///
/// The library conforms `Bool`, the integers, `Float`, `Double`, `String`, `Data`, `Date`, `UUID`,
/// `URL`, `Decimal` and `JSONValue`. Enumerations with such a raw value, and any `Codable` type,
/// are stored without conforming. Do not conform other types to it: its requirements have names
/// with an underscore and are the library's own.
public protocol AttributeValue: Sendable {
  /// How values are stored.
  static var _storage: AttributeStorage { get }
  /// The value without its Swift type.
  var _storedValue: StoredValue { get }
  /// The value that has been stored so; `nil` for a value of another type.
  static func _value(from stored: StoredValue) -> Self?
  /// Writes the value as the next attribute of a record.
  func _write(to writer: inout RecordWriter)
  /// Reads the next attribute of a record.
  static func _read(from reader: inout RecordReader) throws(StoreError) -> Self
}

/// A Swift type whose values can be looked up and ordered in an index.
///
/// Enumerations with an indexable raw value can conform by saying so; nothing needs to be written.
/// Order is that of the index: false before true, numbers by value with NaN last, dates by time,
/// text and URLs by their UTF-8 bytes, data and UUIDs by bytes, and null first.
///
/// It is `Codable` too, which `#Predicate` asks of the values that it compares. An enumeration with
/// a raw value is so by itself.
public protocol IndexableValue: AttributeValue, Codable {}

/// How an attribute is stored: opaque; made by the library.
@_documentation(visibility: internal)
public struct AttributeStorage: Sendable {
  /// That of the target's key for a reference, which is looked up when it is asked for: a schema
  /// can be in the making that refers to itself.
  package var type: AttributeType {
    get { target.map { ReferenceKey.of($0).storedType } ?? plainType }
    set { plainType = newValue }
  }
  private var plainType: AttributeType
  package var isOptional: Bool
  package var shape: String?
  /// The entity that the values refer to by its unique key; `nil` where they are no references.
  var target: (any Entity.Type)?
  /// The outline of the documents; `nil` where the program declares none.
  var members: DocumentOutline?
  /// The type that `shape` names, where a program declares it.
  var documentType: (any (Decodable & Sendable).Type)?

  package init(type: AttributeType, isOptional: Bool = false, shape: String? = nil) {
    plainType = type
    self.isOptional = isOptional
    self.shape = shape
  }

  /// As the unique key of `target`.
  init(referringTo target: any Entity.Type) {
    self.init(type: .string)
    self.target = target
  }

  /// As documents of `type`.
  init(documentsOf type: any (Decodable & Sendable).Type) {
    self.init(type: .document, shape: "\(type)")
    documentType = type
  }

  /// The storage with the outline of documents of its type.
  var outlined: AttributeStorage {
    var storage = self
    storage.members = documentType.map { DocumentOutline(of: $0) }
    return storage
  }

  /// Whether values that are stored as `attribute` can be read as this storage declares, by their
  /// descriptions.
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

/// A stored value without its Swift type: opaque; made by the library.
@_documentation(visibility: internal)
public struct StoredValue: Sendable, Hashable {
  var value: Value

  init(_ value: Value) { self.value = value }

  static let null = StoredValue(.null)

  /// A value kept as a document; null when it cannot be encoded.
  init(document value: some Encodable) {
    self = (try? StoredValue(encoding: value)) ?? .null
  }

  @usableFromInline static var noValue: StoredValue { .null }

  @usableFromInline var isNull: Bool { value == .null }

  /// A value kept as a document; throws what its encoding throws.
  @usableFromInline
  init(encoding value: some Encodable) throws {
    var writer = DocumentWriter()
    try DocumentCoding.encode(value, into: &writer)
    self.init(.document(writer.bytes))
  }

  /// The value that is kept as a document; `nil` where none is.
  @usableFromInline
  func decoded<V: Decodable>(_: V.Type) throws -> V? {
    guard case .document(let bytes) = value else { return nil }
    return try bytes.withUnsafeBytes { try DocumentCoding.decode(V.self, from: $0) }
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// As the wrapped type, and nullable.
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
  /// As the raw value.
  public static var _storage: AttributeStorage { RawValue._storage }

  /// The raw value.
  public var _storedValue: StoredValue { rawValue._storedValue }

  /// The case with the raw value; `nil` where no case has it.
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
