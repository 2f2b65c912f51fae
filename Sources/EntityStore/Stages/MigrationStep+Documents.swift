internal import LodestoreBytes
internal import LodestoreFormat

// Steps for values of nested `Codable` types, which are stored as documents.

extension MigrationStep {
  /// Converts the values of an attribute with a closure, between nested types.
  ///
  ///     .convert("place", of: "Film") { (old: OldPlace) in Place(city: old.town, zip: nil) }
  ///
  /// `Old` decodes the documents in the file, like a type of an earlier version of the program. If
  /// it is optional, null is converted too. Otherwise null stays null, and an optional attribute
  /// stays optional.
  ///
  /// - Throws: when documents cannot be decoded as `Old`, listing the first ten records.
  @_disfavoredOverload
  public static func convert<Old: Codable & Sendable, New: Codable & Sendable>(
    _ attribute: String, of entity: String, _ conversion: @escaping @Sendable (Old) throws -> New
  ) -> MigrationStep {
    let (old, new) = (StepValue(Old.self), StepValue(New.self))
    return step(attribute, of: entity, to: new.storage, from: old.storage) { value in
      try old.load(value).map { try new.store(try conversion($0)) }
    }
  }

  /// Changes the members of each object in an attribute's documents, which are then read as `New`.
  ///
  ///     .convert("place", of: "Film", to: Place.self) { place in
  ///       place.rename("town", to: "city")
  ///       if place["zip", as: String.self] == nil { place["zip"] = "" }
  ///     }
  ///
  /// No earlier type is needed. `change` is called with the document, or with each element if the
  /// document is an array. Null stays null.
  ///
  /// - Throws: when results cannot be decoded as `New`, or documents contain no object, listing the
  ///   first ten records.
  public static func convert<New: Codable & Sendable>(
    _ attribute: String, of entity: String, to _: New.Type,
    _ change: @escaping @Sendable (inout MigratedDocument) throws -> Void
  ) -> MigrationStep {
    let new = StepValue(New.self)
    return step(attribute, of: entity, to: new.storage, from: nil) { value in
      guard case .document(let bytes) = value else { return nil }
      let old = try bytes._withBytes { try Document(decoding: $0) }
      guard let changed = try MigratedDocument.changed(old, change) else { return nil }
      let result = Value.document(changed.encoded())
      _ = try new.load(result)
      return result
    }
  }

  /// Adds an attribute of a nested type, for steps that set its values.
  ///
  /// - Parameter initial: its value in existing records; required when `V` is not optional.
  /// - Complexity: does not depend on the number of records.
  @_disfavoredOverload
  public static func add<V: Codable & Sendable>(
    _ attribute: String, to entity: String, _: V.Type = V.self, initial: V? = nil
  ) -> MigrationStep {
    MigrationStep("add \(entity).\(attribute)") { run in
      let new = StepValue(V.self)
      try run.add(
        attribute, to: entity, new.storage, initial: try initial.map { try new.store($0) } ?? .null)
    }
  }

  private static func step(
    _ attribute: String, of entity: String, to storage: AttributeStorage,
    from old: AttributeStorage?, _ conversion: @escaping @Sendable (Value) throws -> Value?
  ) -> MigrationStep {
    MigrationStep(
      "convert \(entity).\(attribute) to \(storage.shape ?? storage.type.name)", pass: entity
    ) { run in
      if let old { try run.check(attribute, of: entity, is: old) }
      try run.convert(
        attribute, of: entity, to: storage, asksForNull: old?.isOptional ?? false, conversion)
    }
  }
}

/// The storage of a `Codable` type: an ``AttributeValue`` is stored as a scalar, other types as
/// documents.
struct StepValue<V: Codable & Sendable>: Sendable {
  let storage: AttributeStorage
  /// The scalar type; `nil` for documents.
  private let scalar: (any AttributeValue.Type)?

  init(_: V.Type) {
    scalar = V.self as? any AttributeValue.Type
    if let scalar {
      storage = scalar._storage
    } else if let wrapped = (V.self as? any _OptionalDocument.Type)?.wrappedType {
      var storage = AttributeStorage(type: .document, isOptional: true, shape: "\(wrapped)")
      storage.members = DocumentOutline(of: wrapped)
      self.storage = storage
    } else {
      storage = AttributeStorage(documentsOf: V.self).outlined
    }
  }

  /// Returns the stored value as a value of the type; `nil` when it has another type.
  func load(_ value: Value) throws -> V? {
    if let scalar { return scalar.loaded(value) as? V }
    switch value {
    case .document(let bytes):
      return try bytes._withBytes { try DocumentCoding.decode(V.self, from: $0) }
    case .null where storage.isOptional: return try StoredValue.nullDocument.decoded(V.self)
    default: return nil
    }
  }

  func store(_ value: V) throws -> Value {
    if scalar != nil { return (value as? any AttributeValue)?._storedValue.value ?? .null }
    let stored = try StoredValue(encoding: value).value
    return storage.isOptional && stored == StoredValue.nullDocument.value ? .null : stored
  }
}

extension AttributeValue {
  /// Returns the stored value as a value of the type, which may be an empty optional.
  fileprivate static func loaded(_ value: Value) -> Any? { _value(from: StoredValue(value)) }
}

extension _OptionalDocument {
  /// The type of the values that are not null.
  fileprivate static var wrappedType: any Decodable.Type { _Wrapped.self }
}

extension StoredValue {
  /// Null, encoded as a document.
  fileprivate static let nullDocument = StoredValue(.document(Document.null.encoded()))
}
