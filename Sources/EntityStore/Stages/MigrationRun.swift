internal import LMDB
internal import LodestoreFormat

/// Runs the steps of stages on a file, within the transaction that opens it.
final class MigrationRun {
  let store: StoreCore
  let transaction: WritingTransaction
  let work: OpeningWork?
  /// The rules to check at the end of the opening; `nil` when no step changes a value.
  let rules: OpeningRules?
  /// The entities whose records or links were changed; their derived data is rebuilt at the end.
  var touched: Set<EntityNumber> = []
  /// The links to create when the declared relationships exist.
  var links: [MigratedLinks] = []
  /// The unique indexes postponed to the end of the stage, because keys are repeated until then.
  var deferredIndexes: [(entity: EntityNumber, index: EntityDescription.Index)] = []
  /// The steps that have run, with their effects.
  private(set) var steps: [SchemaChange] = []

  init(
    _ store: StoreCore, _ transaction: WritingTransaction, _ work: OpeningWork?,
    rules: OpeningRules? = OpeningRules()
  ) {
    self.store = store
    self.transaction = transaction
    self.work = work
    self.rules = rules
  }

  // MARK: Report

  /// Adds the next step to the report.
  func begin(_ step: MigrationStep, of stage: MigrationStage) {
    steps.append(
      SchemaChange(
        step.pass ?? "stage \(stage.version)", step.text, step.pass == nil ? .free : .pass))
  }

  /// Adds the effect of the current step to the report.
  func report(_ text: String) {
    guard let step = steps.popLast() else { return }
    steps.append(SchemaChange(step.entity, "\(step.text): \(text)", step.cost))
  }

  // MARK: Catalogue

  func entities() throws -> [EntityDescription] {
    try store.trees.descriptions(in: transaction.reads)
  }

  func relationships() throws -> [RelationshipDescription] {
    try store.trees.relationships(in: transaction.reads)
  }

  func entity(_ name: String) throws -> EntityDescription {
    let all = try entities()
    if let found = all.first(where: { $0.name == name }) { return found }
    throw StoreError.cannotMigrate(
      "the file has no entity '\(name)', but \(all.map(\.name).sorted().joined(separator: ", "))")
  }

  func index(of attribute: String, in entity: EntityDescription) throws -> Int {
    if let found = entity.attributes.firstIndex(where: { $0.name == attribute && !$0.isRemoved }) {
      return found
    }
    let hint = NearestName.of(attribute, among: entity.declaredAttributes.map(\.name))
    throw StoreError.cannotMigrate(
      "'\(attribute)' is no attribute of \(entity.name) in the file"
        + (hint.map { "; did you mean '\($0)'?" } ?? ""), entity: entity.name)
  }

  /// Changes the catalogue's description of an entity.
  func change(_ name: String, _ body: (inout EntityDescription) throws -> Void) throws {
    var description = try entity(name)
    try body(&description)
    try put(description)
  }

  /// Writes the description of an entity to the catalogue.
  ///
  /// Drops rules that name a missing attribute; the declared type provides new rules.
  func put(_ description: EntityDescription) throws {
    var description = description
    // Adapts expiry and limit to the changed attributes. The declared types, which are applied
    // last, set both again.
    description.evolveEviction()
    let before = try entities().first { $0.number == description.number }
    description.rules = try description.rules.filter { rule in
      // A rule stays if this program could not parse it even before the change.
      try isReadable(rule, in: description) || before.map { try !isReadable(rule, in: $0) } ?? false
    }
    try store.trees.put(description, in: transaction)
  }

  private func isReadable(
    _ rule: EntityDescription.Rule, in description: EntityDescription
  ) throws -> Bool {
    var description = description
    description.rules = [rule]
    let entity = try stored(description)
    let core = store.writing(transaction, only: entity)
    do throws(StoreError) {
      _ = try core.rules(of: entity)
      return true
    } catch {
      guard error.code == .badSchema else { throw error }
      return false
    }
  }

  func tree(_ name: TreeName) throws -> Tree {
    try store.environment.openOrMakeTree(name, in: transaction)
  }

  func stored(_ description: EntityDescription) throws -> StoredEntity {
    try StoredEntity(description: description, declared: nil, tree: tree)
  }

  /// Creates a core that reads and writes with the current catalogue.
  ///
  /// The core checks neither constraints nor rules. The constraints and rules of the declared types
  /// are checked at the end of all stages.
  func core() throws -> WriteCore {
    let core = try store.writing(transaction, isForStages: true)
    if let rules { core.reportChanges(to: rules) }
    return core
  }

  /// Notes the entities that `core` has changed; call this method when `core` is no longer used.
  ///
  /// - Throws: ``StoreError/Code/brokenTransaction`` when a batch of changes failed and the step
  ///   continued nevertheless.
  func end(_ core: WriteCore) throws {
    if let brokenBy = core.brokenBy { throw StoreError.brokenTransaction(by: brokenBy) }
    touched.formUnion(core.notedEntities)
  }

  // MARK: Names

  func rename(entity old: String, to new: String) throws {
    guard try !entities().contains(where: { $0.name == new }) else {
      throw StoreError.cannotMigrate(
        """
        the file has an entity '\(new)' already, as a program makes one that opens the file \
        without this stage; where that one is not wanted, the stage first says \
        .rename(entity: "\(new)", to: "Old\(new)")
        """, entity: new)
    }
    try change(old) { $0.name = new }
  }

  func rename(_ attribute: String, of entity: String, to new: String) throws {
    let before = try self.entity(entity)
    var after = before
    after.attributes[try index(of: attribute, in: before)].name = new
    after.renameInRules(since: before)
    try put(after)
    try store.renameInConditions(from: before, to: after, in: transaction)
  }

  func create(_ name: String) throws {
    guard try !entities().contains(where: { $0.name == name }) else {
      throw StoreError.cannotMigrate("the file has an entity '\(name)' already", entity: name)
    }
    let declared = try DeclaredEntity(name: name, attributes: [], indexes: [])
    let number = try store.nextEntity(after: entities(), in: transaction)
    let description = SchemaEvolution(creating: declared, number: number).result
    try store.load(in: transaction.reads).checkTreeCount(with: description)
    try put(description)
    _ = try stored(description)
  }

  func add(_ name: String, to entity: String, _ storage: AttributeStorage, initial: Value) throws {
    try change(entity) { description in
      guard description.attribute(named: name) == nil else {
        throw StoreError.cannotMigrate("'\(entity).\(name)' is there already", entity: entity)
      }
      guard storage.isOptional || initial != .null else {
        throw StoreError.cannotMigrate(
          "'\(entity).\(name)' is required and has no initial value; give it one", entity: entity)
      }
      description.append(name, storage, initial: initial)
    }
  }

  func remove(_ name: String, of entity: String) throws {
    try drop(try self.entity(entity), [name])
  }

  /// Removes attributes with their indexes.
  private func drop(_ entity: EntityDescription, _ names: [String]) throws {
    var description = entity
    let numbers = try Set(
      names.map { description.attributes[try self.index(of: $0, in: entity)].number })
    try checkHolders(numbers, of: entity)
    for index in description.indexes where !numbers.isDisjoint(with: index.attributes) {
      try empty(index, of: description)
    }
    description.indexes.removeAll { !numbers.isDisjoint(with: $0.attributes) }
    try dropComputedIndexes(over: numbers, of: &description)
    for index in description.attributes.indices
    where numbers.contains(description.attributes[index].number) {
      description.attributes[index].isRemoved = true
    }
    description.setCurrentLayout()
    try put(description)
  }

  private func checkHolders(_ numbers: Set<UInt32>, of entity: EntityDescription) throws {
    let held = try relationships().filter { $0.from.entity == entity.number }
    guard let attribute = held.compactMap(\.attribute).first(where: numbers.contains) else {
      return
    }
    let name = entity.attribute(number: attribute)?.name ?? ""
    throw StoreError.cannotMigrate(
      "'\(entity.name).\(name)' is a relationship; name it in 'removed' of the declared type, or use "
        + "the step toMany", entity: entity.name)
  }

  /// Drops the computed indexes on attributes; opening rebuilds the declared ones.
  func dropComputedIndexes(
    over numbers: Set<UInt32>, of description: inout EntityDescription
  ) throws {
    func isOver(_ index: EntityDescription.ComputedIndex) -> Bool {
      index.sources.contains { numbers.contains($0.attribute) }
    }
    try store.empty(
      description.computedIndexes.filter(isOver).map { $0.tree(of: description.number) },
      in: transaction)
    description.computedIndexes.removeAll(where: isOver)
  }

  func empty(_ index: EntityDescription.Index, of entity: EntityDescription) throws {
    let stored = StoredIndex(
      description: index, tree: try tree(.index(entity: entity.number, index: index.number)),
      name: "\(entity.name).\(entity.indexName(index))", entityName: entity.name)
    try stored.empty(in: transaction)
  }

  // MARK: Checks

  func check(_ attribute: String, of entity: String, is storage: AttributeStorage) throws {
    let description = try self.entity(entity)
    let found = description.attributes[try self.index(of: attribute, in: description)]
    // Whether documents have the type is only known when they are decoded.
    guard found.type == storage.type else {
      throw StoreError.cannotMigrate(
        "'\(entity).\(attribute)' is stored as \(found.shape ?? found.type.name), and the step takes it "
          + "for \(storage.shape ?? storage.type.name)", entity: entity)
    }
  }
}

extension EntityDescription {
  /// Appends an attribute.
  mutating func append(
    _ name: String, _ storage: AttributeStorage, initial: Value,
    constraints: AttributeConstraints = AttributeConstraints()
  ) {
    attributes.append(
      Attribute(
        number: (attributes.map(\.number).max() ?? 0) + 1, name: name, type: storage.type,
        isOptional: storage.isOptional, shape: storage.shape, members: storage.members,
        initial: initial, constraints: constraints))
    setCurrentLayout()
  }

  /// Sets the layout of new records to the remaining attributes, in the order of the current
  /// layout.
  mutating func setCurrentLayout() {
    let live = attributes.filter { !$0.isRemoved }
    let before = layout.attributes.map(\.number)
    setCurrentLayout(
      before.filter { number in live.contains { $0.number == number } }
        + live.map(\.number).filter { !before.contains($0) })
  }
}

extension StoreError {
  static func cannotMigrate(
    _ reason: String, entity: String? = nil, attribute: String? = nil, recordID: UInt64? = nil,
    cause: (any Error)? = nil
  ) -> StoreError {
    StoreError(
      .incompatibleSchema, "cannot migrate the store: \(reason)", cause: cause, entity: entity,
      attribute: attribute, recordID: recordID)
  }
}
