internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// The records that `query` finds, in its order.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` before a record is read;
  ///   ``StoreError/Code/conditionFailed`` when a condition cannot be evaluated on a record.
  /// - Complexity: that of the plan, which ``explain(_:for:analyzing:)`` shows.
  @inlinable
  public func fetch<E: Entity>(_ query: Query<E>) throws(StoreError) -> [E] {
    var found: [E] = []
    try access.readResults(of: query, reserve: { found.reserveCapacity($0) }) { reader in
      found.append(try E.read(from: &reader))
      return true
    }
    return found
  }

  /// The first record that `query` finds; `nil` when there is none.
  @inlinable
  public func first<E: Entity>(_ query: Query<E>) throws(StoreError) -> E? {
    var found: E?
    try access.readResults(of: query.limit(1)) { reader in
      found = try E.read(from: &reader)
      return false
    }
    return found
  }

  /// Visits what `query` finds, in its order; one record at a time is in memory, and the bytes of
  /// what has to be sorted.
  ///
  /// In a write, `body` must not change anything.
  ///
  /// - Throws: what `body` throws, as it is; otherwise as `fetch(_:)`.
  @inlinable
  public func forEach<E: Entity>(_ query: Query<E>, _ body: (E) throws -> Void) throws {
    try access.readEach(of: query) {
      try body(try E.read(from: &$0))
      return true
    }
  }

  /// Visits what `query` finds, in its order, until `body` sets `stop`; see ``forEach(_:_:)``.
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

  /// How many records `query` finds, within its limit and offset.
  ///
  /// - Complexity: O(1) without a condition; where an index says it all, a visit of its entries; no
  ///   record is decoded in any case.
  public func count<E: Entity>(_ query: Query<E>) throws(StoreError) -> Int {
    try access.core.run(query.unordered(), wantsOnlyEntries: true).count()
  }

  /// Whether `query` finds a record.
  public func exists<E: Entity>(_ query: Query<E>) throws(StoreError) -> Bool {
    try access.core.run(query.unordered().limit(1), wantsOnlyEntries: true).count() > 0
  }

  /// The ids of the records that `query` finds, in its order.
  public func ids<E: Entity>(_ query: Query<E>) throws(StoreError) -> [E.ID] {
    try access.core.run(query, wantsOnlyEntries: true).ids().map { RecordID(rawValue: $0) }
  }

  /// One page of results with the token of the next.
  ///
  ///     var token: ContinuationToken?
  ///     repeat {
  ///       let page = try store.read { try $0.page(newest.limit(50).continuing(after: token)) }
  ///       token = page.next
  ///     } while token != nil
  ///
  /// Pages may be read from different commits: what is inserted or deleted between them neither
  /// shifts nor repeats the rest.
  ///
  /// ``page(_:_:_:)`` reads some attributes only.
  @inlinable
  public func page<E: Entity>(_ query: Query<E>) throws(StoreError) -> Page<E> {
    var items: [E] = []
    let next = try access.readPage(of: query) { items.append(try E.read(from: &$0)) }
    return Page(items: items, next: next, generation: generation)
  }

  /// How `query` is run, and with `analyzing` what running it read.
  ///
  /// Another use of the same query may have another plan: a count needs no records where entries
  /// tell, and no order. With `analyzing` an update or a delete finds its records, and changes
  /// none.
  public func explain<E: Entity>(
    _ query: Query<E>, for use: QueryUse = .fetch, analyzing: Bool = false
  ) throws(StoreError) -> QueryExplanation {
    let asked: Query<E>
    switch use {
    case .count: asked = query.unordered()
    case .groups: asked = query.whole()
    case .fetch, .ids, .update, .delete: asked = query
    }
    let run = try access.core.run(
      asked, wantsOnlyEntries: [.count, .ids, .delete].contains(use))
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

  /// How the last query that `body` runs in this transaction was run, and what that read.
  ///
  /// Also of counts, ids, groups, aggregates and values, which ``explain(_:for:analyzing:)`` does
  /// not show. For measurements; `nil` where `body` ran no query, or all records were visited
  /// without a plan.
  @_spi(Measuring)
  public func explaining(_ body: () throws -> Void) throws -> QueryExplanation? {
    let core = access.core
    core.runs = LastRun()
    defer { core.runs = nil }
    try body()
    guard let run = core.runs?.run as? PlanRun else { return nil }
    return QueryExplanation(run.plan.description, run.counts)
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
    runs?.run = run
    return run
  }
}
