internal import LMDB
internal import LodestoreFormat

/// The unique key by which references identify the records of an entity.
///
/// The key is computed once for each entity and cached, because every reading and writing of a
/// reference needs it.
final class ReferenceKey: Sendable {
  /// One attribute of the key.
  struct Part: Sendable {
    /// The index in the schema's attributes.
    let ordinal: Int
    let name: String
    let type: AttributeType
  }

  let entity: String
  let parts: [Part]
  /// The reason why references to the entity are impossible; `nil` when they are possible.
  let fault: String?

  /// The type as which a reference is stored.
  var storedType: AttributeType { parts.count == 1 ? parts[0].type : .string }

  var ordinals: [Int?] { parts.map(\.ordinal) }

  private init<E: Entity>(_ schema: EntitySchema<E>) {
    entity = schema.name
    var parts: [Part] = []
    var fault = schema.unique.isEmpty ? "it has no unique key" : nil
    for path in schema.unique.first ?? [] {
      guard let ordinal = schema.index(of: path) else {
        fault = "its unique key names a property that is no attribute"
        continue
      }
      let attribute = schema.attributes[ordinal]
      guard attribute.storage.target == nil else {
        fault = "'\(attribute.name)' of its unique key is a reference itself"
        continue
      }
      let type = attribute.storage.type
      if type == .recordID {
        fault =
          "'\(attribute.name)' of its unique key is a record id, which leads to another record in "
          + "another generation"
      } else if !type.isIndexable {
        fault = "'\(attribute.name)' of its unique key is stored as a \(type.name)"
      }
      parts.append(Part(ordinal: ordinal, name: attribute.name, type: type))
    }
    self.parts = parts
    self.fault = fault
  }

  private static let known = Guarded<[ObjectIdentifier: ReferenceKey]>([:])

  static func of<E: Entity>(_: E.Type) -> ReferenceKey {
    let type = ObjectIdentifier(E.self)
    if let key = known.withLock({ $0[type] }) { return key }
    // The schema is computed by the program's code, which may need other keys, so it is evaluated
    // outside the lock.
    let key = ReferenceKey(E.schema)
    known.withLock { $0[type] = key }
    return key
  }

  /// Throws when references to the entity are impossible.
  func check(_ attribute: String? = nil, of owner: String? = nil) throws(StoreError) {
    guard let fault else { return }
    let subject = attribute.map { "attribute '\($0)' cannot refer to \(entity)" }
    throw .badSchema(
      entity: owner ?? entity, attribute: attribute,
      "\(subject ?? "no reference can lead to it"): \(fault); declare with #Unique, as its first, a "
        + "key of plain values")
  }

  // MARK: Values and their stored form

  /// Returns the stored form of the key with `values`, one for each part.
  func stored(_ values: [Value]) throws(StoreError) -> Value {
    try check()
    for (part, value) in zip(parts, values) where value == .null {
      throw StoreError(
        .unstorableValue, "cannot refer to \(entity): '\(part.name)' of its unique key is null",
        entity: entity, attribute: part.name)
    }
    return parts.count == 1 ? values[0] : .string(ReferenceText.text(values))
  }

  /// Returns the values of a key in its stored form; `nil` when `stored` is not a key of this
  /// entity.
  func values(of stored: Value) -> [Value]? {
    guard fault == nil else { return nil }
    guard parts.count != 1 else { return stored.fits(parts[0].type) ? [stored] : nil }
    guard case .string(let text) = stored else { return nil }
    return ReferenceText.values(text, parts.map(\.type))
  }

  /// Returns the key's values in a record.
  func values<E: Entity>(of record: E) throws(StoreError) -> [Value] {
    try check()
    let attributes = E.schema.attributes
    var values: [Value] = []
    for part in parts {
      guard let value = Self.stored(record[keyPath: attributes[part.ordinal].keyPath]) else {
        throw StoreError(
          .unstorableValue,
          "cannot refer to \(entity): a value of '\(part.name)', which is in its unique key, cannot be "
            + "stored", entity: entity, attribute: part.name)
      }
      values.append(value.value)
    }
    return values
  }

  /// Returns the stored form of an indexed attribute: a scalar or an enumeration, perhaps optional.
  private static func stored(_ value: Any) -> StoredValue? {
    if let value = value as? any AttributeValue { return value._storedValue }
    if let value = value as? any RawRepresentable {
      return (value.rawValue as? any AttributeValue)?._storedValue
    }
    guard let optional = value as? any _OptionalDocument else { return nil }
    func wrapped<V: _OptionalDocument>(_ value: V) -> StoredValue? {
      value._wrapped.map { stored($0) } ?? .null
    }
    return wrapped(optional)
  }
}
