internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// Returns the records that the record `id` leads to by `relationship`.
  ///
  ///     let bright = try snapshot.related(
  ///       Group.members, of: group.id, Person.where { $0.age > 20 }.sorted(by: \.name).limit(50))
  ///
  /// - Parameter query: selects, sorts and limits the related records; by default all are returned.
  ///   A query without an order uses the order of the relationship, or ascending ids if it has
  ///   none.
  /// - Returns: the records, or none if there is no record `id`.
  /// - Complexity: one walk of the links, and reads of the selected records in the order of their
  ///   ids. With a limit and neither condition nor order, only as many links and records are read.
  @inlinable
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) throws(StoreError) -> [Target] {
    guard let order = try access.arrangement(relationship, of: id, query) else {
      return try fetch(try access.related(relationship, of: id, query))
    }
    return order.arrange(try fetch(order.query))
  }

  /// Returns one page of the records that the record `id` leads to by `relationship`, with the
  /// token for the next page.
  ///
  /// The call is like ``page(_:)`` for these records alone: the query has a limit, and
  /// ``Query/continuing(after:)`` continues it. The records are in the order of the query, or of
  /// ids if it has none. The order of the relationship has no effect.
  ///
  /// - Complexity: one walk of the links, and the records of the page.
  @inlinable
  public func relatedPage<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws(StoreError) -> Page<Target> {
    try page(try access.allRelated(relationship, of: id, query))
  }

  /// Returns the ids of the records that the record `id` leads to by `relationship`, without
  /// reading records.
  ///
  /// The ids are in the order of the relationship, or ascending if it has none.
  public func relatedIDs<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>
  ) throws(StoreError) -> [RecordID<Target>] {
    let end = try access.core.end(relationship)
    return try access.core.orderedIDs(of: id.rawValue, by: end).map { RecordID(rawValue: $0) }
  }

  /// Returns the number of records found by `query` that the record `id` leads to by
  /// `relationship`.
  ///
  /// - Complexity: O(links) without a condition; no record is read.
  public func relatedCount<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) throws(StoreError) -> Int {
    let end = try access.core.end(relationship)
    if query.isEverything, let links = end.links, try !access.core.hasExpired(at: end) {
      return try LinkCursor(links, core: access.core).count(of: id.rawValue)
    }
    return try count(try access.related(relationship, of: id, query))
  }

  /// Returns the records that each of `ids` leads to by `relationship`, in one pass over the
  /// records.
  ///
  ///     let members = try snapshot.related(Group.members, of: groups.map(\.id))
  ///     for group in groups { print(group.name, members[group.id].count) }
  ///
  /// - Parameter query: selects and sorts the records. A limit or an offset applies to the records
  ///   of each id.
  /// - Complexity: one walk of the links of each id. Each record is read once, in the order of the
  ///   ids or of `query`.
  @inlinable
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of ids: some Sequence<RecordID<E>>,
    _ query: Query<Target> = Query()
  ) throws(StoreError) -> RelatedRecords<E, Target> {
    let lists = try access.relatedLists(relationship, of: ids.map(\.rawValue), query)
    var records: [Target] = []
    try access.readResults(of: lists.query) { reader in
      if lists.takes(reader.recordID) { records.append(try Target.read(from: &reader)) }
      return true
    }
    return RelatedRecords(lists.finish(), records)
  }

  /// Returns the results of `query`, each with the records that it leads to by `relationship`.
  ///
  ///     for (group, members) in try snapshot.fetch(
  ///       Group.all.limit(50), including: Group.members, Person.all.limit(20))
  ///     { … }
  ///
  /// The related records of all results are read in one pass; see
  /// ``related(_:of:_:)->RelatedRecords<E,Target>``.
  @inlinable
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including relationship: ToMany<E, Target>, _ related: Query<Target> = Query()
  ) throws(StoreError) -> [(record: E, related: [Target])] {
    let records = try fetch(query)
    let found = try self.related(relationship, of: records.map(\.id), related)
    return records.map { ($0, found[$0.id]) }
  }

  /// Returns the results of `query`, each with the record that the property at `path` refers to.
  ///
  ///     for (note, person) in try snapshot.fetch(Note.all, including: \.person) { … }
  ///
  /// The records that are referred to are read in one pass in the order of their ids, each of them
  /// once.
  @inlinable
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>?>
  ) throws(StoreError) -> [(record: E, related: Target?)] {
    let records = try fetch(query)
    let found = try self.records(withIDs: records.compactMap { $0[keyPath: path] })
    return records.map { record in (record, record[keyPath: path].flatMap { found[$0] }) }
  }

  /// Returns the results of `query`, each with the record that the property at `path` refers to.
  ///
  /// Results for which the referred record is missing are left out.
  @inlinable
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>>
  ) throws(StoreError) -> [(record: E, related: Target)] {
    let records = try fetch(query)
    let found = try self.records(withIDs: records.map { $0[keyPath: path] })
    return records.compactMap { record in found[record[keyPath: path]].map { (record, $0) } }
  }

  @inlinable
  func records<Target: Entity>(
    withIDs ids: [RecordID<Target>]
  ) throws(StoreError) -> [RecordID<Target>: Target] {
    let found: [Target] = try fetch(Set(ids))
    return Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

/// The records that several records lead to by one relationship.
public struct RelatedRecords<E: Entity, Target: Entity>: Sendable {
  private let positions: [UInt64: [Int]]
  /// All related records without repetitions, in the order of the query.
  public let all: [Target]

  @usableFromInline
  init(_ positions: [UInt64: [Int]], _ records: [Target]) {
    self.positions = positions
    all = records
  }

  /// The records that the record `id` leads to; none if the call was not asked about this id.
  public subscript(id: RecordID<E>) -> [Target] {
    positions[id.rawValue].map { $0.map { all[$0] } } ?? []
  }
}

/// Assigns related records to the records that lead to them, while the related records are read.
@usableFromInline
final class RelatedLists<Target: Entity> {
  /// The query that finds all related records.
  @usableFromInline let query: Query<Target>
  /// For each related record, by its id, the ids of the records that lead to it.
  private let owners: [UInt64: [UInt64]]
  private let limit: Int
  /// The number of leading results that each id has skipped, because of the offset.
  private var skipped: [UInt64: Int] = [:]
  private let offset: Int
  private var count = 0
  /// For each id, the positions of its records among the results for which ``takes(_:)`` has
  /// returned true.
  private var positions: [UInt64: [Int]] = [:]
  /// The ids that each id leads to, in the order of the relationship; `nil` if it has none.
  private let order: [UInt64: [UInt64]]?
  /// The ids of all results, if the relationship has an order.
  private var taken: [UInt64] = []

  init(
    _ query: Query<Target>, owners: [UInt64: [UInt64]], order: [UInt64: [UInt64]]?, offset: Int,
    limit: Int
  ) {
    self.query = query
    self.owners = owners
    self.order = order
    self.offset = offset
    self.limit = limit
  }

  /// Returns whether the next result belongs to one of the ids, within its offset and limit.
  @usableFromInline
  func takes(_ id: UInt64) -> Bool {
    var isTaken = false
    if order != nil {
      taken.append(id)
      return true
    }
    for owner in owners[id] ?? [] {
      if offset > 0, skipped[owner, default: 0] < offset {
        skipped[owner, default: 0] += 1
        continue
      }
      if positions[owner, default: []].count >= limit { continue }
      positions[owner, default: []].append(count)
      isTaken = true
    }
    if isTaken { count += 1 }
    return isTaken
  }

  /// Returns, for each id, the positions of its records among the results for which ``takes(_:)``
  /// has returned true.
  ///
  /// Call this method after `takes(_:)` has been called with all results.
  @usableFromInline
  func finish() -> [UInt64: [Int]] {
    guard let order else { return positions }
    let position = Dictionary(
      taken.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    return order.mapValues { ids in
      Array(ids.lazy.compactMap { position[$0] }.dropFirst(offset).prefix(limit))
    }
  }
}

/// Arranges the records that one record leads to in the order of the relationship.
@usableFromInline
struct LinkArrangement<Target: Entity> {
  /// The query that finds the records.
  @usableFromInline let query: Query<Target>
  private let positions: [UInt64: Int]
  private let offset: Int
  private let limit: Int

  init(_ query: Query<Target>, _ ids: some Sequence<UInt64>, offset: Int, limit: Int) {
    self.query = query
    positions = Dictionary(
      ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    self.offset = offset
    self.limit = limit
  }

  @usableFromInline
  func arrange(_ records: [Target]) -> [Target] {
    let sorted = records.lazy.map { (self.positions[$0.id.rawValue] ?? .max, $0) }
      .sorted { $0.0 < $1.0 }
    return sorted.dropFirst(offset).prefix(limit).map(\.1)
  }
}

extension TransactionAccess {
  /// Returns `query` restricted to the records that `id` leads to.
  @usableFromInline
  func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws(StoreError) -> Query<Target> {
    let end = try core.end(relationship)
    return query.within(
      try core.relatedIDs(of: id.rawValue, by: end, limit: try query.wantedPlainCount() ?? .max))
  }

  /// Returns the arrangement for results in the order of the relationship, or `nil` if the results
  /// have another order.
  @usableFromInline
  func arrangement<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws(StoreError) -> LinkArrangement<Target>? {
    let end = try core.end(relationship)
    guard query.sortKeys.isEmpty, !query.hasToken, let order = try LinkOrder(end, core: core) else {
      return nil
    }
    let request = try query.request()
    try request.checkWindow()
    let wanted = try query.wantedPlainCount() ?? .max
    let ids =
      try core.hasExpired(at: end)
      ? core.orderedIDs(of: id.rawValue, by: end, limit: wanted)
      : order.ids(of: id.rawValue, limit: wanted)
    var sorted = ids
    IDSort.sort(&sorted)
    return LinkArrangement(
      query.within(sorted).withoutBounds(), ids, offset: request.offset,
      limit: request.limit ?? .max)
  }

  /// Returns `query` restricted to all records that `id` leads to, whatever its limit.
  @usableFromInline
  func allRelated<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws(StoreError) -> Query<Target> {
    query.within(try core.relatedIDs(of: id.rawValue, by: try core.end(relationship)))
  }

  /// Returns the lists of records that each of `ids` leads to.
  @usableFromInline
  func relatedLists<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of ids: [UInt64], _ query: Query<Target>
  ) throws(StoreError) -> RelatedLists<Target> {
    let end = try core.end(relationship)
    let request = try query.request()
    try request.checkWindow()
    let limit = try query.wantedPlainCount() ?? .max
    var owners: [UInt64: [UInt64]] = [:]
    var sources = ids
    IDSort.sortUnique(&sources)
    let hasOwnOrder = query.sortKeys.isEmpty && !query.hasToken && end.order != nil
    var orders: [UInt64: [UInt64]] = [:]
    for source in sources {
      let others =
        hasOwnOrder
        ? try core.orderedIDs(of: source, by: end, limit: limit)
        : try core.relatedIDs(of: source, by: end, limit: limit)
      for id in others { owners[id, default: []].append(source) }
      if hasOwnOrder { orders[source] = others }
    }
    var related = Array(owners.keys)
    IDSort.sort(&related)
    return RelatedLists(
      query.within(related).withoutBounds(), owners: owners,
      order: hasOwnOrder ? orders : nil, offset: request.offset, limit: request.limit ?? .max)
  }
}
