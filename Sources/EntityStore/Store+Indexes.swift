internal import LMDB
internal import LodestoreFormat

/// An index that is being built while the store is used.
public struct IndexBuild: Sendable, Hashable {
  /// The entity's name.
  public let entity: String
  /// The names of the attributes, joined by `+`.
  public let attributes: String
  /// Whether it is a unique one.
  public let isUnique: Bool
  /// How many records have entries, about.
  public let progress: WorkProgress
}

extension Store {
  /// The indexes that are being built; see ``StoreOptions/buildsIndexesInUse``.
  ///
  /// - Complexity: O(1) in the number of records.
  public func indexBuilds() throws -> [IndexBuild] {
    try core.read { core in
      try core.schema.entities.flatMap { entity in
        try entity.building.map { index in
          let cursor = try Cursor(entity.records, in: core.transaction)
          let highest = try cursor.last() ? cursor.integerKey : 0
          let next = try core.nextToIndex(index, of: entity)
          let count = try core.count(of: entity)
          let share = highest == 0 ? 1 : min(1, Double(next - 1) / Double(highest))
          return IndexBuild(
            entity: entity.name, attributes: entity.description.indexName(index.description),
            isUnique: index.isUnique,
            progress: WorkProgress(completed: Int(share * Double(count)), total: count))
        }
      }
    }
  }

  /// Returns when the indexes that were being built when this store was opened are whole; at once where there
  /// are none.
  ///
  /// Cancelling the task ends the wait, and not the building.
  ///
  /// - Throws: ``StoreError/Code/incompatibleSchema`` with the first pairs of records, where a unique index
  ///   cannot be made: it is given up until the store is opened again. ``StoreError/Code/closed`` when the
  ///   store is closed before. `CancellationError` when the task is cancelled.
  public func waitForIndexes() async throws {
    try await builder?.wait()
  }
}
