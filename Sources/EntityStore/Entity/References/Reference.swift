internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// A reference from a record of the program's own store to a record of a dataset that is replaced
/// as a whole.
///
///     @Entity struct Note {
///       var pod: Reference<Pod>
///       var text: String
///       #Unique<Note>([\.pod])
///     }
///     try store.insert(Note(pod: try Reference(pod), text: "try this one"))
///
/// Record ids differ from one generation of a dataset to the next. A reference therefore holds the
/// target's values in its first unique key that `#Unique` declares. In the next generation, a
/// record with this key is the target again; without such a record the reference dangles. A
/// dangling reference is not an error: ``AttachedSnapshot/resolve(_:)-(Reference<T>?)`` returns
/// `nil` for it, and a later generation may contain the record again.
///
/// A key of one attribute is stored like that attribute. A key of several attributes is stored as
/// text, the JSON array of their values, such as `["AFNetworking","2.0.0"]`. An attribute of either
/// form can be indexed, unique, compared and ordered like others of its type. In the text form,
/// numbers are ordered as text.
///
/// The key may contain neither record ids nor references. Opening a store throws
/// ``StoreError/Code/badSchema`` when an entity refers to a target with such a key or without a
/// unique key.
public struct Reference<Target: Entity>: Sendable, Hashable {
  /// The key as the record stores it.
  let stored: StoredValue

  init(_ stored: StoredValue) { self.stored = stored }

  init(_ values: [Value]) throws(StoreError) {
    stored = StoredValue(try ReferenceKey.of(Target.self).stored(values))
  }

  /// Creates a reference to `target` from its values in the unique key.
  ///
  /// The record need not be in a store.
  ///
  /// - Throws: ``StoreError/Code/unstorableValue`` when one of the values is null;
  ///   ``StoreError/Code/badSchema`` when the target has no key that a reference can hold.
  public init(_ target: Target) throws(StoreError) {
    try self.init(try ReferenceKey.of(Target.self).values(of: target))
  }

  /// The values of the key; `nil` when the stored text is not a key of the target.
  var values: [Value]? { ReferenceKey.of(Target.self).values(of: stored.value) }
}

extension Reference: CustomStringConvertible {
  /// The name of the target entity, and the key as text.
  public var description: String { "\(Target.schema.name) \(KeyText.text(of: stored.value))" }
}

extension Reference: IndexableValue {
  /// Stored like the key of the target.
  public static var _storage: AttributeStorage { AttributeStorage(referringTo: Target.self) }

  /// The key.
  public var _storedValue: StoredValue { stored }

  /// The reference with this key.
  public static func _value(from stored: StoredValue) -> Reference? {
    stored.value.fits(ReferenceKey.of(Target.self).storedType) ? Reference(stored) : nil
  }

  /// Writes the key.
  public func _write(to writer: inout RecordWriter) {
    writer.write(stored.value, as: ReferenceKey.of(Target.self).storedType)
  }

  /// Reads the key.
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Reference {
    Reference(try reader.readStored(as: ReferenceKey.of(Target.self).storedType))
  }
}

/// The type of an attribute that holds references: ``Reference``, or an optional one.
///
/// Do not conform to this protocol.
@_documentation(visibility: internal)
public protocol ReferenceValue: AttributeValue {
  /// The entity of the target records.
  associatedtype Target: Entity
}

extension Reference: ReferenceValue {}

extension Optional: ReferenceValue where Wrapped: ReferenceValue {
  /// The target entity of the wrapped reference.
  @_documentation(visibility: internal)
  public typealias Target = Wrapped.Target
}

extension RecordWriter {
  /// Writes a value whose type is known only at run time; if the value does not fit the type, the
  /// insert or update will fail.
  fileprivate mutating func write(_ value: Value, as type: AttributeType) {
    let isFitting = value.fits(type)
    if !isFitting { fail(UnfittingReference(type: type)) }
    switch value {
    case .string(let text) where isFitting: text._write(to: &self)
    case .data(let bytes) where isFitting: bytes._withBytes { writeVariable($0) }
    default:
      if type.isVariable {
        writeVariable(ByteView())
      } else {
        writeSlot(isFitting ? value : .null, as: type)
      }
    }
  }
}

/// The error for a reference whose stored key has another type than the current key of its target.
private struct UnfittingReference: Error, CustomStringConvertible {
  let type: AttributeType

  var description: String {
    "the reference is not of type \(type.name), the type of its target's key"
  }
}

extension RecordReader {
  /// Reads a value whose type is known only at run time.
  fileprivate mutating func readStored(as type: AttributeType) throws(StoreError) -> StoredValue {
    switch type {
    case .bool: try readStored(Bool.self)
    case .int8: try readStored(Int8.self)
    case .int16: try readStored(Int16.self)
    case .int32: try readStored(Int32.self)
    case .int64: try readStored(Int64.self)
    case .uint8: try readStored(UInt8.self)
    case .uint16: try readStored(UInt16.self)
    case .uint32: try readStored(UInt32.self)
    case .uint64: try readStored(UInt64.self)
    case .float: try readStored(Float.self)
    case .double: try readStored(Double.self)
    case .date: try readStored(Date.self)
    case .uuid: try readStored(UUID.self)
    case .decimal: try readStored(Decimal.self)
    case .data: try readStored(Data.self)
    case .string, .url, .recordID, .json, .document: try readStored(String.self)
    }
  }

  private mutating func readStored<V: AttributeValue>(_: V.Type) throws(StoreError) -> StoredValue {
    try V._read(from: &self)._storedValue
  }
}
