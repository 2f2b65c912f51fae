internal import LMDB
internal import LodestoreFormat

extension DeclaredEntity {
  /// Returns whether a stored entity may be this one under another name.
  ///
  /// At least three quarters of the attributes of each entity must have an attribute with an equal
  /// name and type in the other.
  func resembles(_ stored: EntityDescription) -> Bool {
    let others = stored.declaredAttributes
    let shared = attributes.count { attribute in
      others.contains { other in
        (other.name == attribute.name || other.name == attribute.originalName)
          && other.type == attribute.storage.type
      }
    }
    return shared > 0 && 4 * shared >= 3 * max(attributes.count, others.count)
  }

  /// Returns the entity of `stored` that this new entity may be under another name.
  ///
  /// - Parameters:
  ///   - declared: all entities of the program, none of which is renamed.
  ///   - hasRecords: returns whether an entity has records, which would seem to be lost.
  func likeness(
    in stored: [EntityDescription], declared: [DeclaredEntity],
    hasRecords: (EntityDescription) throws -> Bool
  ) rethrows -> EntityDescription? {
    guard !isPartial else { return nil }
    return try stored.first { other in
      try !declared.contains { $0.name == other.name } && resembles(other) && hasRecords(other)
    }
  }
}

extension StoreCore {
  /// Throws when a new entity is most likely an entity of the file with another name.
  func checkResemblance(
    of declaration: DeclaredEntity, in current: StoredSchema, _ transaction: Transaction
  ) throws {
    guard !options.addsResemblingEntities else { return }
    let found = try declaration.likeness(
      in: current.entities.map(\.description), declared: declared
    ) { other in
      guard let entity = current.entity(named: other.name) else { return false }
      return try transaction.count(of: entity.records) > 0
    }
    if let found { throw StoreError.resembles(declaration.name, found.name) }
  }
}

extension StoreError {
  /// The error for opening a store with a renamed type.
  static func resembles(_ new: String, _ old: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot add \(new): the file has no entity of this name, and has records of '\(old)', which has "
        + "nearly the same attributes and is not declared; if it is \(old) under another name, open the "
        + "store with the stage .rename(entity: \"\(old)\", to: \"\(new)\"); if not, declare both, or "
        + "set addsResemblingEntities in the StoreOptions",
      entity: new)
  }
}
