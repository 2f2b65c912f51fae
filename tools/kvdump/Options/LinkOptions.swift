import EntityStore

/// Relationships written to files as unique keys.
enum LinkOptions {
  /// The relationships of `entity` that unique keys can represent.
  ///
  /// Adds a note about each relationship that they cannot represent.
  static func links(
    of entity: DynamicEntity, _ snapshot: DynamicSnapshot, isImport: Bool = false,
    on console: Console
  ) throws -> [DynamicLink] {
    for left in snapshot.unlistedRelationships(of: entity) {
      let rest =
        switch (left.isAttribute, isImport) {
        case (false, _): "its links are left out"
        case (true, false): "the file has the ids of this store, which name other records elsewhere"
        case (true, true): "'\(left.name)' of the records is the id of a record of this store"
        }
      console.note(
        "\(entity.name).\(left.name) leads to \(left.target), which has no unique index over one "
          + "attribute: \(rest)")
    }
    return snapshot.links(of: entity)
  }
}
