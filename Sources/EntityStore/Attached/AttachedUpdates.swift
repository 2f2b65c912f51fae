internal import LodestoreFormat

/// Values that follow a store and its attached dataset; `values` of an ``AttachedStore`` makes
/// them.
///
/// The first is of the newest commit and the current generation. Changes that come while the loop
/// is busy are one; the loop ends when its task is cancelled, or the store or the dataset is
/// closed.
public struct AttachedValues<Value: Sendable>: AsyncSequence, Sendable {
  /// One value.
  @_documentation(visibility: internal)
  public typealias Element = Value

  let attached: AttachedStore
  let read: AttachedFeed<Value>.Read
  let isSame: @Sendable (Value, Value) -> Bool

  /// Begins with the value as it is.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(feed: AttachedFeed(attached, read), isSame: isSame)
  }

  /// A loop over values.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let feed: AttachedFeed<Value>
    let isSame: @Sendable (Value, Value) -> Bool
    fileprivate var last: Value?

    /// The next value; `nil` at the end.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> Value? {
      while let value = try await feed.next() {
        if let last, isSame(last, value) { continue }
        last = value
        return value
      }
      return nil
    }
  }
}

/// Results of a query with the records of the dataset that they refer to, which follow both.
///
///     for try await update in attached.updates(of: Note.all, resolving: \.pod) {
///       show(update.items, update.difference)
///     }
///
/// Each loop has its own results. The first update is of the newest commit and the current
/// generation. Later updates follow the commits to the store or the dataset, and the replacements
/// of the dataset, that change the results. Changes that come while the loop is busy are one
/// update. The loop ends when its task is cancelled, or the store or the dataset is closed.
public struct AttachedUpdates<E: Entity, T: Entity>: AsyncSequence, Sendable {
  /// One update.
  @_documentation(visibility: internal)
  public typealias Element = AttachedUpdate<E, T>

  typealias Rows = ([(resolved: ResolvedRecord<E, T>, stamp: UInt32)], CommitNumber)

  let attached: AttachedStore
  let read: AttachedFeed<Rows>.Read

  init(
    _ attached: AttachedStore, _ query: AttachedQuery<E>, _ attribute: ReferenceAttribute<E, T>
  ) {
    self.attached = attached
    read = { snapshot in (try snapshot.resolvedRows(query, attribute), snapshot.generation) }
  }

  /// Begins with the results as they are.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(feed: AttachedFeed(attached, read))
  }

  /// A loop over updates.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let feed: AttachedFeed<Rows>
    fileprivate var last: ResultState<E, Never>?

    /// The next update; `nil` at the end.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> AttachedUpdate<E, T>? {
      while let (rows, commit) = try await feed.next() {
        var state = ResultState<E, Never>()
        state.rows = RowList(rows.map { ResultRow(value: $0.resolved.record, stamp: $0.stamp) })
        let difference = last.map { state.difference(from: $0) }
        if let difference, difference.isEmpty { continue }
        last = state
        return AttachedUpdate(
          items: rows.map(\.resolved), difference: difference, generation: commit)
      }
      return nil
    }
  }
}

/// Results of a query with the records that they refer to, and the difference from the update
/// before.
public struct AttachedUpdate<E: Entity, T: Entity>: Sendable {
  /// The records, in the query's order, each with the record of the dataset that it refers to.
  public let items: [ResolvedRecord<E, T>]
  /// The difference from the update before; `nil` in the first.
  ///
  /// A row whose target has changed, is gone or is back counts as updated.
  public let difference: ResultDifference?
  /// The number of the store's commit.
  public let generation: CommitNumber
}

extension AttachedStore {
  /// The values that `body` reads from both: again after each commit to an entity that it has read,
  /// and after each replacement of the dataset that changes one.
  ///
  /// A replacement by another schema, or of a store that is not sealed, counts as a change.
  ///
  ///     for try await count in attached.updates({ try $0.count(swiftNotes) }) { … }
  public func updates<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing AttachedSnapshot) throws -> Value
  ) -> AttachedValues<Value> {
    AttachedValues(attached: self, read: body) { _, _ in false }
  }

  /// The values that `body` reads from both, without those that are equal to the one before.
  public func updates<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing AttachedSnapshot) throws -> Value
  ) -> AttachedValues<Value> {
    AttachedValues(attached: self, read: body) { $0 == $1 }
  }

  /// The results of `query` in the program's own store, each with the record that the reference at
  /// `path` leads to, and their changes.
  ///
  /// - Throws: from the loop: as `fetch(_:resolving:)` of an ``AttachedSnapshot``.
  /// - Complexity: of an update, that of the query and of the look-up of its references
  public func updates<Q: JoinableQuery, V: ReferenceValue>(
    of query: Q, resolving path: KeyPath<Q.Root.Attributes, Attribute<Q.Root, V>>
  ) -> AttachedUpdates<Q.Root, V.Target> {
    AttachedUpdates(self, query.attached, ReferenceAttribute(path))
  }
}
