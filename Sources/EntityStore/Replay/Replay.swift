internal import LMDB
internal import LodestoreBytes
package import LodestoreFormat

/// The numbers of changes that were made in a copy.
package struct ReplayCounts: Sendable, Hashable {
  /// The number of inserted and updated records.
  package var records = 0
  package var deletedRecords = 0
  /// The number of added and removed links.
  package var links = 0
}

extension Store {
  /// Runs `body`, which makes changes of another store in this one, its copy.
  ///
  /// The write differs from those of a program in two ways. Derived attributes are those of the
  /// other store, and are not computed. No record is evicted, because the evictions of the other
  /// store are among its changes. `body` therefore makes no changes of its own.
  @discardableResult
  package func replaying<R>(
    author: String?, context: String?, _ body: (inout WriteTransaction) throws -> R
  ) throws -> R {
    try core.checkWritable()
    try core.checkOpen("write")
    return try core.write(
      WriteOrigin(author: author, context: context), .replay, Savepoints()
    ) { core in
      var transaction = WriteTransaction(core: core)
      return try body(&transaction)
    }
  }

  /// Runs `body` on the store's writer thread.
  @discardableResult
  package func replaying<R: Sendable>(
    author: String?, context: String?,
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> R
  ) async throws -> R {
    try await core.onWriter {
      let result: R = try self.replaying(author: author, context: context, body)
      return result
    }
  }
}

extension WriteTransaction {
  /// Makes the changes of consecutive units, and moves the cursor of the copy past them.
  ///
  /// The catalogues of both stores are equal, as in a copy of the file. Records keep their ids and
  /// their bytes. A record that several units change is changed once. Constraints, rules, unique
  /// keys and links are checked as in each write, then the digests of the last unit.
  ///
  /// Call this in ``Store/replaying(author:context:_:)``.
  ///
  /// - Returns: the numbers of changes.
  /// - Throws: ``ReplayError`` and ``StoreError``. After any error the write must end with it.
  /// - Complexity: O(*n* log *n*) for *n* changes.
  @discardableResult
  package mutating func replay(_ units: [ReplayUnit]) throws -> ReplayCounts {
    precondition(core.purpose == .replay, "replay is called in a write that replays")
    guard var cursor = try replicaCursor() else { throw ReplayError.noCursor }
    let scope = try ReplayScope(cursor.entities.map(Set.init), core)
    let schema = units.isEmpty ? [] : try core.schemaFingerprint()
    for unit in units {
      guard unit.end.storeID == cursor.storeID else {
        throw ReplayError.otherStore(expected: cursor.storeID, found: unit.end.storeID)
      }
      guard unit.end.after == cursor.lastWrite else {
        throw ReplayError.gap(expected: cursor.lastWrite, found: unit.end.after)
      }
      guard unit.end.schema == schema else { throw ReplayError.otherSchema }
      cursor.lastWrite = unit.end.last
    }
    var counts = ReplayCounts()
    for group in ReplayUnit.groups(of: units) {
      var replay = Replay(ReplayNet(group), scope, core)
      try replay.run(&counts)
    }
    if let digests = units.last?.end.digests { try core.compare(digests, scope) }
    try setReplicaCursor(cursor)
    return counts
  }
}

extension WriteCore {
  /// Throws unless the content has these digests, with the changes of this write.
  fileprivate func compare(_ expected: ReplayDigests, _ scope: ReplayScope) throws {
    let found = try scope.digests(self, since: expected, ContentLedger.of(self))
    var names = scope.contents.filter { expected.contents[$0.key] != found.contents[$0.key] }
      .map(scope.name(of:))
    if found.bucketTotal != expected.bucketTotal { names.append("buckets") }
    if !names.isEmpty { throw ReplayError.diverged(names) }
  }
}

/// Makes the net changes of some units.
private struct Replay {
  private let net: ReplayNet
  private let scope: ReplayScope
  private let core: WriteCore

  init(_ net: ReplayNet, _ scope: ReplayScope, _ core: WriteCore) {
    self.net = net
    self.scope = scope
    self.core = core
  }

  mutating func run(_ counts: inout ReplayCounts) throws {
    // Links and records are removed first, because unique keys are free then.
    for relationship in scope.relationships where relationship.linksFrom != nil {
      counts.links += try removeLinks(of: relationship)
    }
    for entity in scope.entities {
      let ids = try deletedIDs(of: entity)
      counts.deletedRecords += try core.erase(ids, of: entity)
    }
    for entity in scope.entities {
      guard let puts = net.puts[entity.number], !puts.isEmpty else { continue }
      counts.records += try RecordReplay(puts, net, entity, core).run()
    }
    for relationship in scope.relationships {
      guard let pairs = net.addedLinks[relationship.description.number] else { continue }
      counts.links += try core.addLinks(list(pairs), by: relationship.end(.from))
    }
    for entity in scope.entities {
      // Deleted records may have had the last ids of the other store.
      if let next = net.nextIDs[entity.number] { try core.raiseIDs(below: next, of: entity) }
    }
    for places in net.places where scope.has(relationship: places.relationship) {
      try arrange(places)
    }
    for bucket in net.buckets.values.sorted(by: { $0.name < $1.name }) { try replace(bucket) }
  }

  private func list(_ pairs: [LinkPair]) -> LinkList {
    var list = LinkList(expectedCount: pairs.count)
    for pair in pairs { list.append(pair.from, pair.to) }
    return list
  }

  private func removeLinks(of relationship: StoredRelationship) throws -> Int {
    let number = relationship.description.number
    var pairs = net.removedLinks[number] ?? []
    if net.replacedRelationships.contains(number) {
      let kept = Set(net.addedLinks[number] ?? [])
      pairs = try core.links(of: relationship).filter { !kept.contains($0) }
    }
    return try core.removeLinks(list(pairs), by: relationship.end(.from))
  }

  // MARK: Records

  /// The ids of the records to be removed, in ascending order.
  private func deletedIDs(of entity: StoredEntity) throws -> [UInt64] {
    guard net.replacedEntities.contains(entity.number) else {
      return net.deleted[entity.number] ?? []
    }
    var ids: [UInt64] = []
    var kept = (net.puts[entity.number] ?? [])[...]
    let cursor = try Cursor(entity.records, in: core.transaction)
    var found = try cursor.first()
    while found {
      let id = cursor.integerKey
      while let first = kept.first, first.id < id { kept.removeFirst() }
      if kept.first?.id != id { ids.append(id) }
      found = try cursor.next()
    }
    return ids
  }

  // MARK: Places

  private func arrange(_ places: ReplayPlaces) throws {
    guard let relationship = core.schema.relationship(places.relationship),
      let order = try LinkOrderWriter(relationship.end(places.side), core: core)
    else {
      throw ReplayError.damaged(
        "they have places in relationship \(places.relationship), which has no such order")
    }
    let end = relationship.end(places.side)
    // For each link that is gone, the one before it that is there.
    var before: [LinkPair: UInt64] = [:]
    for place in places.places {
      let previous = before[LinkPair(from: place.owner, to: place.previous)] ?? place.previous
      guard try order.position(of: place.other, in: place.owner) != nil else {
        before[LinkPair(from: place.owner, to: place.other)] = previous
        continue
      }
      try core.breakingOnError {
        try core.moveLinks(of: place.owner, by: end) { () throws(StoreError) in
          try order.put(place.other, of: place.owner, after: previous) ? [place.other] : []
        }
      }
    }
  }

  // MARK: Buckets

  private func replace(_ bucket: ReplayBucket) throws {
    if Buckets.isOfLibrary(bucket.name) {
      throw ReplayError.damaged("they have the bucket '\(bucket.name)' of the library")
    }
    var stored: [[UInt8]: [UInt8]] = [:]
    let prefix = BucketKey.prefix(bucket: bucket.name)
    try core.forEachBucketPair(prefix: prefix) { key, body in
      stored[Array(key.dropFirst(prefix.count))] =
        Array(try Checksum.unsealed(key: key, body: body))
    }
    for pair in bucket.pairs where stored.removeValue(forKey: pair.key) != pair.value {
      try core.put(pair.value, for: pair.key, in: bucket.name)
    }
    for key in stored.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      _ = try core.deleteValue(for: key, in: bucket.name)
    }
  }
}

extension LinkOrderWriter {
  /// Puts a record directly after the previous one, 0 for the first place; returns whether its
  /// position changed.
  fileprivate func put(
    _ other: UInt64, of owner: UInt64, after previous: UInt64
  ) throws(StoreError) -> Bool {
    guard let current = try position(of: other, in: owner) else { return false }
    if try last(of: owner, before: current)?.other ?? 0 == previous { return false }
    guard let place = previous == 0 ? 0 : try position(of: previous, in: owner) else {
      throw StoreError(
        wrapping: ReplayError.damaged(
          "record \(other) comes after record \(previous), which is not in the order"))
    }
    try remove(other, from: owner)
    try insert(other, in: owner, after: place)
    return true
  }
}
