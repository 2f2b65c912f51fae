internal import LodestoreFormat

// Checks before a changed schema is written: the limits of numbers and of the number of trees.

extension EntityDescription {
  /// Throws when a number exceeds its limit, or a rule of the catalogue is broken.
  ///
  /// The written catalogue must be readable; otherwise nobody could open the store.
  func checkReadable() throws(StoreError) {
    if let last = attributes.map(\.number).max(), last > Self.highestAttributeNumber {
      throw .numbersUsedUp("attributes", limit: Int(Self.highestAttributeNumber), entity: name)
    }
    if let last = layouts.map(\.number).max(), last > RecordLayout.highestNumber {
      throw .numbersUsedUp("layouts", limit: Int(RecordLayout.highestNumber), entity: name)
    }
    // After the highest possible number, the next number wraps to 0.
    if (indexes + building).contains(where: { $0.number == 0 }) {
      throw .numbersUsedUp("indexes", limit: Int(UInt32.max), entity: name)
    }
    do {
      _ = try EntityDescription(number: number, document: document)
    } catch {
      throw .unreadableSchema(entity: name, error)
    }
  }
}

extension StoredSchema {
  /// The maximum number of trees of entities, indexes and relationships.
  ///
  /// LMDB opens a few more, for the store's own trees.
  static let treeLimit = 4_000

  /// Throws when the file would have too many trees with `description`.
  func checkTreeCount(with description: EntityDescription) throws(StoreError) {
    let before = entities.map(\.description)
    let linked = relationships.map(\.description)
    try Self.checkTreeCount(
      before: (before, linked),
      after: (before.filter { $0.number != description.number } + [description], linked),
      of: description.name)
  }

  /// - Parameter entity: the name of the changed entity.
  static func checkTreeCount(
    before: ([EntityDescription], [RelationshipDescription]),
    after: ([EntityDescription], [RelationshipDescription]), of entity: String
  ) throws(StoreError) {
    let count = treeCount(after)
    // A file of another program that already exceeds the limit can still be opened.
    guard count > treeLimit, count > treeCount(before) else { return }
    throw .tooManyTrees(count, entity)
  }

  private static func treeCount(_ schema: ([EntityDescription], [RelationshipDescription])) -> Int {
    schema.0.reduce(0) { $0 + $1.trees.count } + schema.1.reduce(0) { $0 + $1.trees.count }
  }
}

extension StoreError {
  fileprivate static func tooManyTrees(_ count: Int, _ entity: String) -> StoreError {
    StoreError(
      .incompatibleSchema,
      "cannot add to \(entity): the file would have \(count) trees of entities, indexes, links and "
        + "orders, at most \(StoredSchema.treeLimit); give up indexes or relationships, or keep some of "
        + "the entities in a store of their own", entity: entity)
  }
}
