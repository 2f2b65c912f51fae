/// Related records that a fetch or a page reads with its results.
///
///     let albums = try snapshot.fetch(
///       Album.all, including: .many(Album.tracks, Track.all.sorted(by: \.number)), .one(\.artist))
///     for (album, tracks, artist) in albums { … }
public struct Inclusion<E: Entity, Related>: Sendable {
  /// Reads what all records lead to in one pass, and returns what gives the part of one of them.
  let read: @Sendable (TransactionCore, [E]) throws(StoreError) -> (E) -> Related

  /// The records that each result leads to by `relationship`.
  ///
  /// - Parameter query: which of them, in which order; a limit or an offset is of the records of each
  ///   result.
  public static func many<Target: Entity>(
    _ relationship: ToMany<E, Target>, _ query: Query<Target> = Query()
  ) -> Inclusion where Related == [Target] {
    Inclusion { (core, records) throws(StoreError) in
      let found = try core.relatedRecords(
        relationship, of: records.map { $0.id.rawValue }, query)
      return { found[$0.id] }
    }
  }

  /// The record that the property at `path` leads to; `nil` where it leads to none.
  public static func one<Target: Entity>(
    _ path: KeyPath<E, RecordID<Target>?> & Sendable
  ) -> Inclusion
  where Related == Target? {
    one { $0[keyPath: path] }
  }

  /// The record that the required property at `path` leads to.
  ///
  /// The result is `nil` while a write has not inserted that record yet.
  public static func one<Target: Entity>(
    _ path: KeyPath<E, RecordID<Target>> & Sendable
  ) -> Inclusion
  where Related == Target? {
    one { $0[keyPath: path] }
  }

  private static func one<Target: Entity>(
    _ id: @escaping @Sendable (E) -> RecordID<Target>?
  ) -> Inclusion
  where Related == Target? {
    Inclusion { (core, records) throws(StoreError) in
      let found: [RecordID<Target>: Target] = try core.records(withIDs: records.compactMap(id))
      return { record in id(record).flatMap { found[$0] } }
    }
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The results of `query`, each with the records that it leads to by one or several
  /// relationships.
  ///
  ///     for (album, tracks, artist) in try snapshot.fetch(
  ///       Album.all.limit(50), including: .many(Album.tracks), .one(\.artist))
  ///     { … }
  ///
  /// The related records of all results are read in one pass for each relationship.
  public func fetch<E: Entity, First, each Other>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) throws(StoreError) -> [(E, First, repeat each Other)] {
    try rows(try fetch(query), first, repeat each other)
  }

  /// One page of the results of `query`, each with the records that it leads to, and the token of
  /// the next.
  ///
  ///     let page = try snapshot.page(
  ///       Album.all.sorted(by: \.title).limit(50).continuing(after: token),
  ///       including: .many(Album.tracks), .one(\.artist))
  ///
  /// As ``page(_:)``; the token is the same.
  public func page<E: Entity, First, each Other>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) throws(StoreError) -> Page<(E, First, repeat each Other)> {
    let found = try page(query)
    return Page(
      items: try rows(found.items, first, repeat each other), next: found.next,
      generation: found.generation)
  }

  private func rows<E: Entity, First, each Other>(
    _ records: [E], _ first: Inclusion<E, First>, _ other: repeat Inclusion<E, each Other>
  ) throws(StoreError) -> [(E, First, repeat each Other)] {
    let core = access.core
    let firsts = try first.read(core, records)
    let others = (repeat try (each other).read(core, records))
    var rows: [(E, First, repeat each Other)] = []
    rows.reserveCapacity(records.count)
    for record in records {
      rows.append((record, firsts(record), repeat (each others)(record)))
    }
    return rows
  }
}

extension TransactionCore {
  /// The results of `query` that `ids` lead to by `relationship`.
  fileprivate func relatedRecords<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of ids: [UInt64], _ query: Query<Target>
  ) throws(StoreError) -> RelatedRecords<E, Target> {
    let access = TransactionAccess(core: self)
    let lists = try access.relatedLists(relationship, of: ids, query)
    var records: [Target] = []
    try access.readResults(of: lists.query) { reader in
      if lists.takes(reader.recordID) { records.append(try Target.read(from: &reader)) }
      return true
    }
    return RelatedRecords(lists.finish(), records)
  }

  /// The records with `ids` that are there.
  fileprivate func records<Target: Entity>(
    withIDs ids: [RecordID<Target>]
  ) throws(StoreError) -> [RecordID<Target>: Target] {
    var sorted = ids.map(\.rawValue)
    IDSort.sortUnique(&sorted)
    var found: [RecordID<Target>: Target] = [:]
    try TransactionAccess(core: self).readResults(of: Target.all.within(sorted)) { reader in
      found[RecordID(rawValue: reader.recordID)] = try Target.read(from: &reader)
      return true
    }
    return found
  }
}
