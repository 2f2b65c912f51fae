internal import LodestoreFormat

/// Determines the differences between two schemas.
///
/// Names identify the parts of a schema, because two stores may give one attribute different
/// numbers.
struct SchemaComparison {
  let older: StoredSchema
  let newer: StoredSchema
  private(set) var differences: [SchemaDifference] = []

  /// - Parameter entities: the names of the entities to compare; `nil` for all.
  init(_ older: StoredSchema, _ newer: StoredSchema, entities: Set<String>?) {
    self.older = older
    self.newer = newer
    let names = Self.names(older.entities.map(\.name), newer.entities.map(\.name))
    for name in names where entities?.contains(name) ?? true { compare(name) }
  }

  private static func names(_ old: [String], _ new: [String]) -> [String] {
    let known = Set(new)
    return new + old.filter { !known.contains($0) }
  }

  private mutating func compare(_ name: String) {
    let (old, new) = (older.entity(named: name), newer.entity(named: name))
    guard let old, let new else {
      func words(_ entity: StoredEntity?) -> [String: String] {
        entity.map { [name: "\($0.description.declaredAttributes.count) attributes"] } ?? [:]
      }
      return add(.entity, name, words(old), words(new))
    }
    add(.attribute, name, Self.attributes(old), Self.attributes(new))
    add(.index, name, Self.indexes(old), Self.indexes(new))
    add(
      .elementIndex, name, Self.computedIndexes(.elements, old),
      Self.computedIndexes(.elements, new))
    add(.searchIndex, name, Self.computedIndexes(.search, old), Self.computedIndexes(.search, new))
    add(.placeIndex, name, Self.computedIndexes(.place, old), Self.computedIndexes(.place, new))
    add(.vectorIndex, name, Self.computedIndexes(.vector, old), Self.computedIndexes(.vector, new))
    add(.relationship, name, Self.relationships(old, older), Self.relationships(new, newer))
    add(.rule, name, Self.rules(old), Self.rules(new))
    add(.history, name, Self.history(old), Self.history(new))
    add(.expiry, name, Self.expiry(old), Self.expiry(new))
    add(.limit, name, Self.limit(old), Self.limit(new))
  }

  /// Adds the subjects that differ; `old` and `new` contain each subject in words, by its name.
  private mutating func add(
    _ subject: SchemaDifference.Subject, _ entity: String, _ old: [String: String],
    _ new: [String: String]
  ) {
    for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] {
      differences.append(
        SchemaDifference(
          kind: HistoryChange.Kind(wasThere: old[name] != nil, isThere: new[name] != nil),
          subject: subject, entity: entity, name: name, old: old[name], new: new[name]))
    }
  }

  // MARK: Subjects in words

  private static func attributes(_ entity: StoredEntity) -> [String: String] {
    var words: [String: String] = [:]
    for attribute in entity.description.declaredAttributes {
      var text = attribute.type.name + (attribute.isOptional ? ", optional" : "")
      if let shape = attribute.shape { text += ", \(shape)" }
      if attribute.defaultValue != .null {
        text += ", default \(KeyText.text(of: attribute.defaultValue))"
      }
      if let derivation = attribute.derivation { text += ", \(describe(derivation, entity))" }
      words[attribute.name] = text + describe(attribute.constraints)
    }
    return words
  }

  private static func describe(
    _ derivation: DerivationDescription, _ entity: StoredEntity
  ) -> String {
    let source = derivation.source.flatMap { entity.description.attribute(number: $0)?.name }
    let parts: [String?] = [
      derivation.kind.rawValue, derivation.relationship == nil ? source : nil,
      derivation.path?.joined(separator: "."), derivation.part?.part.rawValue,
      derivation.version.map { "version \($0)" }, derivation.condition.map { "where \($0)" },
    ]
    return "derived: " + parts.compactMap { $0 }.joined(separator: " ")
  }

  private static func describe(_ constraints: AttributeConstraints) -> String {
    var text = ""
    if constraints.hasRange {
      let bounds = [constraints.minimum, constraints.maximum]
        .map { $0 == .null ? "" : KeyText.text(of: $0) }
      text += ", \(bounds.joined(separator: "..."))"
    }
    if constraints.hasLength {
      let lengths = [constraints.minLength, constraints.maxLength].map { $0.map(String.init) ?? "" }
      text += ", length \(lengths.joined(separator: "..."))"
    }
    if let pattern = constraints.pattern { text += ", pattern \(pattern)" }
    return text
  }

  private static func indexes(_ entity: StoredEntity) -> [String: String] {
    var words: [String: String] = [:]
    let building = entity.description.building
    for (index, isBuilding) in entity.description.indexes.map({ ($0, false) })
      + building.map({ ($0, true) })
    {
      // An entity may have a unique and a non-unique index on the same attributes. The two indexes
      // have one name, so they are listed together, as "not unique and unique".
      let name = entity.description.indexName(index)
      let text = (index.isUnique ? "unique" : "not unique") + (isBuilding ? ", being built" : "")
      words[name] = words[name].map { [$0, text].sorted().joined(separator: " and ") } ?? text
    }
    return words
  }

  private static func computedIndexes(
    _ kind: EntityDescription.ComputedIndex.Kind, _ entity: StoredEntity
  ) -> [String: String] {
    Dictionary(
      entity.description.computedIndexes.filter { $0.kind == kind }.map { index in
        let words =
          switch kind {
          case .elements: "elements"
          case .search:
            "words, weights \(index.sources.map { String($0.weight) }.joined(separator: ", "))"
          case .place: "places, " + (index.admitsInvalid ? "others left out" : "others refused")
          case .vector: "vectors of \(index.dimensions) dimensions"
          }
        return (
          entity.description.indexName(index), words + (index.isBuilding ? ", being built" : "")
        )
      },
      uniquingKeysWith: { first, _ in first })
  }

  private static func relationships(
    _ entity: StoredEntity, _ schema: StoredSchema
  ) -> [String: String] {
    var words: [String: String] = [:]
    for end in schema.ends(of: entity) {
      guard let name = end.name else { continue }
      var text = (end.attribute == nil ? "to many " : "to one ") + end.target.name
      if let inverse = end.opposite.name { text += ", inverse \(inverse)" }
      if end.order != nil { text += ", ordered" }
      text += ", on delete \(end.onDelete.rawValue)"
      if let condition = end.denyCondition { text += " where \(condition)" }
      words[name] = text
    }
    return words
  }

  private static func rules(_ entity: StoredEntity) -> [String: String] {
    Dictionary(
      entity.description.rules.map { ($0.name, $0.condition) },
      uniquingKeysWith: { first, _ in first })
  }

  private static func expiry(_ entity: StoredEntity) -> [String: String] {
    entity.description.expiryText.map { ["expiry": "by \($0)"] } ?? [:]
  }

  private static func limit(_ entity: StoredEntity) -> [String: String] {
    entity.description.limitText.map { ["limit": $0] } ?? [:]
  }

  private static func history(_ entity: StoredEntity) -> [String: String] {
    guard let history = entity.description.history else { return [:] }
    let names = history.preserved.compactMap { entity.description.attribute(number: $0)?.name }
    return [
      "history":
        (["changes"] + (history.keepsImages ? ["images"] : [])
        + (names.isEmpty ? [] : ["values of \(names.joined(separator: ", "))"]))
        .joined(separator: ", ")
    ]
  }
}
