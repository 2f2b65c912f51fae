internal import LodestoreFormat

/// A record that is being filled: attribute by attribute, knowing which have been assigned.
///
/// Attributes are assigned and read as properties of `E`. One that was not assigned reads as nil.
/// Assigning nil makes an optional attribute null, and takes the value of a required one back.
@dynamicMemberLookup
public struct RecordDraft<E: Entity> {
  private let assembly: RecordAssembly
  private let places: PlacesByPath
  /// The first value that could not be taken.
  private var failure: StoreError?

  init(_ entity: StoredEntity) {
    assembly = RecordAssembly(entity)
    places = PlacesByPath(E.self, entity)
  }

  var isGiven: [Bool] { assembly.isGiven }

  mutating func begin() {
    assembly.begin()
    failure = nil
  }

  func content(isPart: Bool) throws(StoreError) -> UnsafeRawBufferPointer {
    if let failure { throw failure }
    if !isPart, let attribute = assembly.missing {
      throw StoreError(
        .unstorableValue,
        "cannot insert a \(assembly.entity.name): '\(attribute.name)' was not given, and is required",
        entity: assembly.entity.name, attribute: attribute.name)
    }
    return assembly.content()
  }

  /// Assigns the attributes named in `dictionary`.
  mutating func take(_ dictionary: [String: any AttributeValue]) throws(StoreError) {
    for (name, value) in dictionary {
      guard let place = places.byName[name] else {
        let nearest = NearestName.of(name, among: Array(places.byName.keys))
        let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
        throw StoreError(
          .unstorableValue,
          "cannot insert a \(assembly.entity.name): '\(name)' is no attribute of it\(hint)",
          entity: assembly.entity.name, attribute: name)
      }
      give(value.storedValue.value, at: place)
      if let cases = places.cases[place], failure == nil,
        !cases.contain(StoredValue(assembly.values[place]))
      {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(assembly.entity.name): '\(name)' was given a raw value that is no case "
            + "of \(cases.name)",
          entity: assembly.entity.name, attribute: name)
      }
    }
    if let failure { throw failure }
  }

  private mutating func give(_ value: Value, at place: Int) {
    let attribute = assembly.attributes[place]
    // What fits goes as it is; a number may come in another width.
    let stored =
      value == .null || value.fits(attribute.type)
      ? value : DynamicValue(value).stored(in: attribute.type)
    guard let stored, stored != .null || attribute.isOptional else {
      if attribute.type == .recordID, value == .integer(0) {
        failure = failure ?? .unassignedID(assembly.entity.name, attribute: attribute.name)
      }
      if failure == nil {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(assembly.entity.name): '\(attribute.name)' is "
            + "\(attribute.isOptional ? "" : "a required ")\(attribute.type.name) and was given "
            + value.kindName,
          entity: assembly.entity.name, attribute: attribute.name)
      }
      return
    }
    assembly.give(stored, at: place)
  }

  private mutating func assign(_ value: Value?, to path: AnyKeyPath) {
    guard let place = places.byPath[path] else {
      if failure == nil {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(assembly.entity.name): \(path) is no attribute of it",
          entity: assembly.entity.name)
      }
      return
    }
    if let value {
      give(value, at: place)
    } else if assembly.attributes[place].isOptional {
      assembly.give(.null, at: place)
    } else {
      assembly.takeBack(place)
    }
  }

  private mutating func assign(document value: (some Encodable)?, to path: AnyKeyPath) {
    do {
      assign(try value.map { try StoredValue(encoding: $0).value }, to: path)
    } catch {
      if failure == nil {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(assembly.entity.name): \(path) cannot be encoded: \(error)",
          cause: error,
          entity: assembly.entity.name)
      }
    }
  }

  private func value(at path: AnyKeyPath) -> StoredValue? {
    guard let place = places.byPath[path], assembly.isGiven[place] else { return nil }
    return StoredValue(assembly.values[place])
  }

  /// A scalar, or an optional one.
  public subscript<V: AttributeValue>(dynamicMember path: KeyPath<E, V>) -> V? {
    get { value(at: path).flatMap { V.value(from: $0) } }
    set { assign(newValue?.storedValue.value, to: path) }
  }

  /// An enumeration.
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E, V>
  ) -> V? where V.RawValue: AttributeValue {
    get { value(at: path).flatMap { V.RawValue.value(from: $0) }.flatMap { V(rawValue: $0) } }
    set { assign(newValue?.rawValue.storedValue.value, to: path) }
  }

  /// An optional enumeration.
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E, V?>
  ) -> V? where V.RawValue: AttributeValue {
    get { value(at: path).flatMap { V.RawValue.value(from: $0) }.flatMap { V(rawValue: $0) } }
    set { assign(newValue?.rawValue.storedValue.value, to: path) }
  }

  /// An array, a dictionary or a nested struct.
  @_disfavoredOverload
  public subscript<V: Codable & Sendable>(dynamicMember path: KeyPath<E, V>) -> V? {
    get {
      guard case .document(let bytes)? = value(at: path)?.value else { return nil }
      return bytes.withUnsafeBytes { try? DocumentCoding.decode(V.self, from: $0) }
    }
    set { assign(document: newValue, to: path) }
  }

  /// An optional array, dictionary or nested struct.
  @_disfavoredOverload
  public subscript<V: Codable & Sendable>(dynamicMember path: KeyPath<E, V?>) -> V? {
    get {
      guard case .document(let bytes)? = value(at: path)?.value else { return nil }
      return bytes.withUnsafeBytes { try? DocumentCoding.decode(V.self, from: $0) }
    }
    set { assign(document: newValue, to: path) }
  }
}

/// Where the attributes of a type are in the layout of its entity.
private final class PlacesByPath {
  let byPath: [AnyKeyPath: Int]
  let byName: [String: Int]
  /// Of the attributes that hold enumerations.
  let cases: [Int: any EnumerationCases]

  init<E: Entity>(_: E.Type, _ entity: StoredEntity) {
    let names = entity.description.declaredAttributes.enumerated()
      .filter { place, _ in entity.part?.isGiven[place] ?? true }.map { ($1.name, $0) }
    let byName = Dictionary(names, uniquingKeysWith: { first, _ in first })
    self.byName = byName
    var cases: [Int: any EnumerationCases] = [:]
    for (name, found) in E.schema.cases {
      if let place = byName[name] { cases[place] = found }
    }
    self.cases = cases
    byPath = Dictionary(
      E.schema.attributes.compactMap { attribute in
        byName[attribute.name].map { (attribute.keyPath as AnyKeyPath, $0) }
      }, uniquingKeysWith: { first, _ in first })
  }
}
