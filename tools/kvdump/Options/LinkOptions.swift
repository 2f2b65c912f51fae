import EntityStore

/// Relationships in files: told by unique keys.
enum LinkOptions {
  /// The relationships of `entity` that can be told so; of the others a note is made.
  static func links(
    of entity: DynamicEntity, _ snapshot: DynamicSnapshot, on console: Console
  ) throws -> [DynamicLink] {
    for left in snapshot.untoldLinks(of: entity) {
      console.note("\(left), which has no unique index over one attribute: it is left as it is")
    }
    return snapshot.links(of: entity)
  }
}
