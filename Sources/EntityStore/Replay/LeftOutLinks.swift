internal import LMDB
internal import LodestoreFormat

/// The links of the other store that a copy cannot have, because it lacks one of their records.
///
/// The bucket `lodestore.replica.links` has two keys for each link. A key has the number of the
/// relationship, a side, the id of the record on that side, and the id of the other record.
struct LeftOutLinks {
  private let core: WriteCore

  private static let bucket = "lodestore.replica.links"

  init(_ core: WriteCore) { self.core = core }

  // MARK: The bucket

  private static func key(
    _ relationship: UInt32, _ side: RelationshipSide, _ ids: [UInt64]
  ) -> [UInt8] {
    ids.reduce(bigEndianBytes(relationship) + [side == .from ? 1 : 2]) { $0 + bigEndianBytes($1) }
  }

  private func keys(_ link: LinkPair, _ relationship: StoredRelationship) -> [[UInt8]] {
    let number = relationship.description.number
    return [
      Self.key(number, .from, [link.from, link.to]), Self.key(number, .to, [link.to, link.from]),
    ]
  }

  func add(_ links: [LinkPair], of relationship: StoredRelationship) throws {
    for link in links {
      for key in keys(link, relationship) { try core.put([], for: key, in: Self.bucket) }
    }
  }

  func remove(_ links: [LinkPair], of relationship: StoredRelationship) throws {
    for link in links {
      for key in keys(link, relationship) { _ = try core.deleteValue(for: key, in: Self.bucket) }
    }
  }

  /// Removes all links of a relationship.
  func removeAll(of relationship: StoredRelationship) throws {
    let prefix = Self.key(relationship.description.number, .from, [])
    let pairs = try ids(after: prefix).map { LinkPair(from: $0[0], to: $0[1]) }
    try remove(pairs, of: relationship)
  }

  /// The links of records on one side of a relationship.
  func links(of ids: [UInt64], by end: RelationshipEnd) throws -> [LinkPair] {
    var links: [LinkPair] = []
    for id in ids {
      let prefix = Self.key(end.relationship.description.number, end.side, [id])
      for rest in try self.ids(after: prefix) {
        let other = rest[0]
        links.append(
          end.side == .from ? LinkPair(from: id, to: other) : LinkPair(from: other, to: id))
      }
    }
    return links
  }

  /// The ids after a prefix in each key that begins with it.
  private func ids(after prefix: [UInt8]) throws -> [[UInt64]] {
    var found: [[UInt64]] = []
    let prefix = BucketKey.prefix(bucket: Self.bucket) + prefix
    try core.forEachBucketPair(prefix: prefix) { key, _ in
      let rest = Array(key.dropFirst(prefix.count))
      guard !rest.isEmpty, rest.count.isMultiple(of: 8) else {
        throw ReplayError.damaged("the bucket '\(Self.bucket)' has a key of another length")
      }
      found.append(
        stride(from: 0, to: rest.count, by: 8).map { start in
          rest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        })
    }
    return found
  }

  // MARK: Records that leave

  /// Moves the links of records that leave the copy into the bucket.
  ///
  /// - Parameter ids: The records, in ascending order; they are erased later.
  func leaveOut(
    linksOf ids: [UInt64], of entity: StoredEntity, _ conditions: ReplayConditions
  ) throws {
    if ids.isEmpty { return }
    for relationship in conditions.relationships {
      for side in RelationshipSide.allCases where relationship.end(side).source === entity {
        let end = relationship.end(side)
        // A record that holds the link takes it along.
        if end.attribute != nil { continue }
        var links: [LinkPair] = []
        try core.forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
          links.append(
            side == .from ? LinkPair(from: id, to: other) : LinkPair(from: other, to: id))
          return true
        }
        try leaveOut(links, of: relationship)
      }
    }
  }

  /// Removes links of the copy, and adds them to the bucket.
  func leaveOut(_ links: [LinkPair], of relationship: StoredRelationship) throws {
    if links.isEmpty { return }
    try add(links, of: relationship)
    let end = relationship.end(.from)
    guard let attribute = end.attribute else {
      var list = LinkList(expectedCount: links.count)
      for link in links { list.append(link.from, link.to) }
      _ = try core.removeLinks(list, by: end)
      return
    }
    var holders = links.map(\.from)
    IDSort.sortUnique(&holders)
    _ = try core.nullify(
      [NulledLinks(attribute: attribute.number, ids: holders)], of: end.source)
  }

  /// Forgets links that are in attributes of records, which are erased or replaced.
  func forget(
    heldBy ids: [UInt64], of entity: StoredEntity, _ conditions: ReplayConditions
  ) throws {
    for relationship in conditions.relationships where relationship.linksFrom == nil {
      let end = relationship.end(.from)
      guard end.source === entity, conditions.has(end.target) else { continue }
      try remove(try links(of: ids, by: end), of: relationship)
    }
  }

  // MARK: Records that have come in

  /// Makes the links of records that have come in, if the copy has the other records.
  ///
  /// - Returns: The number of links that are in trees.
  func make(
    linksOf ids: [UInt64], of entity: StoredEntity, _ conditions: ReplayConditions
  ) throws -> Int {
    if ids.isEmpty { return 0 }
    var count = 0
    for relationship in conditions.relationships {
      for side in RelationshipSide.allCases where relationship.end(side).source === entity {
        let end = relationship.end(side)
        if end.attribute != nil { continue }
        let links = try present(try links(of: ids, by: end), of: relationship).present
        if links.isEmpty { continue }
        try remove(links, of: relationship)
        count += try make(links, of: relationship)
      }
    }
    return count
  }

  private func make(_ links: [LinkPair], of relationship: StoredRelationship) throws -> Int {
    let end = relationship.end(.from)
    guard let attribute = end.attribute else {
      var list = LinkList(expectedCount: links.count)
      for link in links { list.append(link.from, link.to) }
      return try core.addLinks(list, by: end)
    }
    try core.set(attribute.number, of: end.source, to: links.sorted())
    return 0
  }

  /// Divides links by whether the copy has both of their records.
  func present(
    _ links: [LinkPair], of relationship: StoredRelationship
  ) throws -> (present: [LinkPair], leftOut: [LinkPair]) {
    let from = try Cursor(relationship.from.records, in: core.transaction)
    let to = try Cursor(relationship.to.records, in: core.transaction)
    var divided: (present: [LinkPair], leftOut: [LinkPair]) = ([], [])
    for link in links {
      if try from.seek(link.from), try to.seek(link.to) {
        divided.present.append(link)
      } else {
        divided.leftOut.append(link)
      }
    }
    return divided
  }

  /// Leaves out the links that are in attributes of changed records and lead to missing records.
  func leaveOut(
    linksHeldBy ids: [UInt64], of entity: StoredEntity, _ conditions: ReplayConditions
  ) throws {
    for relationship in conditions.relationships where relationship.linksFrom == nil {
      let end = relationship.end(.from)
      guard end.source === entity, conditions.has(end.target) else { continue }
      var links: [LinkPair] = []
      try core.forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
        links.append(LinkPair(from: id, to: other))
        return true
      }
      try leaveOut(try present(links, of: relationship).leftOut, of: relationship)
    }
  }
}

extension WriteCore {
  /// Sets an attribute that holds ids, in records of a copy.
  ///
  /// - Parameter links: Each record and the id for its attribute, in ascending order.
  fileprivate func set(
    _ attribute: UInt32, of entity: StoredEntity, to links: [LinkPair]
  ) throws {
    guard let position = entity.layout.slotIndex(ofAttribute: attribute) else { return }
    let slot = entity.layout.slots[position]
    let changes = changes(of: entity)
    let change = SetAttributes([attribute], of: entity)
    try changes.withUpdateBatch(
      setting: change, memoryLimit: store.options.batchMemoryInBytes
    ) { batch in
      var rest = links[...]
      try forEachChangeable(links.map(\.from), of: entity) { id, cursor in
        rest = rest.drop { $0.from < id }
        guard let target = rest.first, target.from == id else { return }
        let old = try changes.stored(cursor.reads.value, id: id, isCarriedOver: true)
        let record = try changes.copy(of: old)
        try slot.write(.integer(Int64(clamping: target.to)), in: record.bytes)
        _ = try batch.change(
          old, to: try changes.derived(record, over: old, setting: change), at: cursor)
      }
    }
  }
}
