internal import LodestoreBytes
internal import LodestoreFormat

/// A record that is filled attribute by attribute, and that notes which attributes were assigned.
///
/// Attributes are assigned and read as properties of `E`. An unassigned attribute reads as nil.
/// Assigning nil makes an optional attribute null, and removes the value of a required one.
@dynamicMemberLookup
public struct RecordDraft<E: Entity> {
  private let drafted: DraftedValues
  private let indices: AttributeIndices
  /// The error of the first invalid value.
  private var failure: StoreError?

  init(_ entity: StoredEntity) {
    drafted = DraftedValues(entity)
    indices = AttributeIndices(E.self, entity)
  }

  var isGiven: [Bool] { drafted.isGiven }

  mutating func begin() {
    drafted.begin()
    failure = nil
  }

  /// The encoded record, valid until the next record of the draft begins.
  func record(isPart: Bool) throws(StoreError) -> UnsealedRecord {
    if let failure { throw failure }
    if !isPart, let attribute = drafted.missing {
      throw StoreError(
        .unstorableValue,
        "cannot insert a \(drafted.entity.name): '\(attribute.name)' was not given, and is required",
        entity: drafted.entity.name, attribute: attribute.name)
    }
    return drafted.record()
  }

  /// Assigns the attributes named in `dictionary`.
  mutating func take(_ dictionary: [String: any AttributeValue]) throws(StoreError) {
    for (name, value) in dictionary {
      guard let index = indices.byName[name] else {
        if let attribute = drafted.attributes.first(where: { $0.name == name }),
          attribute.derivation != nil
        {
          throw .derivedGiven(drafted.entity.name, name)
        }
        let nearest = NearestName.of(name, among: Array(indices.byName.keys))
        let hint = nearest.map { "; did you mean '\($0)'?" } ?? ""
        throw StoreError(
          .unstorableValue,
          "cannot insert a \(drafted.entity.name): '\(name)' is no attribute of it\(hint)",
          entity: drafted.entity.name, attribute: name)
      }
      give(value._storedValue.value, at: index)
      if let cases = indices.cases[index], failure == nil,
        !cases.contain(StoredValue(drafted.values[index]))
      {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(drafted.entity.name): '\(name)' was given a raw value that is no case "
            + "of \(cases.name)",
          entity: drafted.entity.name, attribute: name)
      }
    }
    if let failure { throw failure }
  }

  private mutating func give(_ value: Value, at index: Int) {
    let attribute = drafted.attributes[index]
    // A value that fits is taken unchanged; a number may have another width.
    let stored =
      value == .null || value.fits(attribute.type)
      ? value : DynamicValue(value).stored(in: attribute.type)
    guard let stored, stored != .null || attribute.isOptional else {
      if attribute.type == .recordID, value == .integer(0) {
        failure = failure ?? .unassignedID(drafted.entity.name, attribute: attribute.name)
      }
      if failure == nil {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(drafted.entity.name): '\(attribute.name)' is "
            + "\(attribute.isOptional ? "" : "a required ")\(attribute.type.name) and was given "
            + value.kindName,
          entity: drafted.entity.name, attribute: attribute.name)
      }
      return
    }
    drafted.give(stored, at: index)
  }

  private mutating func assign(_ value: Value?, to path: AnyKeyPath) {
    guard let index = indices.byPath[path] else {
      let name = E.schema.index(of: path).map { E.schema.attributes[$0].name }
      if let name, drafted.attributes.contains(where: { $0.name == name && $0.derivation != nil }) {
        failure = failure ?? .derivedGiven(drafted.entity.name, name)
      } else if failure == nil {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(drafted.entity.name): \(path) is no attribute of it",
          entity: drafted.entity.name)
      }
      return
    }
    if let value {
      give(value, at: index)
    } else if drafted.attributes[index].isOptional {
      drafted.give(.null, at: index)
    } else {
      drafted.forget(at: index)
    }
  }

  private mutating func assign(document value: (some Encodable)?, to path: AnyKeyPath) {
    do {
      assign(try value.map { try StoredValue(encoding: $0).value }, to: path)
    } catch {
      if failure == nil {
        failure = StoreError(
          .unstorableValue,
          "cannot insert a \(drafted.entity.name): \(path) cannot be encoded: \(error)",
          cause: error,
          entity: drafted.entity.name)
      }
    }
  }

  private func value(at path: AnyKeyPath) -> StoredValue? {
    guard let index = indices.byPath[path], drafted.isGiven[index] else { return nil }
    return StoredValue(drafted.values[index])
  }

  /// The attribute's value; `nil` when it was not assigned.
  ///
  /// Enumerations and `Codable` values are assigned and read in this way too; each may be optional.
  public subscript<V: AttributeValue>(dynamicMember path: KeyPath<E, V>) -> V? {
    get { value(at: path).flatMap { V._value(from: $0) } }
    set { assign(newValue?._storedValue.value, to: path) }
  }

  /// The value of an attribute that holds an enumeration.
  @_documentation(visibility: internal)
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E, V>
  ) -> V? where V.RawValue: AttributeValue {
    get { value(at: path).flatMap { V.RawValue._value(from: $0) }.flatMap { V(rawValue: $0) } }
    set { assign(newValue?.rawValue._storedValue.value, to: path) }
  }

  /// The value of an attribute that holds an optional enumeration.
  @_documentation(visibility: internal)
  public subscript<V: RawRepresentable>(
    dynamicMember path: KeyPath<E, V?>
  ) -> V? where V.RawValue: AttributeValue {
    get { value(at: path).flatMap { V.RawValue._value(from: $0) }.flatMap { V(rawValue: $0) } }
    set { assign(newValue?.rawValue._storedValue.value, to: path) }
  }

  /// The value of an attribute that holds an array, a dictionary or a nested struct.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public subscript<V: Codable & Sendable>(dynamicMember path: KeyPath<E, V>) -> V? {
    get {
      guard case .document(let bytes)? = value(at: path)?.value else { return nil }
      return bytes._withBytes { try? DocumentCoding.decode(V.self, from: $0) }
    }
    set { assign(document: newValue, to: path) }
  }

  /// The value of an attribute that holds an optional array, dictionary or nested struct.
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public subscript<V: Codable & Sendable>(dynamicMember path: KeyPath<E, V?>) -> V? {
    get {
      guard case .document(let bytes)? = value(at: path)?.value else { return nil }
      return bytes._withBytes { try? DocumentCoding.decode(V.self, from: $0) }
    }
    set { assign(document: newValue, to: path) }
  }
}

extension StoreError {
  fileprivate static func derivedGiven(_ entity: String, _ attribute: String) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot insert a \(entity): '\(attribute)' is derived: the store keeps it, and it cannot be given",
      entity: entity, attribute: attribute)
  }
}

/// The positions of a type's attributes in the layout of its entity.
private final class AttributeIndices {
  let byPath: [AnyKeyPath: Int]
  let byName: [String: Int]
  /// The cases of the attributes that hold enumerations.
  let cases: [Int: any EnumerationCases]

  init<E: Entity>(_: E.Type, _ entity: StoredEntity) {
    let names = entity.description.declaredAttributes.enumerated()
      .filter { index, _ in
        (entity.part?.isGiven[index] ?? true) && entity.derivations?.isDerived[index] != true
      }.map { ($1.name, $0) }
    let byName = Dictionary(names, uniquingKeysWith: { first, _ in first })
    self.byName = byName
    var cases: [Int: any EnumerationCases] = [:]
    for (name, found) in E.schema.cases {
      if let index = byName[name] { cases[index] = found }
    }
    self.cases = cases
    byPath = Dictionary(
      E.schema.attributes.compactMap { attribute in
        byName[attribute.name].map { (attribute.keyPath as AnyKeyPath, $0) }
      }, uniquingKeysWith: { first, _ in first })
  }
}

/// The values of a draft, by attribute index, and their encoding.
///
/// One object is used for many records of one entity. The class is not thread-safe.
private final class DraftedValues {
  let entity: StoredEntity
  let attributes: [EntityDescription.Attribute]
  private(set) var values: [Value]
  private(set) var isGiven: [Bool]
  private let absent: [Value?]
  private var writer = RecordWriter()

  init(_ entity: StoredEntity) {
    self.entity = entity
    attributes = entity.description.declaredAttributes
    values = Array(repeating: .null, count: attributes.count)
    isGiven = Array(repeating: false, count: attributes.count)
    absent = attributes.map {
      $0.defaultValue == .null && !$0.isOptional ? nil : $0.defaultValue
    }
  }

  /// Begins a record.
  func begin() {
    for index in isGiven.indices { isGiven[index] = false }
  }

  /// Assigns a value, which must fit, to the attribute at `index`.
  func give(_ value: Value, at index: Int) {
    values[index] = value
    isGiven[index] = true
  }

  /// Marks the attribute at `index` as not given.
  func forget(at index: Int) { isGiven[index] = false }

  /// The first attribute without a value that a new record needs; `nil` when none is missing.
  ///
  /// When a program's type declares only some attributes, only these are considered.
  var missing: EntityDescription.Attribute? {
    for index in absent.indices
    where !isGiven[index] && absent[index] == nil && entity.part?.isGiven[index] ?? true
      && attributes[index].derivation == nil
    {
      return attributes[index]
    }
    return nil
  }

  /// Encodes the record, which is valid until the next call.
  ///
  /// An attribute that was not given has its initial value or null. A required attribute without an
  /// initial value is zero or empty, which only a merge of the given attributes may accept.
  func record() -> UnsealedRecord {
    for index in isGiven.indices where !isGiven[index] {
      values[index] = absent[index] ?? .placeholder(of: attributes[index].type)
    }
    for isWide in [false, true] {
      writer.begin(entity.layout, isWide: isWide)
      for (value, attribute) in zip(values, entity.layout.attributes) {
        writer.write(value, as: attribute)
      }
      if let content = writer.finish(entity.layout, entity: entity.name) {
        return UnsealedRecord(content: content, writer.uses.current)
      }
    }
    preconditionFailure("a record fits wide offsets")
  }
}
