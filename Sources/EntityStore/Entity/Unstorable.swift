// Overloads that the compiler chooses when a property's type cannot be stored.
//
// Only the attribute's definition is unavailable, with a message that suggests a solution. All
// further overloads compile and never run, so that the program gets one error and not many.

extension AttributeDefinition {
  /// Unavailable, because the type has no stored form.
  @available(
    *, unavailable,
    message: """
      this type cannot be stored: give an enumeration a raw value ('enum Kind: String'), make a struct or \
      an enumeration Codable and Sendable; for records of another entity, let that entity hold the \
      RecordID of this one
      """
  )
  @_disfavoredOverload @_documentation(visibility: internal)
  public init<V>(
    _ name: String, _ keyPath: any KeyPath<E, V> & Sendable, originalName: String? = nil,
    initial: V? = nil, constraints: [AttributeConstraint] = []
  ) {
    preconditionFailure("not called: it is unavailable")
  }
}

extension Attribute {
  /// Creates the attribute of a type that its definition refuses.
  @_disfavoredOverload @_documentation(visibility: internal)
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
  /// Lets the generated code compile, so that only the attribute's definition has an error.
  ///
  /// This method never runs.
  @_disfavoredOverload @_documentation(visibility: internal)
  public mutating func read<V>(_: V.Type = V.self) throws(StoreError) -> V { throw .unstorableType }
}

extension RecordWriter {
  /// Lets the generated code compile, so that only the attribute's definition has an error.
  ///
  /// This method never runs.
  @_disfavoredOverload @_documentation(visibility: internal)
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
