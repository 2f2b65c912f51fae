/// Live results of stores that replace each other, as the generations of a dataset do.
///
///     for try await update in generations.updates(of: Film.all.sorted(by: \.episode)) {
///       show(update.items, update.difference)
///     }
///
/// The sequence yields the current store first, and then each store that replaces the previous one.
/// A loop follows the commits of the newest store. A replacement is an update like a commit. Rows
/// with equal ids are the same row, and a row is updated only if its record differs between the two
/// stores. A replacement that does not change the results is not an update. When several stores
/// arrive while the loop body runs, only the newest one is read.
///
/// When a sealed file replaces another one with an equal schema, their digests show which entities
/// have changed. Results of unchanged entities are reused without a read. Up to 256 changed records
/// are inserted into the old results individually if all these conditions hold:
/// - The query has no limit, and its results are at least a quarter of the records.
/// - Its condition and order use only the entity's own attributes.
///
/// In all other cases the query runs again.
///
/// The loop keeps the followed store open, and releases it when the next store arrives. The loop
/// ends when its task is cancelled or the sequence ends. An error of the sequence is thrown.
/// Closing a store before its replacement arrives does not end the loop.
///
/// All stores must have been opened with the entities of the query. The commit number of an update
/// (``ResultUpdate/commitNumber``) belongs to the file of its store. A replacement may decrease it.
extension AsyncSequence where Self: Sendable, Element == Store {
  @usableFromInline
  var followed: FollowedOrigin { FollowedOrigin(self) }

  /// The results of `query`, after each commit and each replacement that changes them.
  ///
  /// - Complexity: O(1) for a replacement that changes no entity of the query. Otherwise at most
  ///   the complexity of the query and O(*n*) for *n* results.
  @inlinable
  public func updates<E: Entity>(of query: Query<E>) -> ResultUpdates<E> {
    followed.updates(of: query) { reader in try E.read(from: &reader) }
  }

  /// The results of `query` in sections by the values at `path`, after each commit and each
  /// replacement that changes them.
  @inlinable
  public func updates<E: Entity, Key: Equatable & Sendable>(
    of query: Query<E>, sectionedBy path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) -> SectionedResultUpdates<Key, E> {
    followed.updates(of: query, by: E.attributes[keyPath: path]) { reader in
      try E.read(from: &reader)
    }
  }

  /// The record with `id`, after each commit and each replacement that changes it.
  ///
  /// The value is `nil` while no record has the id.
  public func updates<E: Entity>(of id: RecordID<E>) -> ValueUpdates<E?> {
    followed.updates(of: id)
  }

  /// The number of results of `query`, after each commit and each replacement that changes it.
  public func updates<E: Entity>(ofCount query: Query<E>) -> ValueUpdates<Int> {
    followed.updates(ofCount: query)
  }

  /// The result of `body`, recomputed after each commit and each replacement that may change it.
  ///
  /// A change of an entity's records or of a relationship's links counts if `body` has read them. A
  /// replacement counts as a change when the schema differs or a store is not sealed.
  public func updates<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    followed.values(body)
  }

  /// The result of `body`, after each commit and each replacement that changes it.
  public func updates<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    followed.distinctValues(body)
  }
}
