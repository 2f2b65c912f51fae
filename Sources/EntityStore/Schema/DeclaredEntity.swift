package import LodestoreFormat

/// An entity as a program declares it, without its Swift type, checked and ready to be compared
/// with the catalogue.
///
/// The typed interface creates it from ``EntitySchema``; `kvdump` creates it from inferred types,
/// for ``DynamicStore``.
package struct DeclaredEntity: Sendable {
  /// The declaration of one attribute.
  package struct Attribute: Sendable {
    package var name: String
    var originalName: String?
    /// The name of the member from which imports fill the attribute.
    ///
    /// `nil` keeps the name stored in the file. The attribute's own name removes it.
    package var source: String?
    package var storage: AttributeStorage
    package var initial: Value
    /// The constraints.
    ///
    /// An attribute of a partial declaration without constraints keeps the file's constraints.
    package var constraints: AttributeConstraints
    /// The derivation.
    ///
    /// In a partial declaration, `nil` keeps the file's derivation.
    var derivation: DeclaredDerivation?

    package init(
      name: String, originalName: String? = nil, source: String? = nil,
      storage: AttributeStorage, initial: Value = .null,
      constraints: AttributeConstraints = AttributeConstraints()
    ) {
      self.name = name
      self.originalName = originalName
      self.source = source
      self.storage = storage
      self.initial = initial
      self.constraints = constraints
    }
  }

  /// The declaration of one index, by the positions of its attributes in
  /// ``DeclaredEntity/attributes``.
  package struct DeclaredIndex: Sendable, Hashable {
    package var attributes: [Int]
    package var isUnique: Bool

    package init(attributes: [Int], isUnique: Bool) {
      self.attributes = attributes
      self.isUnique = isUnique
    }
  }

  /// The declaration of a limit, with the position of its attribute in
  /// ``DeclaredEntity/attributes``.
  struct DeclaredLimit: Sendable, Hashable {
    var count: Int?
    var byteCount: Int?
    var attribute: Int?
  }

  /// The declaration of an entity's history, with positions of attributes in
  /// ``DeclaredEntity/attributes``.
  enum DeclaredHistory: Sendable, Hashable {
    case off
    case kept(images: Bool, preserved: [Int])
  }

  /// The maximum number of attributes of one entity.
  static let mostAttributes = 1_000
  static let mostIndexes = 64

  package var name: String
  package var attributes: [Attribute]
  package var indexes: [DeclaredIndex]
  var computedIndexes: [ComputedIndex] = []
  var relationships: [DeclaredRelationship] = []
  package var rules: [EntityDescription.Rule] = []
  /// The declaration of the history; `nil` keeps the one in the file.
  var history: DeclaredHistory?
  /// The position in ``attributes`` of the date by which records expire, set by ``expire(by:)``.
  var expiry: Int?
  /// The limit of the records, set by ``setLimit(count:bytes:by:)``.
  var limit: DeclaredLimit?
  /// The names of attributes to be removed from the file, if it has them.
  var removed: [String]
  /// Whether indexes and constraints of the file that are not declared here stay.
  ///
  /// Attributes always stay.
  var isPartial: Bool

  /// Creates a declaration and checks it; throws ``StoreError/Code/badSchema``.
  package init(
    name: String, attributes: [Attribute], indexes: [DeclaredIndex], removed: [String] = [],
    isPartial: Bool = false
  ) throws(StoreError) {
    self.name = name
    self.attributes = attributes
    self.removed = removed
    self.indexes = []
    self.isPartial = isPartial
    guard EntityDescription.isValidName(name) else { throw .badName(name, of: "an entity") }
    var names: Set<String> = []
    for attribute in attributes {
      guard EntityDescription.isValidAttributeName(attribute.name) else {
        throw .badName(attribute.name, of: "an attribute of \(name)")
      }
      guard names.insert(attribute.name).inserted else {
        throw .badSchema(entity: name, "attribute '\(attribute.name)' is declared twice")
      }
      if let source = attribute.source, source.utf8.count > EntityDescription.longestSource {
        throw .badSchema(
          entity: name, attribute: attribute.name,
          "the member of attribute '\(attribute.name)' has a name of \(source.utf8.count) bytes, the "
            + "limit is \(EntityDescription.longestSource)")
      }
      do throws(ConstraintFault) {
        try attribute.constraints.check(for: attribute.storage.type)
      } catch {
        throw .badConstraint(entity: name, attribute: attribute.name, error)
      }
    }
    for gone in removed {
      guard EntityDescription.isValidName(gone) else {
        throw .badName(gone, of: "a removed attribute of \(name)")
      }
      guard !names.contains(gone) else {
        throw .badSchema(
          entity: name, attribute: gone,
          "attribute '\(gone)' is declared, and named in 'removed'; take it out of one of them")
      }
    }
    try checkOriginalNames()
    try EntityDescription.checkSources(
      attributes.map { ($0.name, $0.source == $0.name ? nil : $0.source) }, of: name)
    guard attributes.count <= Self.mostAttributes else {
      throw .badSchema(
        entity: name,
        "it has \(attributes.count) attributes, the limit is \(Self.mostAttributes)")
    }
    // Unique indexes come first, since a unique index also replaces another one over the same
    // attributes.
    for index in indexes.sorted(by: { $0.isUnique && !$1.isUnique })
    where !self.indexes.contains(where: { $0.attributes == index.attributes }) {
      guard !index.attributes.isEmpty else {
        throw .badSchema(entity: name, "an index names no attribute")
      }
      guard Set(index.attributes).count == index.attributes.count else {
        throw .badSchema(entity: name, "an index names an attribute twice")
      }
      if index.attributes.count == 1, !index.isUnique,
        attributes[index.attributes[0]].storage.hasElements
      {
        computedIndexes.append(
          .init(kind: .elements, sources: [.init(attribute: index.attributes[0])]))
        continue
      }
      for position in index.attributes where !attributes[position].storage.type.isIndexable {
        let attribute = attributes[position]
        let advice =
          attribute.storage.hasElements
          ? "; its elements can have an index of their own: name it alone in one that is not unique"
          : ""
        throw .badSchema(
          entity: name,
          "'\(attribute.name)' cannot be indexed: it is stored as a \(attribute.storage.type.name)"
            + advice)
      }
      self.indexes.append(index)
    }
    let indexCount = self.indexes.count + computedIndexes.count
    guard indexCount <= Self.mostIndexes else {
      throw .badSchema(
        entity: name, "it has \(indexCount) indexes, the limit is \(Self.mostIndexes)")
    }
  }

  init<E: Entity>(_ type: E.Type) throws(StoreError) {
    let schema = E.schema
    var indexes: [DeclaredIndex] = []
    for (paths, isUnique) in schema.unique.map({ ($0, true) }) + schema.indexes.map({ ($0, false) })
    {
      indexes.append(
        DeclaredIndex(
          attributes: try schema.positions(of: paths, "an index names"), isUnique: isUnique))
    }
    var attributes: [Attribute] = []
    for attribute in schema.attributes {
      attributes.append(try Self.attribute(attribute, of: schema.name))
    }
    try self.init(
      name: schema.name, attributes: attributes, indexes: indexes, removed: schema.removed)
    for index in schema.elementIndexes {
      try add(
        .init(
          kind: .elements,
          sources: [
            .init(
              attribute: try schema.position(of: index.attribute, "an index names"),
              path: index.path)
          ]))
    }
    for index in schema.searchIndexes {
      try add(
        .init(
          kind: .search,
          sources: try index.sources.map { (source) throws(StoreError) in
            .init(
              attribute: try schema.position(of: source.attribute, "a search index names"),
              path: source.path, weight: try source.checkedWeight(schema.name))
          }))
    }
    for index in schema.placeIndexes {
      try add(
        .init(
          kind: .place,
          sources: try index.sources.map { (source) throws(StoreError) in
            .init(
              attribute: try schema.position(of: source.attribute, "a place index names"),
              path: source.path)
          }, admitsInvalid: index.invalid == .leftOut))
    }
    for index in schema.vectorIndexes {
      let position = try schema.position(of: index.attribute, "a vector index names")
      try add(
        .init(
          kind: .vector, sources: [.init(attribute: position)], dimensions: index.dimensions))
    }
    history = try schema.history.map { policy throws(StoreError) in
      guard policy.isKept else { return .off }
      return .kept(
        images: policy.keepsImages,
        preserved: try schema.positions(of: policy.preserved, "its history preserves"))
    }
    try setEviction(of: schema)
    relationships = try DeclaredRelationship.relationships(of: schema)
    try check(relationships)
    for rule in schema.rules {
      guard !rules.contains(where: { $0.name == rule.name }) else {
        throw .badSchema(entity: schema.name, "it has two rules named '\(rule.name)'")
      }
      rules.append(EntityDescription.Rule(name: rule.name, condition: try rule.condition()))
    }
    try checkRules()
  }

  /// Throws if two attributes have the same original name, or if ``removed`` contains an original
  /// name.
  private func checkOriginalNames() throws(StoreError) {
    var owners: [String: String] = [:]
    for attribute in attributes {
      guard let original = attribute.originalName else { continue }
      if let other = owners.updateValue(attribute.name, forKey: original) {
        throw .badSchema(
          entity: name, attribute: attribute.name,
          "attributes '\(other)' and '\(attribute.name)' have the same originalName '\(original)', and "
            + "an attribute of the file becomes one of them; leave it out of one of them")
      }
      guard !removed.contains(original) else {
        throw .badSchema(
          entity: name, attribute: attribute.name,
          "'\(original)' is the originalName of attribute '\(attribute.name)', and named in 'removed'; "
            + "take it out of one of them")
      }
    }
  }

  private static func attribute<E: Entity>(
    _ definition: AttributeDefinition<E>, of entity: String
  ) throws(StoreError) -> Attribute {
    if let target = definition.storage.target {
      try ReferenceKey.of(target).check(definition.name, of: entity)
    }
    do {
      var attribute = Attribute(
        name: definition.name, originalName: definition.originalName, source: definition.member,
        storage: definition.storage.outlined, initial: initial(definition),
        constraints: try AttributeConstraints(definition.constraints, for: definition.storage.type))
      attribute.derivation = try definition.derivation?.declare(definition.name)
      return attribute
    } catch let error as StoreError {
      throw error
    } catch let error as ConstraintFault {
      throw .badConstraint(entity: entity, attribute: definition.name, error)
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

extension DeclaredEntity {
  /// Returns the initial value of an attribute, or null if it has none.
  ///
  /// An unassigned id, the default of a property, is not an initial value. JSON's null is the
  /// initial value of a required attribute, but stands for no value in an optional one.
  private static func initial<E: Entity>(_ definition: AttributeDefinition<E>) -> Value {
    let value = definition.initial.value
    if definition.storage.isOptional, value == .nullDocument { return .null }
    return definition.storage.type == .recordID && value == .integer(0) ? .null : value
  }

  /// Returns the numbers in `stored` of the attributes that are declared as derived.
  func numbersOfDerived(in stored: EntityDescription) -> Set<UInt32> {
    Set(
      attributes.lazy.filter { $0.derivation != nil }
        .compactMap { stored.attribute(named: $0.name)?.number })
  }

  /// Returns the functions of derived attributes by their numbers in `stored`, for functions with
  /// the stored version.
  func functions(of stored: EntityDescription) -> [UInt32: RecordDerivations.Function] {
    var functions: [UInt32: RecordDerivations.Function] = [:]
    for attribute in attributes {
      guard let function = attribute.derivation?.function,
        let found = stored.attribute(named: attribute.name),
        found.derivation?.kind == .function,
        found.derivation?.version == attribute.derivation?.version
      else { continue }
      functions[found.number] = function
    }
    return functions
  }

  /// Describes in words, for messages, the declared attributes that `stored` lacks or has with
  /// another type.
  func differences(from stored: EntityDescription) -> [String] {
    attributes.compactMap { declared in
      let label = "\(name).\(declared.name)"
      guard let found = stored.attribute(named: declared.name) else {
        return "\(label), which is not there"
      }
      guard declared.storage.reads(found) else {
        return "\(label), which is \(found.shape ?? found.type.name)"
      }
      guard declared.storage.isOptional == found.isOptional else {
        return "\(label), which is \(found.isOptional ? "optional" : "required")"
      }
      return nil
    }
  }

  /// Returns whether `stored` has all declared attributes in the declared form, in any order.
  func fits(_ stored: EntityDescription) -> Bool {
    attributes.allSatisfy { declared in
      guard let found = stored.attribute(named: declared.name) else { return false }
      return declared.storage.reads(found) && declared.storage.isOptional == found.isOptional
    }
  }

  /// Returns the declared attributes with their numbers in `stored`.
  func attributes(in stored: EntityDescription) -> [DeclaredAttribute] {
    attributes.map { attribute in
      DeclaredAttribute(
        number: stored.attribute(named: attribute.name)?.number ?? 0,
        documentType: attribute.storage.documentType)
    }
  }

  /// Returns the attributes of `stored` that the program's values are written with: those declared
  /// and not derived.
  ///
  /// The declaration must fit `stored`. The result is `nil` if these are all attributes of `stored`
  /// in the same order.
  func part(of stored: EntityDescription) -> DeclaredPart? {
    let numbers = attributes.compactMap { attribute in
      attribute.derivation == nil ? stored.attribute(named: attribute.name)?.number : nil
    }
    if stored.layout.attributes.map(\.number) == numbers { return nil }
    return DeclaredPart(stored, numbers: numbers)
  }

  /// Returns the layout to which records are converted before the program's type decodes them.
  ///
  /// The result is the layout of the file if that begins with the declared attributes in their
  /// order.
  func decodingLayout(of stored: EntityDescription) -> RecordLayout {
    let numbers = attributes.compactMap { stored.attribute(named: $0.name)?.number }
    let whole = stored.layout
    if whole.attributes.map(\.number).starts(with: numbers) { return whole }
    return RecordLayout(number: DeclaredPart.layoutNumber, attributes: whole.attributes(numbers))
  }
}

extension EntityDescription {
  /// Throws if imports are to fill two attributes from the same member.
  static func checkSources(
    _ attributes: [(name: String, source: String?)], of entity: String
  ) throws(StoreError) {
    var owners: [String: String] = [:]
    for (name, source) in attributes {
      guard let source else { continue }
      if let other = owners[source] {
        throw .badSchema(
          entity: entity, attribute: name,
          "attributes '\(other)' and '\(name)' have the same member '\(source)'; give each its own")
      }
      owners[source] = name
    }
  }
}

extension DeclaredEntity {
  /// Throws if a rule names an attribute listed in ``removed``.
  fileprivate func checkRules() throws(StoreError) {
    guard !removed.isEmpty else { return }
    for rule in rules {
      guard let names = try? ConditionParser.parse(rule.condition).tree.memberNames,
        let gone = removed.first(where: names.contains)
      else { continue }
      throw .badSchema(
        entity: name, attribute: gone,
        "attribute '\(gone)' is named in 'removed', and the rule '\(rule.name)' names it: "
          + "'\(rule.condition)'; take it out of one of them")
    }
  }
}

extension StoreError {
  fileprivate static func badConstraint(
    entity: String, attribute: String, _ fault: ConstraintFault
  ) -> StoreError {
    .badSchema(entity: entity, attribute: attribute, "'\(attribute)' \(fault.reason)")
  }
}

extension EntitySchema {

  /// Returns the position of an attribute that another part of the schema names; throws if there is
  /// no such attribute.
  ///
  /// - Parameter naming: the words before the path in the error.
  func position(of path: AnyKeyPath, _ naming: String) throws(StoreError) -> Int {
    if let position = index(of: path) { return position }
    throw .badSchema(entity: name, "\(naming) \(path), which is no attribute")
  }

  func positions(of paths: [some AnyKeyPath], _ naming: String) throws(StoreError) -> [Int] {
    try paths.map { path throws(StoreError) in try position(of: path, naming) }
  }
}
