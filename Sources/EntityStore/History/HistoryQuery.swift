internal import LodestoreBytes
public import LodestoreEssentials
internal import LodestoreFormat

/// A selection of writes and changes in the history.
///
///     let news = try store.history(.after(token).excluding(authors: "app").of(Film.self))
///
/// A query does not return a write when the filters exclude all of the write's changes.
public struct HistoryQuery: Sendable {
  enum Start: Sendable {
    case beginning
    case token(HistoryToken)
    case date(Date)
    case write(HistoryToken)
  }

  /// A filter by a condition for the changes of one entity's records.
  struct RecordFilter: Sendable {
    /// Decides whether a changed record matches the condition; returns `nil` when its values are
    /// unknown.
    ///
    /// The arguments are the record's id, the kind of its change and the number of its image.
    typealias Decision = (UInt64, HistoryChange.Kind, UInt64) throws -> Bool?

    let entity: String
    let make: @Sendable (TransactionCore) throws -> Decision
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
  /// The number of the write before which the writes end; `nil` for all.
  var end: UInt64?

  init(_ start: Start) { self.start = start }

  /// The complete history.
  public static var all: HistoryQuery { HistoryQuery(.beginning) }

  /// The writes after `token`; `nil` for the complete history.
  ///
  /// - Throws: running the query throws ``StoreError/Code/expiredHistory`` when some of these
  ///   writes have been purged, and ``StoreError/Code/invalidQuery`` for a token of another store.
  public static func after(_ token: HistoryToken?) -> HistoryQuery {
    HistoryQuery(token.map { .token($0) } ?? .beginning)
  }

  /// The writes at this time or later.
  ///
  /// The times come from the writers' clocks. The results are in the order of the writes, even if
  /// the times are not.
  public static func since(_ date: Date) -> HistoryQuery { HistoryQuery(.date(date)) }

  /// The write with this token.
  public static func write(_ token: HistoryToken) -> HistoryQuery {
    HistoryQuery(.write(token))
  }

  /// Includes only writes of these authors.
  public func by(authors: String...) -> HistoryQuery { with { $0.authors = Set(authors) } }

  /// Excludes writes of these authors, such as a consumer's own.
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

  /// Only changes of these kinds; without updates, links are excluded too.
  public func only(_ kinds: HistoryChange.Kind...) -> HistoryQuery {
    with { $0.kinds = Set(kinds) }
  }

  /// Only those updates of this entity's records that changed one of these attributes.
  ///
  /// Inserts and deletes of records are still included.
  public func changing<E: Entity, each Value>(
    _ paths: repeat KeyPath<E.Attributes, Attribute<E, each Value>>
  ) -> HistoryQuery {
    let attributes = E.attributes
    var names: Set<String> = []
    for path in repeat each paths { names.insert(attributes[keyPath: path].attributeName) }
    return with { $0.attributes[E.schema.name, default: []].formUnion(names) }
  }

  /// Only changes of those records of `E` that currently match `query`.
  ///
  /// For a deleted record, the condition is evaluated with the values at the time of the delete.
  /// All changes of the record are included or excluded together, even its insert. The values come
  /// from the last image of the record. Without an image, the values that
  /// ``HistoryPolicy/kept(preserving:images:)`` preserves are used, if the condition needs no
  /// others. Changes of records with unknown values are excluded, and their writes stay.
  /// ``HistoryWrite/undecidedCount`` counts these changes.
  ///
  /// The query's order, limit and offset are ignored.
  public func matching<E: Entity>(_ query: Query<E>) -> HistoryQuery {
    with {
      $0.recordFilters.append(
        RecordFilter(entity: E.schema.name) { core in try core.historyFilter(query) })
    }
  }

  /// Returns the last write first.
  public func newestFirst() -> HistoryQuery { with { $0.isNewestFirst = true } }

  /// Returns at most `count` writes.
  public func limit(_ count: Int) -> HistoryQuery { with { $0.limitCount = count } }

  /// Returns writes without their changes and links.
  public func withoutChanges() -> HistoryQuery { with { $0.wantsChanges = false } }

  private static func name<E: Entity>(of _: E.Type) -> String { E.schema.name }

  func with(_ change: (inout HistoryQuery) -> Void) -> HistoryQuery {
    var query = self
    change(&query)
    return query
  }
}

extension TransactionCore {
  /// Returns a filter that decides whether `query` matches a record, with its current or last
  /// values.
  fileprivate func historyFilter<E: Entity>(
    _ query: Query<E>
  ) throws -> HistoryQuery.RecordFilter.Decision {
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
      let last = kind == .deleted ? number : nil
      if let kept = try log.kept(.image(entity: entity.number, id: id, write: 0), of: last) {
        return try evaluator.admits(kept, id: id)
      }
      let tombstone = HistoryKey.tombstone(entity: entity.number, id: id, write: 0)
      guard let kept = try log.keptDocument(tombstone, of: last),
        let record = try entity.record(id, preserving: kept, decides: condition)
      else { return nil }
      return try record._withBytes { (bytes) throws(StoreError) in
        try evaluator.admits(bytes, id: id)
      }
    }
  }
}

extension StoredEntity {
  /// Creates a record from the preserved values `kept` of a deleted record.
  ///
  /// Returns `nil` when `condition` needs other values.
  fileprivate func record(
    _ id: UInt64, preserving kept: Document, decides condition: BoundCondition
  ) throws(StoreError) -> [UInt8]? {
    guard case .object(let members) = kept else { return nil }
    let numbers = Set(members.keys.compactMap { UInt32($0) })
    guard condition.isDecided(by: numbers) else { return nil }
    var values: [Value] = []
    for attribute in layout.attributes {
      var value = attribute.isOptional ? Value.null : .placeholder(of: attribute.type)
      if let member = members["\(attribute.number)"], member != .null {
        value = EntityDescription.value(of: member, for: attribute.type)
        guard value.fits(attribute.type) else { return nil }
      }
      values.append(value)
    }
    return try wrappingErrors { try layout.record(id: id, values: values) }
  }
}
