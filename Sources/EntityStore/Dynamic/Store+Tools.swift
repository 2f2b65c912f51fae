package import LMDB

// Access for other modules of this package to a store that a program has opened.

extension Store {
  /// Runs `body` on a thread of the store, with the store's dynamic interface.
  ///
  /// `isCancelled` returns true after the task is cancelled.
  package func onThread<R: Sendable>(
    _ body:
      @escaping @Sendable (DynamicStore, _ isCancelled: @escaping @Sendable () -> Bool) throws -> R
  ) async throws -> R {
    let store = DynamicStore(self)
    return try await cancellably { isCancelled in try body(store, isCancelled) }
  }
}

extension Store {
  /// Removes the file of a store and its lock file, if no process has the store open.
  ///
  /// - Returns: Whether the file is gone.
  package static func removeUnusedFile(at path: String) -> Bool {
    EnvironmentRegistry.removeUnused(path)
  }
}

extension DynamicStore {
  /// Calls `body` with the environment of the store, which stays open until `body` returns.
  package func withEnvironment<R>(_ body: (Environment) throws -> R) throws -> R {
    try core.checkOpen("check")
    return try body(core.environment)
  }
}

extension DynamicSnapshot {
  /// Plans a query for a program's entity type.
  package func query<E: Entity>(_ query: Query<E>) throws(StoreError) -> DynamicQuery {
    DynamicQuery(plan: try core.plan(try query.request(), for: try core.entity(E.self)), core: core)
  }

  /// Returns the entity of a program's type.
  package func entity<E: Entity>(of _: E.Type) throws(StoreError) -> DynamicEntity {
    DynamicEntity(stored: try core.entity(E.self))
  }
}

extension StoreError {
  /// Converts an error of the engine to an error of the store.
  package init(ofEngine error: LMDBError) { self.init(error) }
}
