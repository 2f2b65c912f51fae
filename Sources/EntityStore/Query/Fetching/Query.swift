#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What to fetch: a condition, an order, and how much of it.
///
/// A value that belongs to no store.
///
///     let fresh = Pod.query.where(\.license == "MIT" && \.downloads > 1_000)
///       .sorted(by: .descending(\.updatedAt)).limit(50)
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

  /// All records of `E`.
  public init() {}

  /// Only records for which `condition` is true, besides what was asked before.
  public func `where`(_ condition: Condition<E>) -> Query {
    with { $0.conditions.append(condition) }
  }

  /// Only records for which a condition on the attributes is true.
  ///
  ///     Pod.query.where { $0.name.hasPrefix("AF") }
  public func `where`(
    matching build: (AttributePaths<E>) -> Condition<E>
  ) -> Query {
    self.where(.matching(build))
  }

  /// Only records for which a predicate of Foundation is true.
  public func `where`(_ predicate: Predicate<E>) -> Query {
    self.where(Condition(predicate))
  }

  /// Only records for which a format string is true; see ``Condition/init(format:_:)``.
  public func `where`(
    format: String, _ arguments: any FormatValue...
  ) throws(StoreError) -> Query {
    self.where(try Condition(format: format, arguments: arguments))
  }

  /// In this order: by the first key, then by the second where the first are equal, and so on.
  public func sorted(by keys: SortKey<E>...) -> Query {
    sorted(by: keys)
  }

  /// In the order of `keys`.
  public func sorted(by keys: [SortKey<E>]) -> Query {
    with { $0.order = keys }
  }

  /// At most `count` records.
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
    return request
  }

  /// The keys of the order.
  var sortKeys: [SortKey<E>] { order }

  /// Without the order, where no token refers to it: for counts and groups.
  func unordered() -> Query {
    token == nil ? with { $0.order = [] } : self
  }

  private func with(_ change: (inout Query) -> Void) -> Query {
    var query = self
    change(&query)
    return query
  }
}

extension Entity {
  /// All records of the entity, for adding conditions and an order to.
  public static var query: Query<Self> { Query() }
}

/// One key of an order.
public struct SortKey<E: Entity>: Sendable {
  /// Where records without a value come.
  public enum NullPlacement: Sendable {
    case first, last
  }

  let term: Result<SortTerm, StoreError>

  /// Lowest first; null comes first unless `nulls` says otherwise.
  ///
  /// Text is in the order of Swift's `<`, or, with `ignoring`, of what is left without case or
  /// marks.
  public static func ascending<V>(
    _ path: any KeyPath<E, V> & Sendable, nulls: NullPlacement? = nil,
    ignoring comparison: TextComparison = []
  ) -> SortKey {
    SortKey(AttributePath(path), isDescending: false, nulls, comparison)
  }

  /// Highest first; null comes last unless `nulls` says otherwise.
  public static func descending<V>(
    _ path: any KeyPath<E, V> & Sendable, nulls: NullPlacement? = nil,
    ignoring comparison: TextComparison = []
  ) -> SortKey {
    SortKey(AttributePath(path), isDescending: true, nulls, comparison)
  }

  /// Lowest first, by something inside a JSON attribute: Booleans, then numbers, then texts; arrays
  /// and objects count as null.
  public static func ascending(
    _ path: AttributePath<E, JSONValue>, nulls: NullPlacement? = nil,
    ignoring comparison: TextComparison = []
  ) -> SortKey {
    SortKey(path, isDescending: false, nulls, comparison)
  }

  /// Highest first, by something inside a JSON attribute.
  public static func descending(
    _ path: AttributePath<E, JSONValue>, nulls: NullPlacement? = nil,
    ignoring comparison: TextComparison = []
  ) -> SortKey {
    SortKey(path, isDescending: true, nulls, comparison)
  }

  /// A key that is thrown as an error when the query is run.
  package init(refusing reason: String) { term = .failure(.badQuery(reason)) }

  private init(_ term: SortTerm) { self.term = .success(term) }

  /// The attribute at `path`.
  package init(_ path: PartialKeyPath<E>, isDescending: Bool) {
    guard let position = E.schema.index(of: path) else {
      self.init(refusing: "\(path) is no attribute of \(E.schema.name), so it cannot sort")
      return
    }
    let name = E.schema.attributes[position].name
    self.init(SortTerm(ValuePath(attribute: name), isDescending: isDescending))
  }

  private init<V>(
    _ path: AttributePath<E, V>, isDescending: Bool, _ nulls: NullPlacement?,
    _ comparison: TextComparison
  ) {
    if let valuePath = path.path {
      term = .success(
        SortTerm(
          valuePath, isDescending: isDescending, nullsFirst: nulls.map { $0 == .first },
          options: comparison.options))
    } else {
      term = .failure(
        .badQuery("\(path.text) is no attribute of \(E.schema.name), so it cannot sort"))
    }
  }
}
