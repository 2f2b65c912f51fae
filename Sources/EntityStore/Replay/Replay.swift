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
    let conditions = try ReplayConditions(cursor.conditions, scope, core)
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
      var replay = try Replay(ReplayNet(group), scope, conditions, core)
      try replay.run(&counts)
    }
    if let digests = units.last?.end.digests {
      try core.compare(digests, scope, except: conditions?.partialContents ?? [])
    }
    try setReplicaCursor(cursor)
    return counts
  }
}

extension WriteCore {
  /// Throws unless the content has these digests, with the changes of this write.
  ///
  /// - Parameter partial: The content of which the copy has only a part.
  fileprivate func compare(
    _ expected: ReplayDigests, _ scope: ReplayScope, except partial: Set<DigestedContent>
  ) throws {
    let found = try scope.digests(self, since: expected, ContentLedger.of(self))
    var names = scope.contents
      .filter { !partial.contains($0) && expected.contents[$0.key] != found.contents[$0.key] }
      .map(scope.name(of:))
    if found.bucketTotal != expected.bucketTotal { names.append("buckets") }
    if !names.isEmpty { throw ReplayError.diverged(names) }
  }
}

/// Makes the net changes of some units.
private struct Replay {
  private let net: ReplayNet
  private let scope: ReplayScope
  private let conditions: ReplayConditions?
  private let core: WriteCore
  /// The records of the entities with conditions.
  private var admissions: [EntityNumber: ReplayAdmission] = [:]

  init(
    _ net: ReplayNet, _ scope: ReplayScope, _ conditions: ReplayConditions?, _ core: WriteCore
  ) throws {
    self.net = net
    self.scope = scope
    self.conditions = conditions
    self.core = core
    guard let conditions else { return }
    for entity in conditions.entities {
      let puts = net.puts[entity.number] ?? []
      admissions[entity.number] = try ReplayAdmission(puts, net, entity, conditions, core)
    }
  }

  mutating func run(_ counts: inout ReplayCounts) throws {
    // Links and records are removed first, because unique keys are free then.
    for relationship in scope.relationships where relationship.linksFrom != nil {
      counts.links += try removeLinks(of: relationship)
    }
    try leaveOutLinks()
    for entity in scope.entities {
      let ids = try deletedIDs(of: entity)
      try forgetLinks(heldBy: ids, of: entity)
      counts.deletedRecords += try core.erase(ids, of: entity)
    }
    for entity in scope.entities {
      let puts = puts(of: entity)
      if puts.isEmpty { continue }
      try forgetLinks(heldBy: puts.map(\.id), of: entity)
      counts.records += try RecordReplay(puts, net, entity, core).run()
    }
    for relationship in scope.relationships {
      guard let pairs = net.addedLinks[relationship.description.number] else { continue }
      counts.links += try core.addLinks(
        list(try presentLinks(pairs, of: relationship)), by: relationship.end(.from))
    }
    counts.links += try makeLinks()
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
    try forgetLinks(pairs, of: relationship)
    if net.replacedRelationships.contains(number) {
      let kept = Set(net.addedLinks[number] ?? [])
      pairs = try core.links(of: relationship).filter { !kept.contains($0) }
    }
    return try core.removeLinks(list(pairs), by: relationship.end(.from))
  }

  // MARK: Records

  /// The inserted and updated records that the copy has.
  private func puts(of entity: StoredEntity) -> [ReplayNet.Put] {
    admissions[entity.number]?.puts ?? net.puts[entity.number] ?? []
  }

  /// The ids of the records to be removed, in ascending order.
  private func deletedIDs(of entity: StoredEntity) throws -> [UInt64] {
    guard net.replacedEntities.contains(entity.number) else {
      let leaving = admissions[entity.number]?.leaving ?? []
      let deleted = net.deleted[entity.number] ?? []
      return leaving.isEmpty ? deleted : (deleted + leaving).sorted()
    }
    var ids: [UInt64] = []
    var kept = puts(of: entity)[...]
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

  // MARK: Links of missing records

  /// Moves the links of records that leave the copy to the left-out links.
  private func leaveOutLinks() throws {
    guard let conditions else { return }
    for entity in conditions.entities {
      guard let ids = admissions[entity.number]?.leaving else { continue }
      try LeftOutLinks(core).leaveOut(linksOf: ids, of: entity, conditions)
    }
  }

  /// Forgets left-out links that the other store has removed.
  private func forgetLinks(_ pairs: [LinkPair], of relationship: StoredRelationship) throws {
    guard let conditions, conditions.has(relationship) else { return }
    let links = LeftOutLinks(core)
    if net.replacedRelationships.contains(relationship.description.number) {
      try links.removeAll(of: relationship)
    } else {
      try links.remove(pairs, of: relationship)
    }
  }

  /// Forgets left-out links that are in attributes of records, which are erased or replaced.
  private func forgetLinks(heldBy ids: [UInt64], of entity: StoredEntity) throws {
    guard let conditions else { return }
    try LeftOutLinks(core).forget(heldBy: ids, of: entity, conditions)
  }

  /// Returns the links whose records the copy has, and leaves out the others.
  private func presentLinks(
    _ pairs: [LinkPair], of relationship: StoredRelationship
  ) throws -> [LinkPair] {
    guard let conditions, conditions.has(relationship) else { return pairs }
    let links = LeftOutLinks(core)
    let divided = try links.present(pairs, of: relationship)
    try links.add(divided.leftOut, of: relationship)
    return divided.present
  }

  /// Makes the left-out links of records that have come in, and leaves out the links of changed
  /// records that lead to missing ones.
  private func makeLinks() throws -> Int {
    guard let conditions else { return 0 }
    let links = LeftOutLinks(core)
    for entity in scope.entities {
      try links.leaveOut(linksHeldBy: puts(of: entity).map(\.id), of: entity, conditions)
    }
    var count = 0
    for entity in conditions.entities {
      guard let ids = admissions[entity.number]?.entering else { continue }
      count += try links.make(linksOf: ids, of: entity, conditions)
    }
    return count
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
