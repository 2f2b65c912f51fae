internal import LMDB
internal import LodestoreFormat

extension Opening {
  /// Applies the declared derivations to the file, and computes the new ones.
  ///
  /// Runs after the entities and the relationships have been changed.
  ///
  /// - Returns: the entities whose records may have changed.
  func evolveDerivations() throws -> Set<EntityNumber> {
    let touched = stages?.touched ?? []
    var evolution = try DerivationEvolution(
      declared: declared, entities: try store.trees.descriptions(in: transaction.reads),
      relationships: try store.trees.relationships(in: transaction.reads))
    for entity in evolution.changed { try store.trees.put(entity, in: transaction) }
    try store.checkNames(except: lost, in: transaction.reads)
    guard evolution.isChanged || !laterIndexes.isEmpty || !touched.isEmpty else { return [] }
    let core = try store.writing(transaction)
    core.reportChanges(to: stages?.sink ?? rules)
    evolution.rebuild(touched, core.schema)
    evolution.rebuildDependents(core.schema)
    let concerned = evolution.concerned(core.schema)
    // The construction of indexes on these attributes is stopped before the records change, because
    // the entries made so far contain old values.
    for entity in core.schema.entities {
      for index in entity.building
      where concerned[entity.number]?.isDisjoint(with: index.description.attributes) == false {
        try store.stopBuilding(index, of: entity, in: transaction)
      }
    }
    var rebuilt: Set<EntityNumber> = []
    for (number, attributes) in evolution.inOrder(core.schema.derived) {
      guard let entity = core.schema.entity(number) else { continue }
      try core.rebuildDerived(
        attributes, of: entity, laterIndexes: laterIndexes[number] ?? [],
        entity.occasion(rebuilding: attributes))
      if try core.count(of: entity) > 0 { rebuilt.insert(number) }
    }
    for entity in core.schema.entities {
      for index in entity.indexes
      where laterIndexes[entity.number]?.contains(index.description.number) == true {
        try core.build(index, of: entity, work)
      }
      for index in entity.computedIndexes
      where concerned[entity.number]?.isDisjoint(with: index.attributes) == false {
        try store.discard(index, of: entity, in: transaction)
        if !index.isBuilding { try core.build(index, of: entity, work) }
      }
    }
    return rebuilt
  }
}
