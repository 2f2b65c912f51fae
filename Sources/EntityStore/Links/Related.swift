internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// The records that the record `id` leads to by `relationship`.
  ///
  ///     let bright = try snapshot.related(
  ///       Group.members, of: group.id, Person.where { $0.age > 20 }.sorted(by: \.name).limit(50))
  ///
  /// - Parameter query: which of them, in which order, and how many; all of them where it is left
  ///   out. A query without an order takes that of the relationship, and that of ids where it has
  ///   none.
  /// - Returns: nothing when there is no record `id`.
  /// - Complexity: one walk of the links, and the records that are asked for in the order of their
  ///   ids; with a limit and neither condition nor order, so many links and records.
  @inlinable
  public func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target> = Query()
  ) throws(StoreError) -> [Target] {
    guard let order = try access.arrangement(relationship, of: id, query) else {
      return try fetch(try access.related(relationship, of: id, query))
    }
    return order.arrange(try fetch(order.query))
  }

  /// One page of the records that the record `id` leads to by `relationship`, with the token of the
  /// next.
  ///
  /// As ``page(_:)``, of these records alone: the query has a limit, and
  /// ``Query/continuing(after:)`` goes on. In the order of the query or of ids, not in that of the
  /// relationship.
  ///
  /// - Complexity: one walk of the links, and the records of the page.
  @inlinable
  public func relatedPage<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws(StoreError) -> Page<Target> {
    try page(try access.allRelated(relationship, of: id, query))
  }

  /// The ids of the records that the record `id` leads to by `relationship`; no record is read.
  ///
  /// In the order of the relationship, ascending where it has none.
  public func relatedIDs<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>
  ) throws(StoreError) -> [RecordID<Target>] {
    let end = try access.core.end(relationship)
    return try access.core.orderedIDs(of: id.rawValue, by: end).map { RecordID(rawValue: $0) }
  }

  /// How many records the record `id` leads to by `relationship`, of those that `query` finds.
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

  /// What all of `ids` lead to by `relationship`, in one pass over the records.
  ///
  ///     let members = try snapshot.related(Group.members, of: groups.map(\.id))
  ///     for group in groups { print(group.name, members[group.id].count) }
  ///
  /// - Parameter query: which records, in which order; a limit or an offset is of the records of
  ///   each id.
  /// - Complexity: one walk of the links of each id; each record is read once, in the order of the
  ///   ids, or as `query` finds them.
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

  /// What `query` finds, each with the records that it leads to by `relationship`.
  ///
  ///     for (group, members) in try snapshot.fetch(
  ///       Group.all.limit(50), including: Group.members, Person.all.limit(20))
  ///     { … }
  ///
  /// The related records of all results are read in one pass; see
  /// ``related(_:of:_:)->RelatedRecords<E,Target>``.
  @inlinable
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including relationship: ToMany<E, Target>,
    _ related: Query<Target> = Query()
  ) throws(StoreError) -> [(record: E, related: [Target])] {
    let records = try fetch(query)
    let found = try self.related(relationship, of: records.map(\.id), related)
    return records.map { ($0, found[$0.id]) }
  }

  /// What `query` finds, each with the record that the property at `path` leads to.
  ///
  ///     for (note, person) in try snapshot.fetch(Note.all, including: \.person) { … }
  ///
  /// Each of these is read once, in one pass in the order of their ids.
  @inlinable
  public func fetch<E: Entity, Target: Entity>(
    _ query: Query<E>, including path: KeyPath<E, RecordID<Target>?>
  ) throws(StoreError) -> [(record: E, related: Target?)] {
    let records = try fetch(query)
    let found = try self.records(withIDs: records.compactMap { $0[keyPath: path] })
    return records.map { record in (record, record[keyPath: path].flatMap { found[$0] }) }
  }

  /// What `query` finds, each with the record that the property at `path` leads to; one whose
  /// record is not there is left out.
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
  /// All of them, each once, in the order of the query.
  public let all: [Target]

  @usableFromInline
  init(_ positions: [UInt64: [Int]], _ records: [Target]) {
    self.positions = positions
    all = records
  }

  /// Those of one of the records that were asked for; none for another id.
  public subscript(id: RecordID<E>) -> [Target] {
    positions[id.rawValue].map { $0.map { all[$0] } } ?? []
  }
}

/// What each of some records leads to, while the related records are read.
@usableFromInline
final class RelatedLists<Target: Entity> {
  /// What finds all related records.
  @usableFromInline let query: Query<Target>
  /// By the id of a related record, the ids that lead to it.
  private let owners: [UInt64: [UInt64]]
  private let limit: Int
  /// How many of the first results each id leaves out.
  private var skipped: [UInt64: Int] = [:]
  private let offset: Int
  private var count = 0
  /// By id, the positions of its records among those that were taken.
  private var positions: [UInt64: [Int]] = [:]
  /// By id, what it leads to in the order of the relationship; `nil` without one.
  private let order: [UInt64: [UInt64]]?
  /// The ids that were taken, where they have an order.
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

  /// Whether the next result is one of those that are asked for.
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

  /// By id, the positions of its records among those that were taken, when all have been seen.
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

/// The records that one record leads to in the order of the relationship, while they are read.
@usableFromInline
struct LinkArrangement<Target: Entity> {
  /// What finds them.
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
  /// `query`, of what `id` leads to alone.
  @usableFromInline
  func related<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws(StoreError) -> Query<Target> {
    let end = try core.end(relationship)
    return query.within(
      try core.relatedIDs(of: id.rawValue, by: end, limit: try query.wantedPlainCount() ?? .max))
  }

  /// What `query` finds of what `id` leads to, where the order is that of the relationship; `nil`
  /// where it is another.
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

  /// `query`, of all that `id` leads to, whatever its limit.
  @usableFromInline
  func allRelated<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of id: RecordID<E>, _ query: Query<Target>
  ) throws(StoreError) -> Query<Target> {
    query.within(try core.relatedIDs(of: id.rawValue, by: try core.end(relationship)))
  }

  /// What `ids` lead to.
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
