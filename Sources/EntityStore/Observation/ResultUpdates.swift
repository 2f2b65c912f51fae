internal import LodestoreFormat

/// Results of a query that follow the store.
///
///     for try await update in store.updates(of: Film.all.sorted(by: \.episode)) {
///       show(update.items, update.difference)
///     }
///
/// Each loop has its own results. The first update contains the results of the newest commit. Each
/// later update follows a commit that changes the results, made by any process. Commits made while
/// the loop body runs are merged into one update, so a slow loop gets the latest results and no
/// queue grows. The loop ends when its task is cancelled or the store is closed.
public struct ResultUpdates<E: Entity>: AsyncSequence, Sendable {
  /// An update of the results.
  @_documentation(visibility: internal)
  public typealias Element = ResultUpdate<E>

  let stores: FollowedOrigin
  let query: Query<E>
  let decode: @Sendable (inout RecordReader) throws -> E

  /// Creates an iterator whose first update is the current results.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      feed: FollowedFeed(stores) { core, last in
        try ResultObserver(query, decode, nil, core, after: last)
      })
  }

  /// A loop over updates.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let feed: FollowedFeed<ResultObserver<E, Never>>

    /// The next update; `nil` when the task is cancelled or the store is closed.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> ResultUpdate<E>? {
      guard let update = try await feed.next() else { return nil }
      return ResultUpdate(
        items: ResultItems(rows: update.state.rows), difference: update.difference,
        commitNumber: update.commit, old: update.old.rows)
    }
  }
}

/// Results of a query, in sections, that follow the store; see ``ResultUpdates``.
public struct SectionedResultUpdates<Key: Sendable, E: Entity>: AsyncSequence, Sendable {
  /// An update of the results.
  @_documentation(visibility: internal)
  public typealias Element = SectionedResultUpdate<Key, E>

  let stores: FollowedOrigin
  let query: Query<E>
  let decode: @Sendable (inout RecordReader) throws -> E
  let readKey: ResultObserver<E, Key>.ReadKey

  /// Creates an iterator whose first update is the current results.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(
      feed: FollowedFeed(stores) { core, last in
        try ResultObserver(query, decode, readKey, core, after: last)
      })
  }

  /// A loop over updates.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let feed: FollowedFeed<ResultObserver<E, Key>>

    /// The next update; `nil` when the task is cancelled or the store is closed.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> SectionedResultUpdate<Key, E>? {
      guard let update = try await feed.next() else { return nil }
      let starts = update.state.starts
      return SectionedResultUpdate(
        items: ResultItems(rows: update.state.rows),
        sections: update.state.sections.enumerated().map { index, section in
          SectionRange(key: section.key, range: starts[index]..<starts[index + 1])
        }, difference: update.difference, commitNumber: update.commit)
    }
  }
}

/// Results of a query as of one commit, with the changes since the previous update.
public struct ResultUpdate<E: Entity>: Sendable {
  /// The records, in the query's order.
  public let items: ResultItems<E>
  /// The changes since the previous update; `nil` in the first update.
  public let difference: ResultDifference?
  /// The number of the commit.
  public let commitNumber: CommitNumber
  /// The records of the previous update.
  let old: RowList<ResultRow<E>>
}

/// Results of a query in sections as of one commit, with the changes since the previous update.
public struct SectionedResultUpdate<Key: Sendable, E: Entity>: Sendable {
  /// The records of all sections, in the query's order.
  public let items: ResultItems<E>
  /// The sections as ranges of ``items``, in the query's order.
  public let sections: [SectionRange<Key>]
  /// The changes since the previous update; `nil` in the first update.
  public let difference: ResultDifference?
  /// The number of the commit.
  public let commitNumber: CommitNumber
}

/// The records of live results, as a collection that shares unchanged rows with the previous
/// update.
public struct ResultItems<E: Entity>: RandomAccessCollection, Sendable {
  let rows: RowList<ResultRow<E>>

  /// The index of the first record: 0.
  @_documentation(visibility: internal)
  public var startIndex: Int { 0 }

  /// The number of records.
  @_documentation(visibility: internal)
  public var endIndex: Int { rows.count }

  /// The record at `position`.
  ///
  /// - Complexity: O(log *n*)
  /// - Precondition: `position` is one of `indices`.
  public subscript(position: Int) -> E {
    precondition(
      position >= 0 && position < rows.count, "index \(position) is outside 0..<\(count)")
    return rows[position].value
  }
}

extension ResultDifference {
  /// Converts the difference to one of collections: a moved row is an associated removal and
  /// insertion.
  fileprivate func ofCollections<E: Entity>(
    _ old: RowList<ResultRow<E>>, _ new: RowList<ResultRow<E>>
  ) -> CollectionDifference<E.ID>? {
    typealias Change = CollectionDifference<E.ID>.Change
    var changes: [Change] = deleted.map {
      .remove(offset: $0.index, element: old[$0.index].value.id, associatedWith: nil)
    }
    changes += inserted.map {
      .insert(offset: $0.index, element: new[$0.index].value.id, associatedWith: nil)
    }
    for row in moved {
      let (from, to) = (row.from.index, row.to.index)
      let id = new[to].value.id
      changes.append(.remove(offset: from, element: id, associatedWith: to))
      changes.append(.insert(offset: to, element: id, associatedWith: from))
    }
    return CollectionDifference(changes)
  }
}

extension ResultUpdate {
  /// The difference of the ids, for APIs of collections; `nil` in the first update.
  ///
  /// A moved row is a removal and an insertion, which are associated. Rows that were updated in
  /// place are not included.
  public var collectionDifference: CollectionDifference<E.ID>? {
    difference.flatMap { $0.ofCollections(old, items.rows) }
  }
}

extension Store {
  @usableFromInline
  var followed: FollowedOrigin { FollowedOrigin(self) }

  /// The results of `query`, with the changes after each commit that changes them.
  ///
  /// The records are decoded and in memory. An update shares unchanged records with the previous
  /// update.
  ///
  /// - Throws: the loop throws the errors of a fetch of the query.
  /// - Complexity: O(*k* log *n*) for an update with *k* changed records, under three conditions.
  ///   *k* is small, the query has no limit, and each record alone determines whether it is a
  ///   result. Any other update takes the time of the query.
  @inlinable
  public func updates<E: Entity>(of query: Query<E>) -> ResultUpdates<E> {
    followed.updates(of: query) { reader in try E.read(from: &reader) }
  }

  /// The results of `query` in sections by the values at `path`, with the changes after each commit
  /// that changes them.
  ///
  /// See `updates(of:)`.
  ///
  /// - Throws: the loop throws the errors of ``ReadableTransaction/sections(_:by:)``.
  @inlinable
  public func updates<E: Entity, Key: Equatable & Sendable>(
    of query: Query<E>, sectionedBy path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) -> SectionedResultUpdates<Key, E> {
    followed.updates(of: query, by: E.attributes[keyPath: path]) { reader in
      try E.read(from: &reader)
    }
  }
}

extension FollowedOrigin {
  @usableFromInline
  func updates<E: Entity>(
    of query: Query<E>, _ decode: @escaping @Sendable (inout RecordReader) throws -> E
  ) -> ResultUpdates<E> {
    ResultUpdates(stores: self, query: query, decode: decode)
  }

  @usableFromInline
  func updates<E: Entity, Key: Equatable & Sendable>(
    of query: Query<E>, by attribute: Attribute<E, Key>,
    _ decode: @escaping @Sendable (inout RecordReader) throws -> E
  ) -> SectionedResultUpdates<Key, E> {
    SectionedResultUpdates(stores: self, query: query, decode: decode) {
      (view, entity, id, core) throws(StoreError) in
      try query.check(sectionedBy: attribute)
      return try SectionKeys(attribute, entity, core).key(view, id)
    }
  }
}
