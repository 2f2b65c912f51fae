internal import LodestoreFormat

/// Results of a query that follow the store.
///
///     for try await update in store.updates(of: Film.all.sorted(by: \.episode)) {
///       show(update.items, update.difference)
///     }
///
/// Each loop has its own results: first those of the newest commit, then an update after each
/// commit that changes them, made by any process. Commits that come while the loop is busy are one
/// update, so that a slow loop gets the latest and nothing queues up. The loop ends when its task
/// is cancelled or the store is closed.
public struct ResultUpdates<E: Entity>: AsyncSequence, Sendable {
  /// One update.
  @_documentation(visibility: internal)
  public typealias Element = ResultUpdate<E>

  let stores: FollowedOrigin
  let query: Query<E>
  let decode: @Sendable (inout RecordReader) throws -> E

  /// Begins with the results as they are.
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
      guard let news = try await feed.next() else { return nil }
      return ResultUpdate(
        items: ResultItems(rows: news.state.rows), difference: news.difference,
        generation: news.commit, old: news.old.rows)
    }
  }
}

/// Results of a query, in sections, that follow the store; see ``ResultUpdates``.
public struct SectionedResultUpdates<Key: Sendable, E: Entity>: AsyncSequence, Sendable {
  /// One update.
  @_documentation(visibility: internal)
  public typealias Element = SectionedResultUpdate<Key, E>

  let stores: FollowedOrigin
  let query: Query<E>
  let decode: @Sendable (inout RecordReader) throws -> E
  let readKey: ResultObserver<E, Key>.ReadKey

  /// Begins with the results as they are.
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
      guard let news = try await feed.next() else { return nil }
      let starts = news.state.starts
      return SectionedResultUpdate(
        items: ResultItems(rows: news.state.rows),
        sections: news.state.sections.enumerated().map { index, section in
          SectionRange(key: section.key, range: starts[index]..<starts[index + 1])
        }, difference: news.difference, generation: news.commit)
    }
  }
}

/// Results of a query as of one commit, and what has changed since the update before.
public struct ResultUpdate<E: Entity>: Sendable {
  /// The records, in the query's order.
  public let items: ResultItems<E>
  /// What has changed since the update before; `nil` in the first.
  public let difference: ResultDifference?
  /// The number of the commit.
  public let generation: CommitNumber
  /// The records of the update before.
  let old: RowList<ResultRow<E>>
}

/// Results of a query in sections as of one commit, and what has changed since the update before.
public struct SectionedResultUpdate<Key: Sendable, E: Entity>: Sendable {
  /// The records of all sections, in the query's order.
  public let items: ResultItems<E>
  /// Where the sections are in ``items``, in the query's order.
  public let sections: [SectionRange<Key>]
  /// What has changed since the update before; `nil` in the first.
  public let difference: ResultDifference?
  /// The number of the commit.
  public let generation: CommitNumber
}

/// The records of live results: a collection that shares with the one before all that has not
/// changed.
public struct ResultItems<E: Entity>: RandomAccessCollection, Sendable {
  let rows: RowList<ResultRow<E>>

  /// 0.
  @_documentation(visibility: internal)
  public var startIndex: Int { 0 }

  /// How many there are.
  @_documentation(visibility: internal)
  public var endIndex: Int { rows.count }

  /// The record at `position`.
  ///
  /// - Complexity: O(log n)
  /// - Precondition: `position` is one of `indices`.
  public subscript(position: Int) -> E {
    precondition(
      position >= 0 && position < rows.count, "index \(position) is outside 0..<\(count)")
    return rows[position].value
  }
}

extension ResultDifference {
  /// As of collections: rows that came and went, and those that moved as both, associated.
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
  /// Rows that moved are a removal and an insertion, associated; rows that were updated where they
  /// are, are not among it.
  public var collectionDifference: CollectionDifference<E.ID>? {
    difference.flatMap { $0.ofCollections(old, items.rows) }
  }
}

extension Store {
  @usableFromInline
  var followed: FollowedOrigin { FollowedOrigin(self) }

  /// The results of `query`, and what has changed in them after each commit that changes them.
  ///
  /// The records are in memory, decoded; an update shares with the one before all records that did
  /// not change.
  ///
  /// - Throws: from the loop: as a fetch of the query.
  /// - Complexity: of an update, for *k* changed records: O(*k* log *n*) where a record alone tells
  ///   whether it is a result, there is no limit, and *k* is small; otherwise that of the query.
  @inlinable
  public func updates<E: Entity>(of query: Query<E>) -> ResultUpdates<E> {
    followed.updates(of: query) { reader in try E.read(from: &reader) }
  }

  /// The results of `query` in sections by the values at `path`, and what has changed in them after
  /// each commit that changes them; see `updates(of:)`.
  ///
  /// - Throws: from the loop: as ``ReadableTransaction/sections(_:by:)``.
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
