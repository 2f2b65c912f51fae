internal import LodestoreFormat

/// Values that follow a store and its attached dataset, created by
/// `AttachedStore.updates(_:)`.
///
/// The first value is that of the newest commit and the current generation. Changes that arrive
/// while the loop body runs are merged into one value. The loop ends when its task is cancelled, or
/// the store or the dataset is closed.
public struct AttachedValues<Value: Sendable>: AsyncSequence, Sendable {
  /// A value.
  @_documentation(visibility: internal)
  public typealias Element = Value

  let attached: AttachedStore
  let read: AttachedFeed<Value>.Read
  let isSame: @Sendable (Value, Value) -> Bool

  /// Creates an iterator that begins with the current value.
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

/// Results of a query with their referenced records of the dataset, which follow both.
///
///     for try await update in attached.updates(of: Note.all, resolving: \.pod) {
///       show(update.items, update.difference)
///     }
///
/// Each loop has its own results. The first update contains the results of the newest commit and
/// the current generation. Later updates follow commits to the store or the dataset, and
/// replacements of the dataset, that change the results. Changes that arrive while the loop body
/// runs are merged into one update. The loop ends when its task is cancelled, or the store or the
/// dataset is closed.
public struct AttachedUpdates<E: Entity, T: Entity>: AsyncSequence, Sendable {
  /// An update of the results.
  @_documentation(visibility: internal)
  public typealias Element = AttachedUpdate<E, T>

  typealias Rows = ([(resolved: ResolvedRecord<E, T>, stamp: UInt32)], CommitNumber)

  let attached: AttachedStore
  let read: AttachedFeed<Rows>.Read

  init(
    _ attached: AttachedStore, _ query: AttachedQuery<E>, _ attribute: ReferenceAttribute<E, T>
  ) {
    self.attached = attached
    read = { snapshot in (try snapshot.resolvedRows(query, attribute), snapshot.commitNumber) }
  }

  /// Creates an iterator that begins with the current results.
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
          items: rows.map(\.resolved), difference: difference, commitNumber: commit)
      }
      return nil
    }
  }
}

/// Results of a query with their referenced records, and the difference from the previous update.
public struct AttachedUpdate<E: Entity, T: Entity>: Sendable {
  /// The records in the query's order, each with its referenced record of the dataset.
  public let items: [ResolvedRecord<E, T>]
  /// The difference from the previous update; `nil` in the first.
  ///
  /// A row whose target changed, disappeared or reappeared counts as updated.
  public let difference: ResultDifference?
  /// The number of the store's commit.
  public let commitNumber: CommitNumber
}

extension AttachedStore {
  /// The results of `body`, which reads both stores, recomputed after changes.
  ///
  /// A change is a commit to an entity that `body` has read, or a replacement of the dataset that
  /// changes such an entity. A replacement also counts as a change when the schema differs or a
  /// store is not sealed.
  ///
  ///     for try await count in attached.updates({ try $0.count(swiftNotes) }) { … }
  public func updates<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing AttachedSnapshot) throws -> Value
  ) -> AttachedValues<Value> {
    AttachedValues(attached: self, read: body) { _, _ in false }
  }

  /// The results of `body`, which reads both stores, without repeating equal values.
  public func updates<Value: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing AttachedSnapshot) throws -> Value
  ) -> AttachedValues<Value> {
    AttachedValues(attached: self, read: body) { $0 == $1 }
  }

  /// The results of `query` in the program's own store with their referenced records, and their
  /// changes.
  ///
  /// The reference is at `path`.
  ///
  /// - Throws: the loop throws the errors of `fetch(_:resolving:)` of an ``AttachedSnapshot``.
  /// - Complexity: an update takes the time of the query and of resolving its references.
  public func updates<Q: JoinableQuery, V: ReferenceValue>(
    of query: Q, resolving path: KeyPath<Q.Root.Attributes, Attribute<Q.Root, V>>
  ) -> AttachedUpdates<Q.Root, V.Target> {
    AttachedUpdates(self, query.attached, ReferenceAttribute(path))
  }
}
