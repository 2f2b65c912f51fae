#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import LodestoreFormat

/// Which part of the history.
///
///     let news = try store.history(.after(token).excluding(authors: "app").of(Film.self))
///
/// A write of which nothing is left by the filters is left out.
public struct HistoryQuery: Sendable {
  enum Start: Sendable {
    case beginning
    case token(HistoryToken)
    case date(Date)
    case transaction(HistoryToken)
  }

  /// What is kept of the changes of one entity: those of records that fulfil a condition.
  struct RecordFilter: Sendable {
    let entity: String
    let make:
      @Sendable (TransactionCore) throws -> (UInt64, HistoryChange.Kind, UInt64) throws -> Bool
  }

  var start = Start.beginning
  var authors: Set<String>?
  var excludedAuthors: Set<String> = []
  var entities: Set<String>?
  var kinds: Set<HistoryChange.Kind>?
  var attributes: [String: Set<String>] = [:]
  var recordFilters: [RecordFilter] = []
  var limitCount: Int?
  var wantsChanges = true
  var isNewestFirst = false

  init(_ start: Start) { self.start = start }

  /// Everything that is kept.
  public static var all: HistoryQuery { HistoryQuery(.beginning) }

  /// What was written after `token`; `nil` for everything that is kept.
  ///
  /// - Throws: when it is run: ``StoreError/Code/expiredHistory`` when some of that has been purged;
  ///   ``StoreError/Code/invalidQuery`` for a token of another store.
  public static func after(_ token: HistoryToken?) -> HistoryQuery {
    HistoryQuery(token.map { .token($0) } ?? .beginning)
  }

  /// What was written at this time or later.
  ///
  /// Times are those of the writers' clocks; the order is that of the writes.
  public static func since(_ date: Date) -> HistoryQuery { HistoryQuery(.date(date)) }

  /// The one write that `token` is behind.
  public static func transaction(_ token: HistoryToken) -> HistoryQuery {
    HistoryQuery(.transaction(token))
  }

  /// Only writes of these authors.
  public func by(authors: String...) -> HistoryQuery { with { $0.authors = Set(authors) } }

  /// No writes of these authors: a consumer's own, mostly.
  public func excluding(authors: String...) -> HistoryQuery {
    with { $0.excludedAuthors.formUnion(authors) }
  }

  /// Only changes of records of these entities, and of links from or to them.
  public func of(_ entities: any Entity.Type...) -> HistoryQuery {
    with { query in
      query.entities = Set(entities.map { Self.name(of: $0) })
    }
  }

  /// Only changes of records of entities with these names, and of links from or to them.
  public func of(entitiesNamed names: String...) -> HistoryQuery {
    with { $0.entities = Set(names) }
  }

  /// Only changes of these kinds; without updates, no links either.
  public func only(_ kinds: HistoryChange.Kind...) -> HistoryQuery {
    with { $0.kinds = Set(kinds) }
  }

  /// Of updates of this entity's records only those that gave one of these attributes another value; inserts
  /// and deletes stay.
  public func changing<E: Entity, each Value>(
    _ paths: repeat KeyPath<E.Attributes, Attribute<E, each Value>>
  ) -> HistoryQuery {
    let attributes = E.attributes
    var names: Set<String> = []
    for path in repeat each paths { names.insert(attributes[keyPath: path].name) }
    return with { $0.attributes[E.schema.name, default: []].formUnion(names) }
  }

  /// Of records of `E` only those that `query` finds: as they are now, and those that are gone by their
  /// images, where these are kept.
  ///
  /// The query's order, limit and offset play no part.
  public func matching<E: Entity>(_ query: Query<E>) -> HistoryQuery {
    with {
      $0.recordFilters.append(
        RecordFilter(entity: E.schema.name) { core in try core.historyFilter(query) })
    }
  }

  /// The last write first.
  public func newestFirst() -> HistoryQuery { with { $0.isNewestFirst = true } }

  /// At most so many writes.
  public func limit(_ count: Int) -> HistoryQuery { with { $0.limitCount = count } }

  /// Writes alone, without their changes and links.
  public func withoutChanges() -> HistoryQuery { with { $0.wantsChanges = false } }

  private static func name<E: Entity>(of _: E.Type) -> String { E.schema.name }

  func with(_ change: (inout HistoryQuery) -> Void) -> HistoryQuery {
    var query = self
    change(&query)
    return query
  }
}

extension TransactionCore {
  /// Whether a changed record, now or as it was before it was deleted, is one that `query` finds.
  fileprivate func historyFilter<E: Entity>(
    _ query: Query<E>
  ) throws -> (UInt64, HistoryChange.Kind, UInt64) throws -> Bool {
    let entity = try entity(E.self)
    let request = try query.request()
    let condition = try ConditionBinding.bind(
      request.condition, to: entity, positions: request.positions, schema: schema)
    let evaluator = ConditionEvaluator(condition, entity: entity, core: self)
    let log = HistoryLog(self)
    return { [self] id, kind, number in
      if kind != .deleted, let bytes = try record(id, of: entity) {
        return try evaluator.admits(bytes, id: id)
      }
      let key = HistoryKey.image(entity: entity.number, id: id, transaction: number)
      guard let bytes = try log.image(key) else { return false }
      return try evaluator.admits(bytes, id: id)
    }
  }
}
