internal import LodestoreFormat

/// The net changes of one entity's records in one write; each record is in at most one list.
///
/// A record that was inserted and then changed is new. A record that was inserted and then removed
/// is in no list. A record that a replay has removed and inserted again under its id is updated.
struct NetChanges {
  let entity: StoredEntity
  private var insertedIDs = IDRuns()
  private var removedIDs = IDRuns()
  private var highestRemovedID: UInt64 = 0
  private var updates: [(attributes: AttributeSet, ids: IDRuns)] = []
  /// The position in ``updates`` of the last changed attributes.
  private var lastUpdate = 0
  private var positions: [AttributeSet: Int] = [:]

  init(of entity: StoredEntity) { self.entity = entity }

  /// Notes new records; returns those among them that the write has removed before.
  @discardableResult
  mutating func insert(_ ids: Range<UInt64>) -> IDRuns {
    // Only a replay inserts records under ids that were given before.
    if ids.lowerBound > highestRemovedID {
      insertedIDs.append(ids)
      return IDRuns()
    }
    return insertAgain(ids)
  }

  private mutating func insertAgain(_ ids: Range<UInt64>) -> IDRuns {
    removedIDs.normalize()
    insertedIDs.normalize()
    let all = IDRuns([ids])
    let again = all.intersection(removedIDs)
    removedIDs = removedIDs.subtracting(again)
    for range in all.subtracting(again).ranges { insertedIDs.append(range) }
    var attributes = AttributeSet(count: entity.layout.attributes.count)
    for position in entity.layout.attributes.indices { attributes.insert(position) }
    for id in again.subtracting(insertedIDs.normalized) { update(id, attributes) }
    return again
  }

  mutating func remove(_ id: UInt64) {
    removedIDs.append(id)
    highestRemovedID = max(highestRemovedID, id)
  }

  @inline(__always)
  mutating func update(_ id: UInt64, _ attributes: AttributeSet) {
    if lastUpdate < updates.count, updates[lastUpdate].attributes == attributes {
      updates[lastUpdate].ids.append(id)
    } else {
      updateOthers(id, attributes)
    }
  }

  private mutating func updateOthers(_ id: UInt64, _ attributes: AttributeSet) {
    if attributes.isEmpty { return }
    if let known = positions[attributes] {
      lastUpdate = known
      updates[known].ids.append(id)
    } else {
      lastUpdate = updates.count
      positions[attributes] = lastUpdate
      var ids = IDRuns()
      ids.append(id)
      updates.append((attributes, ids))
    }
  }

  /// Replaces the updates of `ids`, whose ranges ascend without overlap, by those of `groups`.
  ///
  /// Each record has changed exactly in the attributes of its group. A record without a group is
  /// unchanged.
  mutating func regroupUpdates(_ ids: IDRuns, as groups: [AttributeSet: IDRuns]) {
    updates = updates.map { ($0.attributes, $0.ids.normalized.subtracting(ids)) }
    for (attributes, ids) in groups where !attributes.isEmpty { updates.append((attributes, ids)) }
    updates.removeAll { $0.ids.isEmpty }
    lastUpdate = updates.count
    positions = [:]
  }

  /// Returns whether the write inserted record `id`.
  mutating func hasInserted(_ id: UInt64) -> Bool {
    if insertedIDs.isEmpty { return false }
    insertedIDs.normalize()
    return insertedIDs.contains(id)
  }

  /// Returns the net changes.
  consuming func result() -> EntityChangeSet {
    insertedIDs.normalize()
    removedIDs.normalize()
    var set = EntityChangeSet(entity: entity)
    set.inserted = insertedIDs.subtracting(removedIDs)
    set.deleted = removedIDs.subtracting(insertedIDs)
    var all: [(attributes: AttributeSet, ids: IDRuns)] = []
    for (attributes, changed) in updates {
      let ids = changed.normalized.subtracting(insertedIDs).subtracting(removedIDs)
      if !ids.isEmpty { all.append((attributes, ids)) }
    }
    set.updated = Self.disjoint(all)
    return set
  }

  /// Returns groups in which each id occurs once, with all its attributes.
  private static func disjoint(
    _ groups: [(attributes: AttributeSet, ids: IDRuns)]
  ) -> [(attributes: AttributeSet, ids: IDRuns)] {
    guard groups.count > 1 else { return groups }
    var result: [(attributes: AttributeSet, ids: IDRuns)] = []
    for (attributes, ids) in groups {
      var left = ids
      for index in result.indices {
        if left.isEmpty { break }
        let common = result[index].ids.intersection(left)
        if common.isEmpty { continue }
        left = left.subtracting(common)
        let union = result[index].attributes.union(attributes)
        if union == result[index].attributes { continue }
        result[index].ids = result[index].ids.subtracting(common)
        result.append((union, common))
      }
      if !left.isEmpty { result.append((attributes, left)) }
    }
    // Different pairs of attribute sets may have an equal union; the ids of such groups are joined
    // here.
    var positions: [AttributeSet: Int] = [:]
    var joined: [(attributes: AttributeSet, ids: IDRuns)] = []
    for (attributes, ids) in result where !ids.isEmpty {
      if let known = positions[attributes] {
        joined[known].ids = IDRuns(joined[known].ids.ranges + ids.ranges)
      } else {
        positions[attributes] = joined.count
        joined.append((attributes, ids))
      }
    }
    return joined
  }
}

/// The records of one entity that a write inserted, updated and deleted.
struct EntityChangeSet: Sendable {
  let entity: StoredEntity
  var inserted = IDRuns()
  /// The updated records by their changed attributes; each id occurs once.
  var updated: [(attributes: AttributeSet, ids: IDRuns)] = []
  var deleted = IDRuns()

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The changes of the records with these ids.
  func within(_ ids: IDRuns) -> EntityChangeSet { mapped { $0.intersection(ids) } }

  /// The changes of all records except those with these ids.
  func without(_ ids: IDRuns) -> EntityChangeSet { mapped { $0.subtracting(ids) } }

  private func mapped(_ change: (IDRuns) -> IDRuns) -> EntityChangeSet {
    var result = EntityChangeSet(entity: entity)
    result.inserted = change(inserted)
    result.deleted = change(deleted)
    for (attributes, ids) in updated {
      let ids = change(ids)
      if !ids.isEmpty { result.updated.append((attributes, ids)) }
    }
    return result
  }
}

/// The links of one relationship that a write added, removed and moved.
///
/// A link that the write both added and removed is in no list, unless the caller notes that it
/// moved. A link that the write added does not count as moved.
struct NetLinks {
  /// The relationship as seen from its side `from`.
  let end: RelationshipEnd
  private var states: [LinkPair: Bool] = [:]
  private var moved: Set<LinkPair> = []

  init(_ end: RelationshipEnd) { self.end = end }

  /// Whether no link has a net change.
  var isEmpty: Bool { states.isEmpty && moved.isEmpty }

  mutating func note(_ change: borrowing LinkChange) {
    let isForward = change.end.side == .from
    for index in 0..<change.links.count {
      let (id, other) = (change.links.id(at: index), change.links.other(at: index))
      let pair = isForward ? LinkPair(from: id, to: other) : LinkPair(from: other, to: id)
      // Sinks receive only effective additions and removals. A second change of one link is
      // therefore the opposite of the first, and cancels it.
      if states.removeValue(forKey: pair) == nil {
        states[pair] = change.isAdded
      } else if !change.isAdded {
        moved.remove(pair)
      }
    }
  }

  /// - Parameter owner: a record of the source of `end`.
  mutating func noteMoves(_ ids: [UInt64], of owner: UInt64, by end: RelationshipEnd) {
    for id in ids {
      moved.insert(
        end.side == .from ? LinkPair(from: owner, to: id) : LinkPair(from: id, to: owner))
    }
  }

  /// Removes the moves for which `isKept` returns false.
  mutating func keepMoves(_ isKept: (LinkPair) throws(StoreError) -> Bool) throws(StoreError) {
    for pair in moved where try !isKept(pair) { moved.remove(pair) }
  }

  /// The changed links of one kind, in ascending order.
  func pairs(_ kind: HistoryPart.Links.Kind) -> [LinkPair] {
    switch kind {
    case .added: states.lazy.filter(\.value).map(\.key).sorted()
    case .removed: states.lazy.filter { !$0.value }.map(\.key).sorted()
    case .moved: moved.lazy.filter { states[$0] == nil }.sorted()
    }
  }
}
