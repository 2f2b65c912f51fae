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

  let stores: FollowedStores.Origin
  let query: Query<E>
  let decode: @Sendable (inout RecordReader) throws -> E

  /// Begins with the results as they are.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(feed: ResultFeed(stores, query, decode, nil))
  }

  /// A loop over updates.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let feed: ResultFeed<E, Never>

    /// The next update; `nil` when the task is cancelled or the store is closed.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> ResultUpdate<E>? {
      guard let (old, state, difference, commit) = try await feed.next() else { return nil }
      return ResultUpdate(
        items: ResultItems(rows: state.rows), difference: difference, generation: commit,
        old: old.rows)
    }
  }
}

/// Results of a query, in sections, that follow the store; see ``ResultUpdates``.
public struct SectionedResultUpdates<Key: Sendable, E: Entity>: AsyncSequence, Sendable {
  /// One update.
  @_documentation(visibility: internal)
  public typealias Element = SectionedResultUpdate<Key, E>

  let stores: FollowedStores.Origin
  let query: Query<E>
  let decode: @Sendable (inout RecordReader) throws -> E
  let readKey: ResultObserver<E, Key>.ReadKey

  /// Begins with the results as they are.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(feed: ResultFeed(stores, query, decode, readKey))
  }

  /// A loop over updates.
  @_documentation(visibility: internal)
  public struct AsyncIterator: AsyncIteratorProtocol {
    let feed: ResultFeed<E, Key>

    /// The next update; `nil` when the task is cancelled or the store is closed.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> SectionedResultUpdate<Key, E>? {
      guard let (_, state, difference, commit) = try await feed.next() else { return nil }
      let starts = state.starts
      return SectionedResultUpdate(
        items: ResultItems(rows: state.rows),
        sections: state.sections.indices.map { index in
          SectionRange(key: state.sections[index].key, range: starts[index]..<starts[index + 1])
        }, difference: difference, generation: commit)
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
    makeUpdates(of: query) { reader in try E.read(from: &reader) }
  }

  @usableFromInline
  func makeUpdates<E: Entity>(
    of query: Query<E>, _ decode: @escaping @Sendable (inout RecordReader) throws -> E
  ) -> ResultUpdates<E> {
    ResultUpdates(stores: .one(observations), query: query, decode: decode)
  }

  /// The results of `query` in sections by the values at `path`, and what has changed in them after
  /// each commit that changes them; see `updates(of:)`.
  ///
  /// - Throws: from the loop: as ``ReadableTransaction/sections(_:by:)``.
  @inlinable
  public func updates<E: Entity, Key: Equatable & Sendable>(
    of query: Query<E>, sectionedBy path: KeyPath<E.Attributes, Attribute<E, Key>>
  ) -> SectionedResultUpdates<Key, E> {
    makeUpdates(of: query, by: E.attributes[keyPath: path]) { reader in
      try E.read(from: &reader)
    }
  }

  @usableFromInline
  func makeUpdates<E: Entity, Key: Equatable & Sendable>(
    of query: Query<E>, by attribute: Attribute<E, Key>,
    _ decode: @escaping @Sendable (inout RecordReader) throws -> E
  ) -> SectionedResultUpdates<Key, E> {
    SectionedResultUpdates(.one(observations), query, attribute, decode)
  }
}

extension SectionedResultUpdates {
  init(
    _ stores: FollowedStores.Origin, _ query: Query<E>, _ attribute: Attribute<E, Key>,
    _ decode: @escaping @Sendable (inout RecordReader) throws -> E
  ) where Key: Equatable {
    self.init(stores: stores, query: query, decode: decode) {
      (view, entity, id, core) throws(StoreError) in
      try query.check(sectionedBy: attribute)
      return try SectionKeys(attribute, entity, core).key(view, id)
    }
  }
}

/// The results of one loop.
final class ResultFeed<E: Entity, Key: Sendable>: @unchecked Sendable {
  // Used by the one task that loops.
  private let stores: FollowedStores
  private let query: Query<E>
  private let decode: @Sendable (inout RecordReader) throws -> E
  private let readKey: ResultObserver<E, Key>.ReadKey?
  /// The store that is followed, and its observer; `nil` before the first store and after the last.
  private var current: (store: ObservedStore, handle: ObserverHandle<ResultObserver<E, Key>>)?
  private var isOver = false
  private var last: (state: ResultState<E, Key>, entity: StoredEntity)?

  /// The results before and now, and their differences.
  typealias News = (ResultState<E, Key>, ResultState<E, Key>, ResultDifference?, CommitNumber)

  init(
    _ origin: FollowedStores.Origin, _ query: Query<E>,
    _ decode: @escaping @Sendable (inout RecordReader) throws -> E,
    _ readKey: ResultObserver<E, Key>.ReadKey?
  ) {
    stores = FollowedStores(origin)
    self.query = query
    self.decode = decode
    self.readKey = readKey
  }

  func next() async throws -> News? {
    if isOver || Task.isCancelled { return nil }
    do {
      while true {
        if let current, !stores.hasNews {
          if let news = try await news(of: current) { return news }
          if isOver { return nil }
        } else {
          guard let next = try await stores.next() else { return end() }
          if let news = try await begin(next) { return news }
        }
        if Task.isCancelled { return end() }
      }
    } catch {
      _ = end()
      throw error
    }
  }

  private func end() -> News? {
    isOver = true
    leave()
    return nil
  }

  private func leave() {
    stores.wakeOnNews(nil)
    current = nil
  }

  /// Waits for news of the store that is followed; `nil` where there are none, and the next store
  /// may have come.
  private func news(
    of current: (store: ObservedStore, handle: ObserverHandle<ResultObserver<E, Key>>)
  ) async throws -> News? {
    let (center, observer) = (current.store.center, current.handle.observer)
    switch await observer.wait({ center.request() }) {
    case .ended:
      // Without further stores, the end of the store is the end.
      if stores.isSequence { leave() } else { _ = end() }
      return nil
    case .updated: return told(observer)
    case .changed:
      if stores.hasNews { return nil }
      let core = center.core
      try await goingOn {
        try await core.onReader { try core.read { try observer.fetch($0) } }
        // The schema may be another one.
        center.extend(observer)
      }
      return self.current == nil || observer.difference.isEmpty ? nil : told(observer)
    }
  }

  /// Goes on with the results in another store: by the changes from the store before where these
  /// are known, otherwise by the query.
  ///
  /// - Returns: `nil` where it has the same results as the store before.
  private func begin(_ next: ObservedStore) async throws -> News? {
    let before = current?.store
    leave()
    let core = next.center.core
    let (query, decode, readKey) = (query, decode, readKey)
    var news: News?
    try await goingOn {
      try core.checkOpen("observe")
      let observer = try await core.onReader {
        try core.read { try ResultObserver(query, decode, readKey, $0) }
      }
      let handle = try ObserverHandle(observer, in: next.center)
      current = (next, handle)
      stores.wakeOnNews(observer)
      if let last, let older = before?.center.core,
        try await follows(observer, last.state, older, core)
      {
        if observer.difference.isEmpty {
          self.last = (observer.state, observer.entity)
        } else {
          news = told(observer)
        }
        return
      }
      try await core.onReader { try core.read { try observer.fetchFirst($0) } }
      guard let last else {
        news = told(observer, isFirst: true)
        return
      }
      let difference = observer.state.difference(
        from: last.state, treatsAllAsChanged: !last.entity.hasLayouts(of: observer.entity))
      self.last = (observer.state, observer.entity)
      if difference.isEmpty { return }
      news = (last.state, observer.state, difference, observer.commit)
    }
    return news
  }

  /// Whether the observer has taken the results over by the changes from the store before.
  ///
  /// A store before that is closed or damaged tells nothing.
  private func follows(
    _ observer: ResultObserver<E, Key>, _ state: ResultState<E, Key>, _ older: StoreCore,
    _ core: StoreCore
  ) async throws -> Bool {
    try await core.onReader {
      try core.read { (try? observer.follow(state, of: older, $0)) ?? false }
    }
  }

  /// Runs `body`; where another store may follow, the closing of this one is no error.
  private func goingOn(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as StoreError where error.code == .closed && stores.isSequence {
      leave()
    }
  }

  private func told(_ observer: ResultObserver<E, Key>, isFirst: Bool = false) -> News {
    let state = observer.state
    defer { last = (state, observer.entity) }
    return (
      last?.state ?? state, state, isFirst ? nil : observer.difference, observer.commit
    )
  }
}
