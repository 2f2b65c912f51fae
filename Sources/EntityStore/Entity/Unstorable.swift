// What the compiler takes when a property's type cannot be stored. Of all that an entity says of the
// property only its definition is refused, with the way out, so that there is one error and not a screenful;
// the others compile, and are never run.

extension AttributeDefinition {
  /// Refused: the type has no stored form.
  @available(
    *, unavailable,
    message: """
      this type cannot be stored: give an enumeration a raw value ('enum Kind: String'), make a struct or \
      an enumeration Codable and Sendable; for records of another entity, let that entity hold the \
      RecordID of this one
      """
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public init<V>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) {
    preconditionFailure("not called: it is unavailable")
  }
}

extension Attribute {
  /// The attribute of a type that its definition refuses.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public init(_ ordinal: Int) { self.init(ordinal, UnstorableCoding<Value>.self) }
}

@usableFromInline
enum UnstorableCoding<Value>: AttributeCoding {
  @usableFromInline static var storage: AttributeStorage { .document }
  @usableFromInline static func store(_: Value) throws -> StoredValue {
    throw UnstorableTypeError()
  }
  @usableFromInline static func load(_: StoredValue) -> Value? { nil }

  @usableFromInline
  static func read(from _: inout RecordReader) throws(StoreError) -> Value { throw .unstorableType }
}

extension RecordReader {
  /// Reads nothing, for a property whose definition is refused.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public mutating func read<V>(_: V.Type = V.self) throws(StoreError) -> V { throw .unstorableType }
}

extension RecordWriter {
  /// Writes nothing, for a property whose definition is refused.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public mutating func write<V>(_: V) { writeDocument { _ in throw UnstorableTypeError() } }
}

private struct UnstorableTypeError: Error, CustomStringConvertible {
  var description: String { "its type cannot be stored" }
}

extension StoreError {
  fileprivate static var unstorableType: StoreError {
    StoreError(.unstorableValue, "the type of an attribute cannot be stored")
  }
}
