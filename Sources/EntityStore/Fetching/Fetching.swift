internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// Returns the records that `query` finds, in its order.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` before a record is read;
  ///   ``StoreError/Code/conditionFailed`` if a condition cannot be evaluated on a record.
  /// - Complexity: the cost of the plan, which ``explain(_:for:analyzing:)`` shows.
  @inlinable
  public func fetch<E: Entity>(_ query: Query<E>) throws(StoreError) -> [E] {
    var found: [E] = []
    try access.readResults(of: query, reserve: { found.reserveCapacity($0) }) { reader in
      found.append(try E.read(from: &reader))
      return true
    }
    return found
  }

  /// Returns the first record that `query` finds, or `nil` if none exists.
  @inlinable
  public func first<E: Entity>(_ query: Query<E>) throws(StoreError) -> E? {
    var found: E?
    try access.readResults(of: query.limit(1)) { reader in
      found = try E.read(from: &reader)
      return false
    }
    return found
  }

  /// Visits the records that `query` finds, in its order, with one decoded record in memory at a
  /// time.
  ///
  /// If results have to be sorted, their bytes are in memory as well. In a write, `body` must not
  /// change anything.
  ///
  /// - Throws: the error that `body` throws; otherwise the errors of `fetch(_:)`.
  @inlinable
  public func forEach<E: Entity>(_ query: Query<E>, _ body: (E) throws -> Void) throws {
    try access.readEach(of: query) {
      try body(try E.read(from: &$0))
      return true
    }
  }

  /// Visits the records that `query` finds, in its order, until `body` sets `stop`; see
  /// ``forEach(_:_:)``.
  ///
  ///     try snapshot.forEach(Film.all) { film, stop in
  ///       if film.episode == 4 { stop = true }
  ///     }
  @inlinable
  public func forEach<E: Entity>(
    _ query: Query<E>, _ body: (E, _ stop: inout Bool) throws -> Void
  ) throws {
    var isStopped = false
    try access.readEach(of: query) {
      try body(try E.read(from: &$0), &isStopped)
      return !isStopped
    }
  }

  /// Returns the number of records that `query` finds, within its limit and offset.
  ///
  /// - Complexity: O(1) without a condition. If an index decides the condition, its entries are
  ///   visited. No record is decoded in any case.
  public func count<E: Entity>(_ query: Query<E>) throws(StoreError) -> Int {
    try access.core.run(query.unordered(), wantsOnlyEntries: true).count()
  }

  /// Returns whether `query` finds a record.
  public func exists<E: Entity>(_ query: Query<E>) throws(StoreError) -> Bool {
    try access.core.run(query.unordered().limit(1), wantsOnlyEntries: true).count() > 0
  }

  /// Returns the ids of the records that `query` finds, in its order.
  public func ids<E: Entity>(_ query: Query<E>) throws(StoreError) -> [E.ID] {
    try access.core.run(query, wantsOnlyEntries: true).ids().map { RecordID(rawValue: $0) }
  }

  /// Returns one page of results, with the token for the next page.
  ///
  ///     var token: ContinuationToken?
  ///     repeat {
  ///       let page = try store.read { try $0.page(newest.limit(50).continuing(after: token)) }
  ///       token = page.next
  ///     } while token != nil
  ///
  /// Pages may be read from different commits: records inserted or deleted between them neither
  /// shift nor repeat the others.
  ///
  /// ``page(_:_:_:)`` reads only some attributes.
  @inlinable
  public func page<E: Entity>(_ query: Query<E>) throws(StoreError) -> Page<E> {
    var items: [E] = []
    let next = try access.readPage(of: query) { items.append(try E.read(from: &$0)) }
    return Page(items: items, next: next, commitNumber: commitNumber)
  }

  /// Explains how `query` is run, and with `analyzing` also what a run of it reads.
  ///
  /// Different uses of a query may have different plans. A count, for example, needs no order, and
  /// no records if entries decide the condition. With `analyzing`, an update or a delete finds its
  /// records without changing them.
  public func explain<E: Entity>(
    _ query: Query<E>, for use: QueryUse = .fetch, analyzing: Bool = false
  ) throws(StoreError) -> QueryExplanation {
    let planned: Query<E>
    switch use {
    case .count: planned = query.unordered()
    case .groups: planned = query.whole()
    case .fetch, .ids, .update, .delete: planned = query
    }
    let run = try access.core.run(
      planned, wantsOnlyEntries: [.count, .ids, .delete].contains(use))
    if case .groups(let keys, let others) = use {
      return try run.groupExplanation(by: keys, of: others, analyzing: analyzing)
    }
    if analyzing {
      switch use {
      case .fetch: try run.forEach { _, _ in true }
      case .count: _ = try run.count()
      case .ids: _ = try run.ids()
      case .groups: break
      case .update, .delete: run.counts.results = try run.sortedIDs().count
      }
    }
    return QueryExplanation(run.plan.description, analyzing ? run.counts : nil)
  }

  /// Explains the last query that `body` runs in this transaction, with the numbers of entries and
  /// records read.
  ///
  /// Counts, ids, groups, aggregates and values are explained too, which
  /// ``explain(_:for:analyzing:)`` does not show. The explanation is meant for measurements. The
  /// result is `nil` if `body` ran no query, or visited all records without a plan.
  @_spi(Measuring)
  public func explaining(_ body: () throws -> Void) throws -> QueryExplanation? {
    let core = access.core
    core.lastRun = LastRun()
    defer { core.lastRun = nil }
    try body()
    guard let run = core.lastRun?.run else { return nil }
    return QueryExplanation(run.planDescription, run.counts)
  }
}

extension TransactionCore {
  func run<E: Entity>(
    _ query: Query<E>, wantsOnlyEntries: Bool = false, control: RunControl? = nil
  ) throws(StoreError) -> PlanRun {
    let entity = try entity(E.self)
    var request = try query.request()
    request.wantsOnlyEntries = wantsOnlyEntries
    return try run(request, for: entity, control: control)
  }

  func run(
    _ request: QueryRequest, for entity: StoredEntity, control: RunControl? = nil
  ) throws(StoreError) -> PlanRun {
    let run = try PlanRun(try plan(request, for: entity), core: self, control: control)
    lastRun?.run = run
    return run
  }
}
