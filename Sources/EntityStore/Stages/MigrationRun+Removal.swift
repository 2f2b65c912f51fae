internal import LMDB
internal import LodestoreFormat

extension MigrationRun {
  /// Removes an entity with its records and indexes, and the links to its records.
  func remove(entity name: String) throws {
    let entity = try self.entity(name)
    let gone = try relationships().filter {
      $0.from.entity == entity.number || $0.to.entity == entity.number
    }
    try checkDerived(of: entity, by: gone)
    try purgeHistory(of: entity)
    for relationship in gone {
      try store.empty(relationship.trees, in: transaction)
      try store.trees.remove(relationship, in: transaction)
    }
    for relationship in gone where relationship.from.entity != entity.number {
      guard let number = relationship.attribute,
        let holder = try entities().first(where: { $0.number == relationship.from.entity }),
        let attribute = holder.attribute(number: number)
      else { continue }
      try remove(attribute.name, of: holder.name)
    }
    try store.empty(entity.trees, in: transaction)
    try store.trees.remove(entity, in: transaction)
    touched.remove(entity.number)
    links.removeAll { $0.source == entity.number }
  }

  /// Throws when an attribute of another entity is derived from records of `entity`.
  private func checkDerived(
    of entity: EntityDescription, by gone: [RelationshipDescription]
  ) throws {
    let numbers = Set(gone.map(\.number))
    for other in try entities() where other.number != entity.number {
      let derived = other.declaredAttributes.first {
        $0.derivation?.relationship.map(numbers.contains) ?? false
      }
      guard let derived else { continue }
      throw StoreError.cannotMigrate(
        "'\(other.name).\(derived.name)' is derived from \(entity.name); the stage must first have the step "
          + ".remove(\"\(derived.name)\", of: \"\(other.name)\")", entity: entity.name)
    }
  }

  /// Purges the history if it contains `entity`, because it may only refer to existing entities.
  private func purgeHistory(of entity: EntityDescription) throws {
    guard try store.environment.tree(.history, in: transaction.reads) != nil else { return }
    let log = try WritableHistoryLog(creatingIn: try core())
    var isReported = false
    try log.reads.forEachPart(from: 0) { _, _, part in
      isReported = part.changes.contains { $0.entity == entity.number }
      return !isReported
    }
    if isReported { _ = try log.purge(through: try log.reads.lastNumber()) }
  }
}
