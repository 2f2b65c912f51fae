internal import LMDB
internal import LodestoreFormat

/// One thing that opening a store with some declared types would change in the file.
public struct SchemaChange: Sendable, Hashable {
  /// What a change costs; more may be added, keep a default case.
  public struct Cost: Sendable, Hashable, CustomStringConvertible {
    /// `free`, `pass` or `refused`.
    public let description: String

    /// Nothing that depends on the number of records.
    public static let free = Cost(description: "free")
    /// A pass over the records of the entity.
    public static let pass = Cost(description: "pass")
    /// It is not done: opening throws.
    public static let refused = Cost(description: "refused")
  }

  /// The entity.
  public let entity: String
  /// What it is, in words.
  public let text: String
  /// What it costs.
  public let cost: Cost

  init(_ entity: String, _ text: String, _ cost: Cost) {
    self.entity = entity
    self.text = text
    self.cost = cost
  }
}

extension SchemaChange: CustomStringConvertible {
  /// As in `Film: new index on title (pass)`.
  public var description: String { "\(entity): \(text) (\(cost))" }
}

extension Store {
  /// What opening the store at `path` with these types, and stages, would change in the file, without changing
  /// it: for tests of a migration, and before an update is shipped.
  ///
  ///     let changes = try Store.changes(at: path, opening: [Film.self])
  ///     #expect(!changes.contains { $0.cost == .refused })
  ///
  /// Stages are rehearsed: their steps are taken in a write that is taken back, so it takes as long as the
  /// migration, and other writers wait.
  ///
  /// - Throws: what reading the file throws; what cannot be done is among the changes.
  public static func changes(
    at path: String, opening entities: [any Entity.Type], migrating stages: [MigrationStage] = []
  ) throws(StoreError) -> [SchemaChange] {
    let plan = try MigrationPlan(stages)
    let declared = try declared(entities)
    var options = StoreOptions()
    options.access = .existing
    do {
      let core = try StoreCore(
        opening: path, isInMemory: false, declared: [], types: [:], options: options,
        work: nil)
      defer { core.close() }
      try core.reloadForReading()
      return try SchemaRehearsal(core).changes(declared, plan)
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

/// Finds what declared types would change, in a write that is taken back.
struct SchemaRehearsal {
  private let store: StoreCore

  init(_ store: StoreCore) { self.store = store }

  /// Takes the write back with what was found.
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
    _ declared: [DeclaredEntity], _ plan: MigrationPlan, in transaction: Transaction
  ) throws -> [SchemaChange] {
    var changes: [SchemaChange] = []
    let model = try Catalogue.modelVersion(store.trees, in: transaction)
    if plan.version > model {
      let run = MigrationRun(store, transaction, nil)
      do {
        try plan.run(after: model, run) { stage, step in
          changes.append(
            SchemaChange(
              step.pass ?? "stage \(stage.version)", step.text, step.pass == nil ? .free : .pass))
        }
        try run.settleLinks(try run.core())
      } catch let error as StoreError where error.code == .incompatibleSchema {
        changes.append(SchemaChange(error.entity ?? "stages", error.message, .refused))
        return changes
      }
    }
    let current = try store.load(in: transaction)
    return try changes
      + Self.differences(
        declared, current.entities.map(\.description), current.relationships.map(\.description)
      ) { entity in
        guard let stored = current.entity(named: entity) else { return false }
        return try transaction.count(of: stored.records) > 0
      }
  }

  /// What declared entities change in described ones.
  static func differences(
    _ declared: [DeclaredEntity], _ stored: [EntityDescription],
    _ relationships: [RelationshipDescription], hasRecords: (String) throws -> Bool
  ) throws -> [SchemaChange] {
    var changes: [SchemaChange] = []
    var settled = stored
    for declaration in declared {
      guard let index = settled.firstIndex(where: { $0.name == declaration.name }) else {
        let like = try declaration.likeness(in: stored, declared: declared) {
          try hasRecords($0.name)
        }
        if let like {
          let text = StoreError.resembles(declaration.name, like.name).message
          changes.append(SchemaChange(declaration.name, text, .refused))
          continue
        }
        changes.append(SchemaChange(declaration.name, "new entity", .free))
        settled.append(
          SchemaEvolution(
            creating: declaration,
            number: EntityNumber((settled.map(\.number.rawValue).max() ?? 0) &+ 1)
          ).result)
        continue
      }
      do {
        let evolution = try SchemaEvolution(
          from: settled[index], to: declaration, hasRecords: try hasRecords(declaration.name),
          held: Set(
            relationships.filter { $0.from.entity == settled[index].number }
              .compactMap(\.attribute)))
        changes += differences(settled[index], evolution)
        settled[index] = evolution.result
      } catch let error as StoreError {
        changes.append(SchemaChange(declaration.name, error.message, .refused))
      }
    }
    do throws(StoreError) {
      let evolution = try RelationshipEvolution(
        relationships, declared: declared, entities: settled)
      changes += differences(evolution, settled)
      var numbered = evolution.result
      for index in numbered.indices where numbered[index].number == 0 {
        numbered[index].number = (numbered.map(\.number).max() ?? 0) &+ 1
      }
      let derivations = try DerivationEvolution(
        declared: declared, entities: settled, relationships: numbered)
      for entity in settled {
        for number in (derivations.rebuilt[entity.number] ?? []).sorted() {
          let name = entity.attribute(number: number)?.name ?? "\(number)"
          changes.append(SchemaChange(entity.name, "'\(name)' is derived anew", .pass))
        }
      }
    } catch {
      changes.append(SchemaChange(error.entity ?? "", error.message, .refused))
    }
    return changes
  }

  private static func differences(
    _ before: EntityDescription, _ evolution: SchemaEvolution
  ) -> [SchemaChange] {
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
      if old.isOptional != attribute.isOptional {
        add(
          "'\(attribute.name)' becomes \(attribute.isOptional ? "optional" : "required")",
          attribute.isOptional ? .free : .pass)
      }
      if old.constraints != attribute.constraints {
        add("'\(attribute.name)' has other constraints, for what is written from now on")
      }
    }
    for index in after.indexes where evolution.addedIndexes.contains(index.number) {
      add("new \(index.isUnique ? "unique " : "")index on \(after.indexName(index))", .pass)
    }
    for index in before.indexes where evolution.droppedIndexes.contains(index.number) {
      add("the \(index.isUnique ? "unique " : "")index on \(before.indexName(index)) goes")
    }
    for index in after.elementIndexes where evolution.addedElementIndexes.contains(index.number) {
      add("new index on \(after.indexName(index))", .pass)
    }
    for index in before.elementIndexes
    where evolution.droppedElementIndexes.contains(index.number) {
      add("the index on \(before.indexName(index)) goes")
    }
    if before.rules != after.rules { add("other rules, for what is written from now on") }
    if before.history != after.history {
      add(
        after.history.map { "history of what is written from now on: \(after.words(of: $0))" }
          ?? "no history of what is written from now on")
    }
    return changes
  }

  private static func differences(
    _ evolution: RelationshipEvolution, _ entities: [EntityDescription]
  ) -> [SchemaChange] {
    func name(_ side: RelationshipDescription.Side) -> String {
      entities.first { $0.number == side.entity }?.name ?? "?"
    }
    var changes: [SchemaChange] = []
    for relationship in evolution.changed {
      let ends = "\(name(relationship.from)) and \(name(relationship.to))"
      let isNew = relationship.number == 0
      changes.append(
        SchemaChange(
          name(relationship.from), "\(isNew ? "new" : "changed") relationship of \(ends)",
          isNew && relationship.attribute != nil || evolution.ordersLinks(of: relationship)
            ? .pass : .free))
    }
    for relationship in evolution.removed {
      changes.append(
        SchemaChange(
          name(relationship.from),
          "the relationship of \(name(relationship.from)) and \(name(relationship.to)) goes", .free)
      )
    }
    return changes
  }
}
