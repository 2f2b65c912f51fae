internal import LMDB
internal import LodestoreFormat

extension Store {
  /// Lists the changes that opening the store at `path` with these types and stages would make in
  /// the file.
  ///
  /// The file stays unchanged. Use the function in tests of a migration, and before shipping an
  /// update.
  ///
  ///     let changes = try Store.schemaChanges(at: path, opening: [Film.self])
  ///     #expect(!changes.contains { $0.cost == .refused })
  ///
  /// Records are read if a change may be refused. Stages run in a write that is then aborted, so
  /// the call takes as long as the migration, and other writers wait.
  ///
  /// - Throws: errors of reading the file. A refused change is not an error, but one of the
  ///   returned changes.
  public static func schemaChanges(
    at path: String, opening entities: [any Entity.Type], migrating stages: [MigrationStage] = []
  ) throws(StoreError) -> [SchemaChange] {
    let plan = try MigrationPlan(stages)
    let declared = try declared(entities)
    var options = StoreOptions()
    options.access = .existing
    return try wrappingErrors {
      let core = try StoreCore(
        opening: path, isInMemory: false, declared: declared, types: [:], options: options,
        work: nil)
      defer { core.close() }
      try core.reloadForReading()
      return try SchemaRehearsal(core).changes(declared, plan)
    }
  }
}

/// Determines the changes for declared types, in a write that is then aborted.
struct SchemaRehearsal {
  private let store: StoreCore

  init(_ store: StoreCore) { self.store = store }

  /// Thrown to abort the write, with the changes that were found.
  private struct Found: Error {
    var changes: [SchemaChange]
  }

  func changes(_ declared: [DeclaredEntity], _ plan: MigrationPlan) throws -> [SchemaChange] {
    do {
      try store.environment.write { transaction in
        throw Found(changes: try find(declared, plan, in: transaction))
      }
      return []
    } catch let found as Found {
      return found.changes
    }
  }

  private func find(
    _ declared: [DeclaredEntity], _ plan: MigrationPlan, in transaction: WritingTransaction
  ) throws -> [SchemaChange] {
    var changes: [SchemaChange] = []
    let model = try store.trees.modelVersion(in: transaction.reads)
    let opening = try Opening(store, declared, in: transaction, nil)
    var opened: MigrationRun?
    if plan.version > model {
      let run = MigrationRun(store, transaction, nil)
      do {
        try plan.run(after: model, run)
        try run.updateLinksAndOrders(try run.core())
        changes += run.steps
        opened = run
      } catch let error as StoreError where error.code == .incompatibleSchema {
        changes += run.steps
        changes.append(SchemaChange(error.entity ?? "stages", error.message, .refused))
        return changes
      }
    }
    let core = try store.writing(transaction)
    changes += try Self.differences(
      declared, core.schema.entities.map(\.description),
      core.schema.relationships.map(\.description), lost: opening.lost, records: core)
    guard let opened, !changes.contains(where: { $0.cost == .refused }) else { return changes }
    // The values that stages set are final only after the schema was changed to fit the declared
    // types.
    do throws(StoreError) {
      try wrappingErrors {
        opening.stages = opened
        try opening.evolve()
      }
    } catch {
      guard error.code == .incompatibleSchema || error.code == .badSchema else { throw error }
      changes.append(SchemaChange(error.entity ?? "stages", error.message, .refused))
    }
    return changes
  }

  /// The changes from described entities to declared ones.
  ///
  /// - Parameters:
  ///   - lost: the messages about conditions that named missing parts before all stages; `nil`
  ///     without stages.
  ///   - records: the records of the described entities; `nil` when there are no records to check.
  static func differences(
    _ declared: [DeclaredEntity], _ stored: [EntityDescription],
    _ relationships: [RelationshipDescription], lost: Set<String>? = nil, records: TransactionCore?
  ) throws -> [SchemaChange] {
    func hasRecords(_ name: String) throws -> Bool {
      guard let records, let entity = records.schema.entity(named: name) else { return false }
      return try records.count(of: entity) > 0
    }
    var changes: [SchemaChange] = []
    func add(_ entity: String, _ text: String, _ cost: SchemaChange.Cost) {
      changes.append(SchemaChange(entity, text, cost))
    }
    var evolved = stored
    let lost = lost ?? Set(LostName.all(stored, relationships).map(\.message))
    var relationships = relationships
    for declaration in declared {
      guard let index = evolved.firstIndex(where: { $0.name == declaration.name }) else {
        let like = try declaration.likeness(in: stored, declared: declared) {
          try hasRecords($0.name)
        }
        if let like {
          let text = StoreError.resembles(declaration.name, like.name).message
          add(declaration.name, text, .refused)
          continue
        }
        add(declaration.name, "new entity", .free)
        evolved.append(
          SchemaEvolution(
            creating: declaration,
            number: EntityNumber((evolved.map(\.number.rawValue).max() ?? 0) &+ 1)
          ).result)
        continue
      }
      do {
        let evolution = try SchemaEvolution(
          from: evolved[index], to: declaration, hasRecords: try hasRecords(declaration.name),
          linkAttributes: Set(
            relationships.filter { $0.from.entity == evolved[index].number }
              .compactMap(\.attribute)))
        let check = records.flatMap { core in
          core.schema.entity(named: declaration.name).map { RecordCheck(core, $0) }
        }
        changes += try differences(evolved[index], evolution, declaration, check)
        let renamed = RenamedAttributes(from: evolved[index], to: evolution.result)
        evolved[index] = evolution.result
        renamed.rename(in: &evolved, &relationships)
      } catch let error as StoreError {
        add(declaration.name, error.message, .refused)
      }
    }
    do throws(StoreError) {
      let evolution = try RelationshipEvolution(
        relationships, declared: declared, entities: evolved)
      changes += differences(evolution, evolved)
      var numbered = evolution.result
      for index in numbered.indices where numbered[index].number == 0 {
        numbered[index].number = (numbered.map(\.number).max() ?? 0) &+ 1
      }
      let derivations = try DerivationEvolution(
        declared: declared, entities: evolved, relationships: numbered)
      for entity in evolved {
        for number in (derivations.rebuilt[entity.number] ?? []).sorted() {
          let name = entity.attribute(number: number)?.name ?? "\(number)"
          add(entity.name, "'\(name)' is derived again", .pass)
        }
        let after = derivations.changed.first { $0.number == entity.number } ?? entity
        for attribute in entity.declaredAttributes
        where attribute.derivation != nil
          && after.attribute(number: attribute.number)?.derivation == nil
        {
          add(
            entity.name,
            "'\(attribute.name)' is no longer derived; it keeps its values, and programs set new ones",
            .free)
        }
      }
      let derived = evolved.map { entity in
        derivations.changed.first { $0.number == entity.number } ?? entity
      }
      for name in LostName.all(derived, numbered) where !lost.contains(name.message) {
        add(name.entity, name.message, .refused)
      }
    } catch {
      add(error.entity ?? "", error.message, .refused)
    }
    return changes
  }

  private static func differences(
    _ before: EntityDescription, _ evolution: SchemaEvolution, _ declared: DeclaredEntity,
    _ check: RecordCheck?
  ) throws -> [SchemaChange] {
    let after = evolution.result
    var changes: [SchemaChange] = []
    func add(_ text: String, _ cost: SchemaChange.Cost = .free) {
      changes.append(SchemaChange(before.name, text, cost))
    }
    for attribute in after.attributes {
      guard let old = before.attribute(number: attribute.number) else {
        add(
          "new attribute '\(attribute.name)', \(attribute.isOptional ? "optional " : "")"
            + attribute.type.name)
        continue
      }
      if old.isRemoved { continue }
      if attribute.isRemoved {
        add("attribute '\(old.name)' goes, with its values")
        continue
      }
      if old.name != attribute.name { add("'\(old.name)' is renamed to '\(attribute.name)'") }
      let member = attribute.source ?? attribute.name
      if old.source ?? old.name != member, old.source != nil || attribute.source != nil {
        add("'\(attribute.name)' is imported from the member '\(member)'")
      }
      if old.isOptional != attribute.isOptional {
        let text = "'\(attribute.name)' becomes \(attribute.isOptional ? "optional" : "required")"
        let lacking = attribute.isOptional ? 0 : try check?.nullCount(of: old) ?? 0
        if lacking > 0 {
          add(
            text
              + ", and \(lacking) records have no value; give them one, as the step 'require' of a "
              + "stage does", .refused)
        } else {
          add(text, attribute.isOptional ? .free : .pass)
        }
      }
      if old.constraints != attribute.constraints {
        add("'\(attribute.name)' has other constraints, for records written from now on")
      }
      if old.defaultValue != attribute.defaultValue {
        add(
          "'\(attribute.name)' has \(words(attribute.defaultValue)) for new records, and had "
            + "\(words(old.defaultValue))")
      }
      changes += try documentChanges(old, attribute, evolution, check)
    }
    for index in after.indexes where evolution.addedIndexes.contains(index.number) {
      let text = "new \(index.isUnique ? "unique " : "")index on \(after.indexName(index))"
      guard index.isUnique, let check else {
        add(text, .pass)
        continue
      }
      switch try check.repeated(index, after, declared.numbersOfDerived(in: after)) {
      case nil: add(text + ", whose derived values have to differ", .pass)
      case let repeated? where repeated.count > 0:
        add(
          text + ", and \(repeated.count) records have the values of others"
            + (repeated.example.map { ", such as \($0) and \($1)" } ?? "")
            + "; take the step 'deduplicate' of a stage", .refused)
      default: add(text, .pass)
      }
    }
    for index in before.indexes where evolution.droppedIndexes.contains(index.number) {
      add("the \(index.isUnique ? "unique " : "")index on \(before.indexName(index)) goes")
    }
    for index in after.computedIndexes where evolution.addedComputedIndexes.contains(index.number) {
      add("new index on \(after.indexName(index))", .pass)
    }
    for index in before.distinctComputedIndexes
    where evolution.droppedComputedIndexes.contains(index.number) {
      add("the index on \(before.indexName(index)) goes")
    }
    let rules = RenamedAttributes(from: before, to: after).renamed(before.rules)
    if rules != after.rules { add("other rules, for records written from now on") }
    if before.expiry != after.expiry {
      add(
        after.expiryText.map { "records expire by '\($0)', those of the past at once" }
          ?? "no record expires")
    }
    if before.limit != after.limit {
      add(
        after.limitText.map { "limited to \($0), the oldest records beyond it are evicted" }
          ?? "no limit")
    }
    if before.history != after.history {
      add(
        after.history.map { "history of changes from now on: \(after.words(of: $0))" }
          ?? "no history of changes from now on")
    }
    return changes
  }

  /// A default value in words.
  private static func words(_ value: Value) -> String {
    value == .null ? "no default" : "the default \(KeyText.detail(of: value))"
  }

  /// The changes in the documents of one attribute.
  private static func documentChanges(
    _ old: EntityDescription.Attribute, _ new: EntityDescription.Attribute,
    _ evolution: SchemaEvolution, _ check: RecordCheck?
  ) throws -> [SchemaChange] {
    let entity = evolution.result.name
    var changes = (evolution.documentChanges[new.number] ?? []).map { change in
      SchemaChange(entity, "'\(new.name)': \(change.text)", change.fits ? .free : .pass)
    }
    if old.members == nil, new.members != nil, changes.isEmpty {
      changes.append(SchemaChange(entity, "'\(new.name)': its members are described", .free))
    }
    let reshaped = evolution.reshaped.filter { $0.number == new.number }
    if let error = try check?.misfit(reshaped) {
      changes = changes.filter { $0.cost == .free }
      changes.append(SchemaChange(entity, error.message, .refused))
    }
    return changes
  }

  private static func differences(
    _ evolution: RelationshipEvolution, _ entities: [EntityDescription]
  ) -> [SchemaChange] {
    func name(_ side: RelationshipDescription.Side) -> String {
      entities.first { $0.number == side.entity }?.name ?? "?"
    }
    func ends(_ relationship: RelationshipDescription) -> String {
      "relationship of \(name(relationship.from)) and \(name(relationship.to))"
    }
    let changed = evolution.changed.map { relationship in
      let isNew = relationship.number == 0
      let isPass = isNew && relationship.attribute != nil || evolution.ordersLinks(of: relationship)
      return SchemaChange(
        name(relationship.from), "\(isNew ? "new" : "changed") \(ends(relationship))",
        isPass ? .pass : .free)
    }
    return changed
      + evolution.removed.map { SchemaChange(name($0.from), "the \(ends($0)) goes", .free) }
  }
}

/// Searches an entity for records because of which a change of its schema would be refused.
private struct RecordCheck {
  private let core: TransactionCore
  private let entity: StoredEntity

  init(_ core: TransactionCore, _ entity: StoredEntity) {
    self.core = core
    self.entity = entity
  }

  /// Returns the number of records with null in an attribute.
  func nullCount(of attribute: EntityDescription.Attribute) throws -> Int {
    var count = 0
    let verifies = core.verifiesChecksums(of: entity)
    try core.forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      if try entity.view(bytes, id: id, verifying: verifies).isNull(attribute) { count += 1 }
    }
    return count
  }

  /// Returns the number of records with a repeated key in a unique index, and an example of two.
  ///
  /// Returns `nil` when the index contains derived attributes, whose values are not computed yet.
  func repeated(
    _ index: EntityDescription.Index, _ after: EntityDescription, _ derived: Set<UInt32>
  ) throws -> (count: Int, example: (UInt64, UInt64)?)? {
    guard derived.isDisjoint(with: index.attributes) else { return nil }
    let old = index.attributes.filter { entity.description.attribute(number: $0) != nil }
    let new = index.attributes.filter { !old.contains($0) }
    // A new attribute has one value in all records, and null equals no other value.
    if new.contains(where: { after.attribute(number: $0)?.initial == .null }) { return (0, nil) }
    guard !old.isEmpty else { return (max(0, try core.count(of: entity) - 1), nil) }
    guard let entries = try core.uniqueEntries(over: old, of: entity, nil) else { return (0, nil) }
    var count = 0
    var example: (UInt64, UInt64)?
    try entries.sorted.forEachRepeated { _, first, second in
      count += 1
      if example == nil { example = (first, second) }
      return true
    }
    return (count, example)
  }

  /// Returns the error for a document that the program cannot read; `nil` when it can read all.
  func misfit(_ reshaped: [ReshapedDocuments]) throws -> StoreError? {
    do throws(StoreError) {
      try core.checkDocuments(of: reshaped, in: entity, nil)
      return nil
    } catch {
      guard error.code == .incompatibleSchema else { throw error }
      return error
    }
  }
}
