internal import LMDB
internal import LodestoreFormat

/// An index that is being built while the store is in use.
public struct IndexBuild: Sendable, Hashable {
  /// The entity's name.
  public let entity: String
  /// The names of the attributes, joined by `+`.
  public let attributes: String
  /// Whether the index is unique.
  public let isUnique: Bool
  /// The approximate number of records with entries.
  public let progress: WorkProgress
}

extension Store {
  /// The indexes under construction; see ``StoreOptions/buildsIndexesInUse``.
  ///
  /// - Complexity: O(1) in the number of records.
  public func indexBuilds() throws -> [IndexBuild] {
    try core.read { core in
      try core.schema.entities.flatMap { entity in
        try entity.building.map { index in
          IndexBuild(
            entity: entity.name, attributes: entity.description.indexName(index.description),
            isUnique: index.isUnique,
            progress: try core.progress(to: index.counter(of: entity), index.name, entity))
        }
          + entity.computedIndexes.filter(\.isBuilding).map { index in
            IndexBuild(
              entity: entity.name, attributes: entity.description.indexName(index.description),
              isUnique: false,
              progress: try core.progress(
                to: index.counter(of: entity), index.entries.name, entity))
          }
      }
    }
  }

  /// Waits until the indexes that were under construction when this store was opened are complete.
  ///
  /// Returns at once when no index is under construction. Cancelling the task ends the wait, and
  /// not the construction.
  ///
  /// - Throws: ``StoreError/Code/incompatibleSchema`` with the first pairs of records when a unique
  ///   index cannot be built; the construction then stops until the store is opened again.
  ///   ``StoreError/Code/closed`` when the store is closed earlier. `CancellationError` when the
  ///   task is cancelled.
  public func waitForIndexes() async throws { try await builder?.wait() }
}

extension TransactionCore {
  /// Returns the approximate number of records with entries in the index with this counter.
  fileprivate func progress(
    to counter: [UInt8], _ name: String, _ entity: StoredEntity
  ) throws -> WorkProgress {
    let cursor = try Cursor(entity.records, in: transaction)
    let highest = try cursor.last() ? cursor.integerKey : 0
    let next = try nextToIndex(counter, name)
    let count = try count(of: entity)
    let share = highest == 0 ? 1 : min(1, Double(next - 1) / Double(highest))
    return WorkProgress(completed: Int(share * Double(count)), total: count)
  }
}
