/// Live results of stores that replace each other, as the generations of a dataset do.
///
///     for try await update in generations.updates(of: Film.all.sorted(by: \.episode)) {
///       show(update.items, update.difference)
///     }
///
/// The sequence yields the current store first, and then each store that replaces the one before. A
/// loop follows the commits of the newest store. A replacement is an update like a commit: rows are
/// the same when they have the same id, and a row whose record is equal in both stores is not
/// updated. A replacement that leaves the results as they are is no update. Of stores that come while the loop is busy, only the newest is
/// read.
///
/// Where a sealed file replaces another one with the same schema, their digests tell which entities
/// have changed. Results of unchanged entities are taken over without a read. Of a query without a
/// limit that has at least a quarter of the records, and whose condition and order are over the
/// entity's own attributes, up to 256 changed records are put in place. In all other cases the query runs again.
///
/// The loop keeps the store open that it follows, and releases the store when the next one comes.
/// The loop ends when its task is cancelled or the sequence ends. An error of the sequence is
/// thrown. A store that is closed before its replacement comes does not end the loop.
///
/// All stores must have been opened with the entities of the query. The number of the commit in an
/// update, ``ResultUpdate/generation``, belongs to the file of its store, so it may fall with a
/// replacement.
extension AsyncSequence where Self: Sendable, Element == Store {
  @usableFromInline
  var followed: FollowedOrigin { FollowedOrigin(self) }

  /// The results of `query`, after each commit and each replacement that changes them.
  ///
  /// - Complexity: of a replacement: O(1) where no entity of the query has changed; at most that of
  ///   the query, and O(n) for n results.
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

  /// The record with `id`, after each commit and each replacement that changes it; `nil` while
  /// there is none.
  public func updates<E: Entity>(of id: RecordID<E>) -> ValueUpdates<E?> {
    followed.updates(of: id)
  }

  /// How many records `query` finds, after each commit and each replacement that changes that.
  public func updates<E: Entity>(ofCount query: Query<E>) -> ValueUpdates<Int> {
    followed.updates(ofCount: query)
  }

  /// The value that `body` reads, again after each replacement and each commit that change records
  /// of an entity, or links of a relationship, that `body` has read.
  ///
  /// A replacement by another schema, or of a store that is not sealed, counts as a change.
  public func updates<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    followed.values(body)
  }

  /// The value that `body` reads, after each commit and each replacement that changes it.
  public func updates<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Value
  ) -> ValueUpdates<Value> {
    followed.distinctValues(body)
  }
}
