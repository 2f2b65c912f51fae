public import EntityStore

extension CachedDataset {
  /// The stores of the current generation and of each generation that becomes current.
  ///
  /// The sequence never ends. A loop over it ends with its task.
  public var stores: AsyncMapSequence<DatasetGenerations, Store> { generations.map { $0.store } }

  /// The results of `query` in the current generation, and again after each generation that changes
  /// them.
  ///
  ///     for try await update in pods.updates(of: Pod.where { $0.license == "MIT" }) {
  ///       show(update.items, update.difference)
  ///     }
  ///
  /// A new generation produces an update like a commit, with the differences by id. A generation
  /// with the same results produces no update. The loop keeps the file of the generation that it
  /// follows. For sections, counts, single records and values, use the updates of ``stores`` in the
  /// same way.
  ///
  /// - Throws: From the loop: the errors of a fetch of the query.
  /// - Complexity: Each generation costs one run of the query.
  @inlinable
  public func updates<E: Entity>(of query: Query<E>) -> ResultUpdates<E> {
    stores.updates(of: query)
  }
}
