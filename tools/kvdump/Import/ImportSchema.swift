import EntityStore
import LodestoreFormat

/// The entity that an import needs: what the store has, what the records or a schema file say, and
/// the indexes asked for.
struct ImportSchema {
  private(set) var attributes: [DeclaredEntity.Attribute] = []
  private(set) var indexes: [DeclaredEntity.Index] = []
  /// The entity of a schema file, and where its attributes are in ``attributes``.
  private var file: (entity: DeclaredEntity, positions: [Int])?
  /// What a person should know of it: names that were changed, attributes and indexes that were added.
  private(set) var notes: [String] = []
  /// The attribute of each JSON member, where a person or inference named it.
  private(set) var names: [String: String] = [:]
  private let entity: String
  private let isNew: Bool
  private let rules: MemberRules
  /// Whether attributes get the wider types that records need.
  private let widens: Bool

  /// Starts with what the store has.
  init(
    _ entity: String, stored: EntityDescription?, rules: MemberRules = MemberRules(),
    widens: Bool = false
  ) {
    self.entity = entity
    self.widens = widens
    self.rules = rules
    isNew = stored == nil
    names = rules.maps
    guard let stored else { return }
    attributes = stored.declaredAttributes.map { attribute in
      DeclaredEntity.Attribute(
        name: attribute.name,
        storage: AttributeStorage(
          type: attribute.type, isOptional: attribute.isOptional, shape: attribute.shape),
        initial: attribute.defaultValue)
    }
    indexes = stored.indexes.map { index in
      let positions = index.attributes.compactMap { number in
        stored.declaredAttributes.firstIndex { $0.number == number }
      }
      return DeclaredEntity.Index(attributes: positions, isUnique: index.isUnique)
    }
  }

  /// Adds the members that no attribute is for, and makes attributes optional that some record
  /// lacks; types that are stored stay.
  ///
  /// - Parameter key: attributes that records are matched by, which are required in a new entity:
  ///   a record without one cannot be matched.
  ///
  /// Throws when a stored entity has a unique index and no record has its attributes: these are
  /// other records, or `--records` is missing, and the schema stays as it is.
  mutating func add(_ inference: SchemaInference, key: [String], candidates: [String]) throws {
    let known = Set(attributes.map(\.name))
    names = try names(of: inference)
    let required = Set(key.map { names[$0] ?? AttributeNames.valid($0) })
    let named = Set(names.values)
    let unique = indexes.filter(\.isUnique).map { $0.attributes.map { attributes[$0].name } }
    if inference.recordCount > 0, let first = unique.first,
      !unique.contains(where: { named.isSuperset(of: $0) }),
      let missing = first.first(where: { !named.contains($0) })
    {
      throw CommandFailure.unknownMember(
        missing, of: entity, known: inference.names, candidates: candidates)
    }
    for member in inference.names {
      guard let name = names[member], let found = inference.attribute(member) else { continue }
      let isRequired = isNew ? required.contains(name) || !found.isOptional : false
      if known.contains(name) {
        noteWider(found.type, of: name)
        continue
      }
      if name != member { notes.append("\(entity): member '\(member)' is attribute '\(name)'") }
      let type = (rules.types[name] ?? rules.types[member])?.type ?? found.type
      notes.append(
        "\(entity): \(isNew ? "" : "added ")attribute '\(name)', \(type.name)"
          + (isRequired ? "" : ", optional"))
      attributes.append(
        DeclaredEntity.Attribute(
          name: name, storage: AttributeStorage(type: type, isOptional: !isRequired)))
    }
    guard !isNew, inference.recordCount > 0 else { return }
    let memberOf = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let indexed = Set(indexes.filter(\.isUnique).flatMap(\.attributes))
    for position in attributes.indices where known.contains(attributes[position].name) {
      let attribute = attributes[position]
      let isLacking = memberOf[attribute.name].flatMap(inference.attribute)?.isOptional ?? true
      guard isLacking, !attribute.storage.isOptional, attribute.initial == .null,
        !indexed.contains(position)
      else { continue }
      attributes[position].storage.isOptional = true
      notes.append("\(entity): made '\(attribute.name)' optional, as some record lacks it")
    }
  }

  /// Gives stored attributes the wider types of `--type`.
  ///
  /// The initial value stays with the file, which converts it.
  mutating func widen() {
    for (name, conversion) in rules.types.sorted(by: { $0.key < $1.key }) {
      guard let position = position(of: name) else { continue }
      widen(position, to: conversion.type)
    }
  }

  private mutating func widen(_ position: Int, to type: AttributeType) {
    let stored = attributes[position].storage.type
    guard !isNew, stored.widens(to: type) else { return }
    attributes[position].storage.type = type
    attributes[position].initial = .null
    notes.append(
      "\(entity): made '\(attributes[position].name)' \(type.name), which was \(stored.name)")
  }

  /// Widens an attribute of which some record has a value of a wider type, or says how that is done.
  private mutating func noteWider(_ type: AttributeType, of name: String) {
    guard let position = attributes.firstIndex(where: { $0.name == name }),
      rules.types[name] == nil, attributes[position].storage.type.widens(to: type)
    else { return }
    if widens { return widen(position, to: type) }
    notes.append(
      "\(entity): '\(name)' stays \(attributes[position].storage.type.name), and some record has a "
        + "\(type.name); --type \(name)=\(type.name) makes it one, and --widen all such attributes")
  }

  /// The attribute of each member: as `--map` says, and the others by their own names.
  private func names(of inference: SchemaInference) throws -> [String: String] {
    let members = Set(inference.names)
    for member in rules.maps.keys.sorted() where !members.contains(member) {
      throw CommandFailure.mapWithoutMember(member, of: entity, known: inference.names)
    }
    // The store's own name is no attribute's, unless it is mapped to one.
    let names = AttributeNames.distinct(
      inference.names.filter { rules.maps[$0] == nil && $0 != RecordColumns.idName })
    for (member, attribute) in rules.maps {
      guard let other = names.first(where: { $0.value == attribute }) else { continue }
      throw CommandFailure.twoMembers([member, other.key], for: attribute)
    }
    return names.merging(rules.maps) { _, mapped in mapped }
  }

  /// Takes over an entity that was read from a schema file.
  mutating func add(_ declared: DeclaredEntity) {
    var positions: [Int] = []
    for attribute in declared.attributes {
      if let position = attributes.firstIndex(where: { $0.name == attribute.name }) {
        attributes[position] = attribute
        positions.append(position)
      } else {
        positions.append(attributes.count)
        attributes.append(attribute)
      }
    }
    for index in declared.indexes {
      add(
        DeclaredEntity.Index(
          attributes: index.attributes.map { positions[$0] }, isUnique: index.isUnique))
    }
    file = (declared, positions)
  }

  /// Adds an index over attributes of these names, or of members that were given other names.
  mutating func addIndex(
    _ wanted: [String], isUnique: Bool, candidates: [String] = []
  ) throws {
    let positions = try wanted.map { name in
      let isOfElements = wanted.count == 1 && !isUnique && name.hasSuffix("[]")
      let name = isOfElements ? String(name.dropLast(2)) : name
      guard let position = position(of: name) else {
        if name == RecordColumns.idName { throw CommandFailure.ownNameOfID }
        throw CommandFailure.unknownMember(
          name, of: entity, known: attributes.map(\.name), candidates: candidates)
      }
      let type = attributes[position].storage.type
      guard isOfElements ? type == .json : type.isIndexable else {
        throw CommandFailure.badArgument(
          name, reason: "is \(type.name) and cannot be indexed",
          nextStep: type == .json
            ? "say --index '\(name)[]' for an index over the elements of its arrays"
            : "index attributes whose values are all of one scalar type")
      }
      return position
    }
    let index = DeclaredEntity.Index(attributes: positions, isUnique: isUnique)
    if add(index), !isNew {
      let text = positions.map { attributes[$0].name }.joined(separator: "+")
      notes.append("\(entity): added \(isUnique ? "unique index" : "index") \(text)")
    }
  }

  @discardableResult
  private mutating func add(_ index: DeclaredEntity.Index) -> Bool {
    // A unique index serves as an index over the same attributes, in the same order or in another.
    let isThere = indexes.contains {
      $0 == index || $0.isUnique && $0.attributes == index.attributes
        || index.isUnique && $0.isUnique && Set($0.attributes) == Set(index.attributes)
    }
    if !isThere { indexes.append(index) }
    return !isThere
  }

  /// The position of the attribute that a person calls `name`.
  func position(of name: String) -> Int? {
    let mapped = names[name] ?? AttributeNames.valid(name)
    return attributes.firstIndex { $0.name == name } ?? attributes.firstIndex { $0.name == mapped }
  }

  /// Throws when a member of `--map` is none of `members`, those of the first page, and one of them
  /// is near enough to be meant.
  func checkMaps(members: [String]) throws {
    for member in rules.maps.keys.sorted()
    where !members.contains(member) && NearestName.of(member, among: members) != nil {
      throw CommandFailure.mapWithoutMember(member, of: entity, known: members)
    }
  }

  /// How the values of attributes are read, by their names.
  ///
  /// Throws when `--map` or `--type` names an attribute that is not there, or one of another type.
  func conversions() throws -> [String: TextConversion] {
    let known = attributes.map(\.name)
    for (_, attribute) in rules.maps.sorted(by: { $0.key < $1.key })
    where !known.contains(attribute) {
      throw CommandFailure.ruleWithoutAttribute(
        attribute, option: "--map", of: entity, known: known)
    }
    var conversions: [String: TextConversion] = [:]
    for (name, conversion) in rules.types.sorted(by: { $0.key < $1.key }) {
      guard let position = position(of: name) else {
        if name == RecordColumns.idName { throw CommandFailure.ownNameOfID }
        throw CommandFailure.ruleWithoutAttribute(name, option: "--type", of: entity, known: known)
      }
      let attribute = attributes[position]
      let type = conversions[attribute.name]?.type ?? attribute.storage.type
      guard type == conversion.type else {
        throw CommandFailure.otherType(
          attribute.name, is: type.name, said: "\(name)=\(conversion.type.name)")
      }
      conversions[attribute.name] = conversion
    }
    return conversions
  }

  func declared() throws -> DeclaredEntity {
    var declared = try DeclaredEntity(
      name: entity, attributes: attributes, indexes: indexes, isPartial: true)
    if let file { declared.takeRest(of: file.entity, at: file.positions) }
    return declared
  }
}
