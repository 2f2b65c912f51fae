/// Related records that a fetch or a page reads together with its results.
///
///     let albums = try snapshot.fetch(
///       Album.all, including: .many(Album.tracks, Track.all.sorted(by: \.number)), .one(\.artist))
///     for (album, tracks, artist) in albums { … }
public struct Inclusion<E: Entity, Related>: Sendable {
  /// Reads the related records of all results in one pass, and returns a function that gives the
  /// related records of one result.
  let read: @Sendable (TransactionCore, [E]) throws(StoreError) -> (E) -> Related

  /// Includes the records that each result leads to by `relationship`.
  ///
  /// - Parameter query: selects and sorts the related records. A limit or an offset applies to
  ///   those of each result.
  public static func many<Target: Entity>(
    _ relationship: ToMany<E, Target>, _ query: Query<Target> = Query()
  ) -> Inclusion where Related == [Target] {
    Inclusion { (core, records) throws(StoreError) in
      let found = try core.relatedRecords(
        relationship, of: records.map { $0.id.rawValue }, query)
      return { found[$0.id] }
    }
  }

  /// Includes the record that the property at `path` refers to; `nil` if it refers to none.
  public static func one<Target: Entity>(
    _ path: KeyPath<E, RecordID<Target>?> & Sendable
  ) -> Inclusion
  where Related == Target? {
    one { $0[keyPath: path] }
  }

  /// Includes the record that the required property at `path` refers to.
  ///
  /// In a write, the result is `nil` until that record has been inserted.
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
  /// Returns the results of `query`, each with its related records by one or several relationships.
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

  /// Returns one page of the results of `query`, each with its related records, and the token for
  /// the next page.
  ///
  ///     let page = try snapshot.page(
  ///       Album.all.sorted(by: \.title).limit(50).continuing(after: token),
  ///       including: .many(Album.tracks), .one(\.artist))
  ///
  /// The token is the same as of ``page(_:)``.
  public func page<E: Entity, First, each Other>(
    _ query: Query<E>, including first: Inclusion<E, First>,
    _ other: repeat Inclusion<E, each Other>
  ) throws(StoreError) -> Page<(E, First, repeat each Other)> {
    let found = try page(query)
    return Page(
      items: try rows(found.items, first, repeat each other), next: found.next,
      commitNumber: found.commitNumber)
  }

  private func rows<E: Entity, First, each Other>(
    _ records: [E], _ first: Inclusion<E, First>, _ other: repeat Inclusion<E, each Other>
  ) throws(StoreError) -> [(E, First, repeat each Other)] {
    let core = access.core
    let firsts = try first.read(core, records)
    let others = (repeat try (each other).read(core, records))
    var rows: [(E, First, repeat each Other)] = []
    rows.reserveCapacity(records.count)
    for record in records { rows.append((record, firsts(record), repeat (each others)(record))) }
    return rows
  }
}

extension TransactionCore {
  /// Returns the results of `query` that `ids` lead to by `relationship`.
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

  /// Returns the existing records with `ids`.
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
