import EntityStore
import LodestoreFormat

/// The entity that an import requires, made from the stored entity, the records or a schema file,
/// and the options.
struct ImportSchema {
  private(set) var attributes: [DeclaredEntity.Attribute] = []
  private(set) var indexes: [DeclaredEntity.DeclaredIndex] = []
  /// The entity of a schema file, and the positions of its attributes in ``attributes``.
  private var file: (entity: DeclaredEntity, positions: [Int])?
  /// Notes for the user about changed names, added attributes and added indexes.
  private(set) var notes: [String] = []
  /// The attributes that `--map` assigns to members.
  var maps: [String: String] { rules.maps }
  /// The attribute of each JSON member, if the user or inference named it.
  private(set) var names: [String: String] = [:]
  private let entity: String
  private let isNew: Bool
  private var rules: MemberRules
  /// Whether attributes get the wider types that records require.
  private let widens: Bool
  /// The stored types of the attributes that get wider types, by name.
  private var narrower: [String: AttributeType] = [:]
  /// The names of stored attributes whose values the store derives.
  private let derived: Set<String>
  /// Members that are keys of related records, and not attributes, in this import.
  private let linked: Set<String>

  /// Starts with the stored entity.
  init(
    _ entity: String, stored: EntityDescription?, rules: MemberRules = MemberRules(),
    widens: Bool = false, linked: Set<String> = []
  ) {
    self.entity = entity
    self.widens = widens
    self.rules = rules
    self.linked = linked
    derived = Set(
      (stored?.declaredAttributes ?? []).lazy.filter { $0.derivation != nil }.map(\.name))
    isNew = stored == nil
    names = rules.maps
    guard let stored else { return }
    attributes = stored.declaredAttributes.map { attribute in
      DeclaredEntity.Attribute(
        name: attribute.name, source: attribute.source,
        storage: AttributeStorage(
          type: attribute.type, isOptional: attribute.isOptional, shape: attribute.shape),
        initial: attribute.defaultValue)
    }
    indexes = stored.indexes.map { index in
      let positions = index.attributes.compactMap { number in
        stored.declaredAttributes.firstIndex { $0.number == number }
      }
      return DeclaredEntity.DeclaredIndex(attributes: positions, isUnique: index.isUnique)
    }
    // Only indexes over the elements of JSON attributes are declared here. Other element indexes
    // remain in the store although this schema does not declare them.
    for index in stored.elementIndexes where index.path.isEmpty {
      let position = stored.declaredAttributes.firstIndex { $0.number == index.attribute }
      guard let position, attributes[position].storage.type == .json else { continue }
      indexes.append(DeclaredEntity.DeclaredIndex(attributes: [position], isUnique: false))
    }
  }

  /// Adds an attribute for each member that has none, and makes attributes optional that some
  /// record lacks.
  ///
  /// Stored types stay.
  ///
  /// - Parameters:
  ///   - key: The attributes by which records are matched. Key attributes are required in a new
  ///     entity, because a record without them cannot be matched.
  ///   - takesParts: Whether records have only some of the attributes, so that stored values of the
  ///     other attributes stay. Required attributes then stay required.
  ///
  /// Throws if a stored entity has a unique index and no record has its attributes. The records
  /// then belong elsewhere, or `--records` is missing, and the schema stays unchanged.
  mutating func add(
    _ inference: SchemaInference, key: [String], candidates: [String], takesParts: Bool = false
  ) throws {
    let known = Set(attributes.map(\.name))
    if inference.recordCount > 0 { names = try names(of: inference) }
    let required = Set(key.map { names[$0] ?? $0 })
    let filled = Set(names.values).union(derived)
    let unique = indexes.filter(\.isUnique).map { $0.attributes.map { attributes[$0].name } }
    if inference.recordCount > 0, let first = unique.first,
      !unique.contains(where: { filled.isSuperset(of: $0) }),
      let missing = first.first(where: { !filled.contains($0) })
    {
      throw CommandFailure.unknownMember(
        missing, of: entity, known: inference.names, candidates: candidates)
    }
    noteOneColumn(inference)
    for member in inference.names {
      guard let name = names[member], let found = inference.attribute(member) else { continue }
      if known.contains(name) {
        remember(member, as: name, inference)
        noteWider(member, of: name, inference)
        continue
      }
      let isRequired = isNew ? required.contains(name) || !found.isOptional : false
      if name != member { notes.append("\(entity): member '\(member)' is attribute '\(name)'") }
      let type = (rules.types[name] ?? rules.types[member])?.type ?? found.type
      notes.append(
        "\(entity): \(isNew ? "" : "added ")attribute '\(name)', \(type.name)"
          + (isRequired ? "" : ", optional"))
      noteOlder(than: name, member, known)
      attributes.append(
        DeclaredEntity.Attribute(
          name: name, source: source(member, of: name, inference),
          storage: AttributeStorage(type: type, isOptional: !isRequired)))
    }
    guard !isNew, inference.recordCount > 0, !takesParts else { return }
    loosen(inference, known)
  }

  /// If records have only one member, and its name has a character that may be a delimiter, adds a
  /// note about `--delimiter`.
  private mutating func noteOneColumn(_ inference: SchemaInference) {
    guard isNew, inference.names.count == 1, let name = inference.names.first,
      let delimiter = name.first(where: { ";|\t".contains($0) })
    else { return }
    let word = delimiter == "\t" ? "tab" : ShellWord.quoted(String(delimiter))
    notes.append(
      "\(entity): the records have one member; where \(word) stands between columns of CSV, "
        + "--delimiter \(word) reads them")
  }

  /// Makes stored attributes optional that some record lacks.
  private mutating func loosen(_ inference: SchemaInference, _ known: Set<String>) {
    let memberOf = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    let indexed = Set(indexes.filter(\.isUnique).flatMap(\.attributes))
    for position in attributes.indices where known.contains(attributes[position].name) {
      let attribute = attributes[position]
      // The store derives these values, or links provide the ids.
      if derived.contains(attribute.name) || linked.contains(attribute.name) { continue }
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
  /// The initial value stays as stored, and the file converts it.
  mutating func widen() {
    for (name, conversion) in rules.types.sorted(by: { $0.key < $1.key }) {
      guard let position = position(of: name) else { continue }
      widen(position, to: conversion.type)
    }
  }

  private mutating func widen(_ position: Int, to type: AttributeType) {
    let stored = attributes[position].storage.type
    guard !isNew, stored.widens(to: type) else { return }
    narrower[attributes[position].name] = stored
    attributes[position].storage.type = type
    attributes[position].initial = .null
    notes.append(
      "\(entity): made '\(attributes[position].name)' \(type.name), which was \(stored.name)")
  }

  /// Widens an attribute if a record has a value of a wider type, or adds a note about the option
  /// that widens it.
  private mutating func noteWider(_ member: String, of name: String, _ inference: SchemaInference) {
    guard let position = attributes.firstIndex(where: { $0.name == name }),
      rules.types[name] == nil,
      let type = inference.wider(than: attributes[position].storage.type, for: member)
    else { return }
    if widens { return widen(position, to: type) }
    notes.append(
      "\(entity): '\(name)' stays \(attributes[position].storage.type.name), and some record needs "
        + "\(type.name); --type \(name)=\(type.name) makes it one, and --widen all such attributes")
  }

  /// Adds the record and the next step to an error about a value without an equal in the wider
  /// type.
  ///
  /// Returns any other error unchanged.
  func explained(_ error: any Error, in path: String) -> any Error {
    guard let error = error as? StoreError, let name = error.attribute, let id = error.recordID,
      let stored = narrower[name],
      let type = attributes.first(where: { $0.name == name })?.storage.type
    else { return error }
    return CommandFailure.notWidened(name, of: entity, in: path, from: stored, to: type, record: id)
  }

  /// The attribute of each member: as given by `--map`, else by the sources and names of
  /// attributes, else a new one.
  private mutating func names(of inference: SchemaInference) throws -> [String: String] {
    let members = Set(inference.names)
    rules.dropImplied(notAmong: members)
    for member in rules.maps.keys.sorted() where !members.contains(member) {
      throw CommandFailure.mapWithoutMember(member, of: entity, known: inference.names)
    }
    var names = rules.maps
    let mapped = Dictionary(rules.maps.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    func assign(_ member: String, _ attribute: String) throws {
      if let other = mapped[attribute] {
        throw CommandFailure.twoMembers([member, other], for: attribute)
      }
      names[member] = attribute
    }
    var rest = inference.names.filter { rules.maps[$0] == nil && !linked.contains($0) }
    for member in rest {
      guard let found = attributes.first(where: { $0.source == member }) else { continue }
      try assign(member, found.name)
    }
    let filled = Set(names.values)
    for member in rest where names[member] == nil {
      let isStored = attributes.contains { $0.name == member }
      guard mapped[member] != nil || isStored && !filled.contains(member) else { continue }
      try assign(member, member)
      if let source = attributes.first(where: { $0.name == member })?.source {
        notes.append(
          "\(entity): member '\(member)' fills the attribute of that name, which was made for "
            + "member '\(source)'; --map \(member)=NAME imports it into another")
      }
    }
    // `_id` cannot be an attribute's name, but `--map` can assign the member to an attribute.
    rest.removeAll { names[$0] != nil || $0 == RecordColumns.idName }
    let longest = EntityDescription.longestSource
    for member in rest where member.utf8.count > longest {
      notes.append(
        "\(entity): left out a member whose name has \(member.utf8.count) bytes; the limit is "
          + NumberText.grouped(longest))
    }
    rest.removeAll { $0.utf8.count > longest }
    let taken = linked.union(attributes.map(\.name)).union(rules.maps.values)
    names.merge(AttributeNames.distinct(rest, besides: taken)) { kept, _ in kept }
    return names
  }

  /// The source of the attribute `name`; `nil` if the member has that name too, or if the member's
  /// name cannot be stored.
  private func source(_ member: String, of name: String, _ inference: SchemaInference) -> String? {
    let isFree = !attributes.contains { $0.source == member }
    let isLong = member.utf8.count > EntityDescription.longestSource
    return member != name && isFree && !isLong && inference.isMember(member) ? member : nil
  }

  /// Sets the source of a stored attribute without a source to the member that `--map` assigns to
  /// it.
  private mutating func remember(_ member: String, as name: String, _ inference: SchemaInference) {
    guard rules.maps[member] == name,
      let position = attributes.firstIndex(where: { $0.name == name }),
      attributes[position].source == nil, let source = source(member, of: name, inference)
    else { return }
    attributes[position].source = source
    notes.append("\(entity): attribute '\(name)' is filled from member '\(member)' from now on")
  }

  /// Adds a note about an attribute that an earlier version, which stored no source names, may have
  /// made from this member.
  private mutating func noteOlder(than name: String, _ member: String, _ known: Set<String>) {
    let former = AttributeNames.former(member)
    guard former != member, known.contains(former), names[former] != former,
      attributes.contains(where: { $0.name == former && $0.source == nil })
    else { return }
    notes.append(AttributeNames.note(of: former, madeFrom: member, in: entity))
  }

  /// Adopts an entity that was read from a schema file.
  mutating func add(_ entity: SchemaFileEntity, from path: String) {
    let declared = entity.declared
    if !entity.undeclared.isEmpty {
      notes.append(
        "\(path): left out declarations that only a program can make: "
          + entity.undeclared.joined(separator: ", ")
          + "; once the program has opened the store, import without --schema")
    }
    var positions: [Int] = []
    for attribute in declared.attributes {
      if let position = attributes.firstIndex(where: { $0.name == attribute.name }) {
        let source = attributes[position].source
        attributes[position] = attribute
        attributes[position].source = attribute.source ?? source
        positions.append(position)
      } else {
        positions.append(attributes.count)
        attributes.append(attribute)
      }
    }
    for index in declared.indexes {
      add(
        DeclaredEntity.DeclaredIndex(
          attributes: index.attributes.map { positions[$0] }, isUnique: index.isUnique))
    }
    file = (declared, positions)
  }

  /// Adds an index over attributes given by their names, or by the names of members with other
  /// attribute names.
  mutating func addIndex(_ wanted: [String], isUnique: Bool, candidates: [String] = []) throws {
    let isOfElements = wanted.count == 1 && !isUnique && wanted[0].hasSuffix("[]")
    let positions = try wanted.map { name in
      let name = isOfElements ? String(name.dropLast(2)) : name
      guard let position = position(of: name) else {
        if name == RecordColumns.idName { throw CommandFailure.ownNameOfID }
        throw CommandFailure.unknownMember(
          name, of: entity, known: attributes.map(\.name), candidates: candidates)
      }
      let type = attributes[position].storage.type
      guard isOfElements ? type == .json : type.isIndexable else {
        throw CommandFailure.notIndexable(name, type, isUnique: isUnique, isNew: isNew)
      }
      return position
    }
    let index = DeclaredEntity.DeclaredIndex(attributes: positions, isUnique: isUnique)
    if add(index), !isNew {
      let text = positions.map { attributes[$0].name }.joined(separator: "+")
      notes.append(
        "\(entity): added \(isUnique ? "unique index" : "index") \(text)\(isOfElements ? "[]" : "")"
      )
    }
  }

  @discardableResult
  private mutating func add(_ index: DeclaredEntity.DeclaredIndex) -> Bool {
    // A unique index over these attributes, in any order, serves as this index.
    let isThere = indexes.contains {
      $0 == index || $0.isUnique && $0.attributes == index.attributes
        || index.isUnique && $0.isUnique && Set($0.attributes) == Set(index.attributes)
    }
    if !isThere { indexes.append(index) }
    return !isThere
  }

  /// The position of the attribute that the user calls `name`.
  func position(of name: String) -> Int? {
    attributes.firstIndex { $0.name == name }
      ?? names[name].flatMap { mapped in attributes.firstIndex { $0.name == mapped } }
      ?? attributes.firstIndex { $0.source == name }
  }

  /// Checks the members that `--map` names against `members`, the members of the first page.
  ///
  /// Throws if a name is missing there, but a similar name exists.
  func checkMaps(members: [String]) throws {
    for member in rules.maps.keys.sorted()
    where !members.contains(member) && NearestName.of(member, among: members) != nil {
      throw CommandFailure.mapWithoutMember(member, of: entity, known: members)
    }
  }

  /// The conversions of texts for attributes, by name.
  ///
  /// Throws if `--map` or `--type` names a missing attribute, or one of another type.
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
          attribute.name, is: type.name, option: "\(name)=\(conversion.type.name)")
      }
      conversions[attribute.name] = conversion
    }
    return conversions
  }

  func declared() throws -> DeclaredEntity {
    var declared = try DeclaredEntity(
      name: entity, attributes: attributes, indexes: indexes, isPartial: true)
    if let file { try declared.takeRest(of: file.entity, at: file.positions) }
    return declared
  }
}
