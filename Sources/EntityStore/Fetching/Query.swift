public import LodestoreEssentials

/// A selection of records: a condition, an order, and a limit.
///
/// A query is a value that belongs to no store. All calls that read or change several records take
/// one.
///
///     let fresh = Pod.where { $0.license == "MIT"; $0.downloads > 1_000 }
///       .sorted(by: \.updatedAt.descending).limit(50)
///     let pods = try store.read { try $0.fetch(fresh) }
///
/// Without an order, records come in the order of their insertion. Records with equal keys come in
/// the order of insertion, or in the opposite order if the last key is descending. So a query has
/// one answer, however it is run.
///
/// The call that runs a query throws errors in it, such as an unknown attribute in a format string,
/// before a record is read.
public struct Query<E: Entity>: Sendable {
  private var conditions: [Condition<E>] = []
  private var order: [SortKey<E>] = []
  private var limitCount: Int?
  private var offsetCount = 0
  private var token: ContinuationToken?
  private var requiresIndex = false
  /// The only ids to consider, ascending; `nil` for all.
  private var ids: [UInt64]?

  /// Creates a query for all records of `E`.
  public init() {}

  /// Adds a condition: only records for which every line is true.
  ///
  ///     Pod.all.where { $0.name.hasPrefix("AF"); $0.stars > 3 }
  public func `where`(@ConditionBuilder<E> _ build: (E.Attributes) -> Condition<E>) -> Query {
    self.where(Condition(build))
  }

  /// Adds a condition: only records for which `condition` is true.
  public func `where`(_ condition: Condition<E>) -> Query {
    with { $0.conditions.append(condition) }
  }

  /// Adds a condition: only records for which a predicate of Foundation is true.
  public func `where`(_ predicate: Predicate<E>) -> Query { self.where(Condition(predicate)) }

  /// Adds a condition: only records for which a format string is true; see
  /// ``Condition/init(format:_:)``.
  public func `where`(format: String, _ arguments: any Sendable...) throws(StoreError) -> Query {
    self.where(try Condition(format: format, arguments: arguments))
  }

  /// Sorts by the first key, then by the second key where the first are equal, and so on.
  ///
  ///     Film.all.sorted(by: \.releasedAt.descending, \.title.ascending)
  public func sorted(by keys: KeyPath<E.Attributes, SortKey<E>>...) -> Query {
    let attributes = E.attributes
    return sorted(keys.map { attributes[keyPath: $0] })
  }

  /// Sorts by these attributes in ascending order.
  ///
  ///     Film.all.sorted(by: \.episode)
  public func sorted<each Value>(
    by path: repeat KeyPath<E.Attributes, Attribute<E, each Value>>
  ) -> Query {
    let attributes = E.attributes
    var keys: [SortKey<E>] = []
    repeat keys.append(attributes[keyPath: each path].ascending)
    return sorted(keys)
  }

  /// Sorts by the keys that `keys` returns, which may ignore case, place nulls or lead into JSON.
  ///
  ///     Film.all.sorted { [$0.title.ascending(ignoring: .caseInsensitive), $0.source["year"].descending] }
  public func sorted(_ keys: (E.Attributes) -> [SortKey<E>]) -> Query { sorted(keys(E.attributes)) }

  /// Sorts by `keys`.
  public func sorted(_ keys: [SortKey<E>]) -> Query { with { $0.order = keys } }

  /// Sorts by the scores of the search in the condition, the best first.
  ///
  ///     Pod.all.where(.search("json parser")).sortedByScore().limit(10)
  ///
  /// Records with equal scores come in the order of insertion. With a limit, the store reads only
  /// as much of the index as it takes to find the best ones. The condition must have one search;
  /// other queries throw ``StoreError/Code/invalidQuery``.
  public func sortedByScore() -> Query {
    sorted([
      SortKey(.success(SortTerm(ValuePath(attribute: ValuePath.scoreName), isDescending: true)))
    ])
  }

  /// Sorts by the distances from the place of the condition ``Condition/near(_:meters:)``, or from
  /// the vector of ``Condition/near(_:by:candidates:)``, the nearest first.
  ///
  ///     Fireball.all.where(.near(chelyabinsk)).sortedByDistance().limit(10)
  ///
  /// Records at one distance come in the order of insertion. With a limit, the store reads only the
  /// surroundings of the place, or the codes of the vectors. The condition must have one `near`;
  /// other queries throw ``StoreError/Code/invalidQuery``.
  public func sortedByDistance() -> Query {
    sorted([
      SortKey(.success(SortTerm(ValuePath(attribute: ValuePath.distanceName), isDescending: false)))
    ])
  }

  /// Limits the results to `count` records.
  ///
  /// Running a query with a negative limit or offset throws ``StoreError/Code/invalidQuery``.
  public func limit(_ count: Int) -> Query { with { $0.limitCount = count } }

  /// Leaves out the first `count` records.
  ///
  /// The run still passes these records or their index entries, so its cost can grow with `count`.
  /// For pages, ``continuing(after:)`` costs the same at any depth.
  public func offset(_ count: Int) -> Query { with { $0.offsetCount = count } }

  /// Begins after the end of an earlier page; `nil` begins with the first page.
  public func continuing(after token: ContinuationToken?) -> Query { with { $0.token = token } }

  /// Makes the query throw ``StoreError/Code/invalidQuery`` if no index bounds the records that it
  /// reads.
  ///
  /// Ids, ranges of an index, and a limited number of first entries of an index are bounds. A scan
  /// has no bound. A walk in the order of an index has no bound either, if it must check a
  /// condition on the records. Such a walk may reach the last record before it has found enough. A
  /// limit on the results does not bound a scan or such a walk.
  ///
  /// Tests can use this to keep a query fast.
  public func requiringIndex() -> Query { with { $0.requiresIndex = true } }

  func request() throws(StoreError) -> QueryRequest {
    var parts: [ConditionTree] = []
    var request = QueryRequest()
    for condition in conditions {
      let content = try condition.content.get()
      if content.hasNoLines { continue }
      if case .all(let conjuncts) = content.tree {
        parts += conjuncts
      } else {
        parts.append(content.tree)
      }
      request.positions.merge(content.positions) { first, _ in first }
    }
    request.condition = .all(of: parts)
    for key in order { request.order.append(try key.term.get()) }
    request.limit = limitCount
    request.offset = offsetCount
    request.after = token
    request.requiresIndex = requiresIndex
    request.ids = ids
    return request
  }

  /// Restricts the query to the records with `ids`, which must ascend.
  func within(_ ids: [UInt64]) -> Query { with { $0.ids = ids } }

  /// Returns the query without its limit, offset and token.
  func withoutBounds() -> Query { unlimited().continuing(after: nil) }

  /// Returns the query without its limit and offset.
  func unlimited() -> Query {
    with {
      $0.limitCount = nil
      $0.offsetCount = 0
    }
  }

  /// The limit and the offset.
  var window: (limit: Int?, offset: Int) { (limitCount, offsetCount) }

  /// Whether a limit, an offset or a token leaves out records that fulfil the condition.
  var isBounded: Bool { limitCount != nil || offsetCount != 0 || token != nil }

  /// Returns the number of records, from the lowest id on, that the query reads.
  ///
  /// Returns `nil` without a limit, and if a condition, an order or a token decides which records
  /// are read.
  func wantedPlainCount() throws(StoreError) -> Int? {
    guard order.isEmpty, token == nil else { return nil }
    let request = try request()
    guard case .constant(true) = request.condition else { return nil }
    return request.wantedCount
  }

  /// Whether the query continues after a page.
  var hasToken: Bool { token != nil }

  /// The keys of the order.
  var sortKeys: [SortKey<E>] { order }

  /// Returns the query without its order, unless a token refers to it; for counts.
  func unordered() -> Query { token == nil ? with { $0.order = [] } : self }

  /// Returns the query for all records in any order; for groups and aggregates, which a limit does
  /// not make cheaper.
  ///
  /// A negative limit or offset stays, so that running the query still throws.
  func whole() -> Query {
    unordered().with {
      $0.limitCount = $0.limitCount.flatMap { $0 < 0 ? $0 : nil }
      $0.offsetCount = min($0.offsetCount, 0)
    }
  }

  private func with(_ change: (inout Query) -> Void) -> Query {
    var query = self
    change(&query)
    return query
  }
}

extension Query {
  /// Whether the query finds every record, in the order of insertion.
  var isEverything: Bool {
    conditions.isEmpty && order.isEmpty && limitCount == nil && offsetCount == 0 && token == nil
      && !requiresIndex && ids == nil
  }

  /// Whether the query is meant for all records or has a condition.
  ///
  /// False if every condition has lost all its lines, since an `if` left them out.
  var selectsRecords: Bool {
    conditions.isEmpty || !conditions.allSatisfy { (try? $0.content.get())?.hasNoLines == true }
  }
}

extension Entity {
  /// All records of the entity, as a start for conditions and an order.
  public static var all: Query<Self> { Query() }

  /// The records for which every line is true.
  ///
  ///     Film.where { $0.episode >= 4; $0.director != "George Lucas" }
  public static func `where`(
    @ConditionBuilder<Self> _ build: (Attributes) -> Condition<Self>
  ) -> Query<Self> {
    all.where(Condition(build))
  }

  /// The records for which `condition` is true.
  public static func `where`(_ condition: Condition<Self>) -> Query<Self> { all.where(condition) }

  /// The records for which a predicate of Foundation is true.
  public static func `where`(_ predicate: Predicate<Self>) -> Query<Self> {
    all.where(Condition(predicate))
  }

  /// The records for which a format string is true; see ``Condition/init(format:_:)``.
  public static func `where`(
    format: String, _ arguments: any Sendable...
  ) throws(StoreError) -> Query<Self> {
    all.where(try Condition(format: format, arguments: arguments))
  }
}
