#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Which records: a condition, an order, and how much of it.
///
/// A value that belongs to no store, taken by everything that reads or changes records.
///
///     let fresh = Pod.where { $0.license == "MIT"; $0.downloads > 1_000 }
///       .sorted(by: \.updatedAt.descending).limit(50)
///     let pods = try store.read { try $0.fetch(fresh) }
///
/// Without an order, records come in the order of their insertion. With one, records with equal
/// keys come in the order of insertion, or in its opposite when the last key is descending, so
/// that a query has one answer however it is run.
///
/// Errors of a query, such as a format string that names no attribute, are thrown by the call that
/// runs it, before a record is read.
public struct Query<E: Entity>: Sendable {
  private var conditions: [Condition<E>] = []
  private var order: [SortKey<E>] = []
  private var limitCount: Int?
  private var offsetCount = 0
  private var token: ContinuationToken?
  private var requiresIndex = false
  /// The only ids that are looked at, ascending; `nil` for all.
  private var ids: [UInt64]?

  /// All records of `E`.
  public init() {}

  /// Only records for which every line is true, besides what was asked before.
  ///
  ///     Pod.all.where { $0.name.hasPrefix("AF"); $0.stars > 3 }
  public func `where`(@ConditionBuilder<E> _ build: (E.Attributes) -> Condition<E>) -> Query {
    self.where(Condition(build))
  }

  /// Only records for which `condition` is true, besides what was asked before.
  public func `where`(_ condition: Condition<E>) -> Query {
    with { $0.conditions.append(condition) }
  }

  /// Only records for which a predicate of Foundation is true.
  public func `where`(_ predicate: Predicate<E>) -> Query {
    self.where(Condition(predicate))
  }

  /// Only records for which a format string is true; see ``Condition/init(format:_:)``.
  public func `where`(
    format: String, _ arguments: any Sendable...
  ) throws(StoreError) -> Query {
    self.where(try Condition(format: format, arguments: arguments))
  }

  /// In this order: by the first key, then by the second where the first are equal, and so on.
  ///
  ///     Film.all.sorted(by: \.releasedAt.descending, \.title.ascending)
  public func sorted(by keys: KeyPath<E.Attributes, SortKey<E>>...) -> Query {
    let attributes = E.attributes
    return sorted(keys.map { attributes[keyPath: $0] })
  }

  /// In ascending order of these attributes.
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

  /// In the order of the keys that `keys` gives, which may ignore case, put nulls elsewhere or lead
  /// into JSON.
  ///
  ///     Film.all.sorted { [$0.title.ascending(ignoring: .caseInsensitive), $0.source["year"].descending] }
  public func sorted(_ keys: (E.Attributes) -> [SortKey<E>]) -> Query {
    sorted(keys(E.attributes))
  }

  /// In the order of `keys`.
  public func sorted(_ keys: [SortKey<E>]) -> Query {
    with { $0.order = keys }
  }

  /// At most `count` records; running a query with a negative limit or offset throws
  /// ``StoreError/Code/invalidQuery``.
  public func limit(_ count: Int) -> Query {
    with { $0.limitCount = count }
  }

  /// Without the first `count` records.
  ///
  /// They are read all the same: for pages, ``continuing(after:)`` costs the same however deep it
  /// goes.
  public func offset(_ count: Int) -> Query {
    with { $0.offsetCount = count }
  }

  /// Only what comes behind the end of an earlier page; `nil` is the beginning.
  public func continuing(after token: ContinuationToken?) -> Query {
    with { $0.token = token }
  }

  /// Makes it an error, ``StoreError/Code/invalidQuery``, when no index bounds what is read.
  ///
  /// Ids, ranges of an index and the first so many entries of one do. A scan does not, nor does a
  /// walk in the order of an index that has to check a condition on the records, for it may come to
  /// the last before it has found enough; a limit changes neither.
  ///
  /// For tests that keep a query fast.
  public func requiringIndex() -> Query {
    with { $0.requiresIndex = true }
  }

  func request() throws(StoreError) -> QueryRequest {
    var parts: [ConditionTree] = []
    var request = QueryRequest()
    for condition in conditions {
      let content = try condition.content.get()
      if content.isUnsaid { continue }
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

  /// Only the records with `ids`, which ascend.
  func within(_ ids: [UInt64]) -> Query { with { $0.ids = ids } }

  /// Without a limit, an offset and a token.
  func withoutBounds() -> Query { unlimited().continuing(after: nil) }

  /// Without a limit and an offset.
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

  /// How many of the records in the order of their ids the query needs; `nil` where that depends on
  /// the records.
  func wantedPlainCount() throws(StoreError) -> Int? {
    guard order.isEmpty, token == nil else { return nil }
    let request = try request()
    guard case .constant(true) = request.condition else { return nil }
    return request.wantedCount
  }

  /// Whether it goes on behind a page.
  var hasToken: Bool { token != nil }

  /// The keys of the order.
  var sortKeys: [SortKey<E>] { order }

  /// Without the order, where no token refers to it: for counts.
  func unordered() -> Query {
    token == nil ? with { $0.order = [] } : self
  }

  /// All that it finds, in any order: for groups and aggregates, which a limit does not make
  /// cheaper.
  ///
  /// A negative limit or offset stays, to be refused.
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
  /// Whether it finds every record, in the order of insertion.
  var isEverything: Bool {
    conditions.isEmpty && order.isEmpty && limitCount == nil && offsetCount == 0 && token == nil
      && !requiresIndex && ids == nil
  }

  /// Whether the query is meant for all records: it was not made by conditions that all turned out
  /// to be left out.
  var saysWhich: Bool {
    conditions.isEmpty
      || !conditions.allSatisfy { (try? $0.content.get())?.isUnsaid == true }
  }
}

extension Entity {
  /// All records of the entity, for adding conditions and an order to.
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
