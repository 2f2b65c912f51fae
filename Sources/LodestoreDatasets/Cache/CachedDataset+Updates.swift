public import EntityStore

extension CachedDataset {
  /// The store of the current generation, and of each generation that becomes current.
  ///
  /// The sequence never ends; a loop over it ends with its task.
  public var stores: AsyncMapSequence<DatasetGenerations, Store> { generations.map { $0.store } }

  /// The results of `query` in the current generation, and after each one that changes them.
  ///
  ///     for try await update in pods.updates(of: Pod.where { $0.license == "MIT" }) {
  ///       show(update.items, update.difference)
  ///     }
  ///
  /// A new generation is an update like a commit, with the differences by id. A generation with the
  /// same results is no update. The loop keeps the file of the generation that it follows.
  /// Sections, counts, single records and values are updates of ``stores`` in the same way.
  ///
  /// - Throws: from the loop: as a fetch of the query.
  /// - Complexity: of a generation: that of the query.
  @inlinable
  public func updates<E: Entity>(of query: Query<E>) -> ResultUpdates<E> {
    stores.updates(of: query)
  }
}
