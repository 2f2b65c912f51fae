internal import LMDB
internal import LodestoreFormat

// Everything that could stop an undo after some changes is checked before the first change, so that
// the error names the obstacle. Only the restored values can reveal the other obstacles, such as a
// unique key that is used again.

extension HistoryUndo {
  /// Throws when an obstacle exists.
  ///
  /// A partial undo notes the changes that cannot be undone, and leaves them.
  mutating func check() throws {
    try checkMoves()
    for change in changes {
      let entity = try entity(change.entity)
      guard change.kind != .restarted else {
        throw StoreError.cannotUndo(number, "the history of \(entity.name) begins with this write")
      }
      guard entity.description.history != nil else {
        throw StoreError.cannotUndo(
          number,
          "\(entity.name) no longer keeps a history, so its later changes are unknown")
      }
    }
    try checkImages()
    try checkLaterWrites()
    for change in changes where change.kind == .deleted {
      let entity = try entity(change.entity)
      for id in change.ids where try core.record(id, of: entity) != nil {
        throw StoreError.cannotUndo(
          number, "\(entity.name) \(id), which the write deleted, exists again", entity, id)
      }
    }
    for change in changes where change.kind != .inserted { try checkTargets(of: change) }
    try checkEndsOfLinks()
    for change in changes where change.kind == .inserted {
      try checkUnlinked(change.ids, of: try entity(change.entity))
    }
  }

  private mutating func checkMoves() throws {
    guard let moved = links.first(where: { $0.kind == .moved }) else { return }
    let ends = core.schema.relationships.filter { $0.description.number == moved.relationship }
      .flatMap { [$0.end(.from), $0.end(.to)] }.filter { $0.order != nil }
    guard isPartial else {
      throw StoreError.cannotUndo(
        number,
        "the write moved records in \(ends.first?.label ?? "a relationship"), and the history does not "
          + "contain their earlier order")
    }
    links.removeAll { $0.kind == .moved }
    staying.formUnion(ends.map(\.source.name))
    leavesRecordedChange = true
  }

  // MARK: Images

  private mutating func checkImages() throws {
    var lacking: Set<EntityNumber> = []
    for change in changes where change.kind != .inserted && !lacking.contains(change.entity) {
      let entity = try entity(change.entity)
      for id in change.ids {
        if try log.image(imageKey(entity, id)) != nil {
          try checkImage(id, of: entity, change.kind)
        } else if isPartial {
          lacking.insert(change.entity)
          break
        } else {
          throw StoreError.cannotUndo(
            number, "the history has no image of \(entity.name) \(id); see HistoryPolicy", entity,
            id)
        }
      }
    }
    guard !lacking.isEmpty else { return }
    for number in lacking { staying.insert(try entity(number).name) }
    changes.removeAll { lacking.contains($0.entity) }
    leavesRecordedChange = true
  }

  /// Throws when an image cannot be restored.
  private func checkImage(
    _ id: UInt64, of entity: StoredEntity, _ kind: HistoryPart.Change.Kind
  ) throws(StoreError) {
    guard let image = try log.image(imageKey(entity, id)) else { return }
    let view = try entity.view(image, id: id)
    if view.layout === entity.layout { return }
    try entity.verifyChecksum(of: view, id: id)
    var attributes: [UInt32]?
    if case .updated(let numbers) = kind { attributes = numbers }
    if let lacking = try entity.attribute(lackingIn: view, among: attributes) {
      throw .cannotUndo(
        number, "\(entity.name) \(id) had no value in '\(lacking)', which is now required",
        entity, id)
    }
  }

  // MARK: Later writes

  /// Visits the history entries of later writes, except writes that have been completely undone.
  private func forEachLaterPart(_ body: (UInt64, HistoryPart) throws -> Bool) throws {
    try log.forEachPart(from: number + 1) { later, _, part in
      if undoneWrites.contains(later) { return true }
      return try body(later, part)
    }
  }

  /// Throws when a later write has changed, deleted or linked something that the undo would change.
  private func checkLaterWrites() throws {
    let pairs = Dictionary(grouping: links, by: \.relationship)
      .mapValues { Set($0.flatMap(\.pairs)) }
    try forEachLaterPart { later, part in
      for change in part.changes {
        for mine in changes where mine.entity == change.entity {
          let entity = try entity(mine.entity)
          if change.kind == .restarted {
            throw StoreError.cannotUndo(
              number,
              "the history of \(entity.name) began again with write \(later), so the changes "
                + "before that write are unknown")
          }
          guard let kind = entity.own(change.kind), conflicts(kind, with: mine.kind) else {
            continue
          }
          let common = mine.ids.intersection(change.ids)
          guard let id = common.ranges.first?.lowerBound else { continue }
          throw StoreError.cannotUndo(
            number, "\(entity.name) \(id) was changed again by write \(later)", entity, id)
        }
      }
      for group in part.links {
        guard let mine = pairs[group.relationship],
          let pair = group.pairs.first(where: mine.contains)
        else { continue }
        throw StoreError.cannotUndo(
          number, "the link of \(pair.from) and \(pair.to) was changed again by write \(later)")
      }
      return true
    }
  }

  private func conflicts(
    _ later: HistoryPart.Change.Kind, with mine: HistoryPart.Change.Kind
  ) -> Bool {
    if case .updated(let changed) = later, case .updated(let mine) = mine {
      return !Set(mine).isDisjoint(with: changed)
    }
    return true
  }

  /// Returns `, by write 7` for the last later write that has a change for which `isSought` is
  /// true; otherwise an empty text.
  private func byWrite(_ isSought: (HistoryPart) -> Bool) throws -> String {
    var found: UInt64?
    try forEachLaterPart { later, part in
      if isSought(part) { found = later }
      return true
    }
    return found.map { ", by write \($0)" } ?? ""
  }

  // MARK: Missing records

  /// Throws when an attribute that gets its old value back would lead to a missing record.
  private func checkTargets(of change: HistoryPart.Change) throws {
    let entity = try entity(change.entity)
    for end in core.schema.ends(of: entity) {
      guard let attribute = end.attribute?.number else { continue }
      if case .updated(let numbers) = change.kind, !numbers.contains(attribute) { continue }
      let restored = restored(end.target.number)
      for id in change.ids {
        guard let image = try log.image(imageKey(entity, id)),
          let target = try entity.recordID(
            ofAttribute: attribute, in: try entity.view(image, id: id)),
          !restored.contains(target), try core.record(target, of: end.target) == nil
        else { continue }
        throw try missingRecord(
          target, of: end.target,
          "\(entity.name) \(id) led to it by '\(end.attribute?.name ?? "?")'")
      }
    }
  }

  /// Throws when a restored link would lead to a missing record.
  private mutating func checkEndsOfLinks() throws {
    for (index, group) in links.enumerated().reversed() where group.kind == .removed {
      let relationship = try relationship(group)
      func isMissing(_ id: UInt64, _ entity: StoredEntity) throws -> Bool {
        try !restored(entity.number).contains(id) && core.record(id, of: entity) == nil
      }
      if isPartial {
        let pairs = try group.pairs.filter {
          try !isMissing($0.from, relationship.from) && !isMissing($0.to, relationship.to)
        }
        if pairs.count < group.pairs.count {
          staying.formUnion([relationship.from.name, relationship.to.name])
          leavesRecordedChange = true
        }
        links[index].pairs = pairs
        if pairs.isEmpty { links.remove(at: index) }
        continue
      }
      for (entity, ids) in [
        (relationship.from, group.pairs.map(\.from)), (relationship.to, group.pairs.map(\.to)),
      ] {
        let restored = restored(entity.number)
        var ids = ids.filter { !restored.contains($0) }
        IDSort.sortUnique(&ids)
        guard let missing = try core.firstMissing(ids, in: entity) else { continue }
        throw try missingRecord(missing, of: entity, "the write removed a link of this record")
      }
    }
  }

  private func missingRecord(
    _ id: UInt64, of entity: StoredEntity, _ reason: String
  ) throws -> StoreError {
    let by = try byWrite { part in
      part.changes.contains {
        $0.entity == entity.number && $0.kind == .deleted && $0.ids.contains(id)
      }
    }
    return .cannotUndo(
      number, "\(entity.name) \(id) was deleted\(by), and \(reason)", entity, id)
  }

  // MARK: Records that are linked

  /// Throws when records to be removed have links that stay.
  private mutating func checkUnlinked(_ ids: IDRuns, of entity: StoredEntity) throws {
    let list = try records(ids, of: entity)
    for end in core.schema.ends(of: entity) where end.links != nil {
      let found: (id: UInt64, other: UInt64)?
      if let holder = end.opposite.attribute {
        found = try conflictingHolder(of: list, end, holder)
      } else {
        found = try conflictingLink(of: list, end)
      }
      guard let (id, other) = found else { continue }
      let relationship = end.relationship.description.number
      let pair = end.side == .from ? LinkPair(from: id, to: other) : LinkPair(from: other, to: id)
      let by = try byWrite { part in
        if let holder = end.opposite.attribute?.number {
          return part.changes.contains {
            $0.entity == end.target.number && $0.ids.contains(other) && $0.kind.sets(holder)
          }
        }
        return part.links.contains {
          $0.relationship == relationship && $0.kind == .added && $0.pairs.contains(pair)
        }
      }
      throw StoreError.cannotUndo(
        number, "\(end.target.name) \(other) is now linked to \(entity.name) \(id)\(by)", entity,
        id)
    }
  }

  /// Returns a link of one of `ids` that the write did not add.
  private func conflictingLink(
    of ids: [UInt64], _ end: RelationshipEnd
  ) throws(StoreError) -> (id: UInt64, other: UInt64)? {
    let mine = Set(
      links.filter { $0.relationship == end.relationship.description.number && $0.kind == .added }
        .flatMap(\.pairs).map { end.side == .from ? $0 : LinkPair(from: $0.to, to: $0.from) })
    var found: (id: UInt64, other: UInt64)?
    try core.forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
      if mine.contains(LinkPair(from: id, to: other)) { return true }
      found = (id, other)
      return false
    }
    return found
  }

  /// Returns a record whose attribute `holder` will still lead to one of `ids` after the undo.
  ///
  /// Records of earlier writes of this commit may lead to one of `ids` too, for example records of
  /// an import's first page. This method collects them; their attributes are later restored to the
  /// values before the commit.
  private mutating func conflictingHolder(
    of ids: [UInt64], _ end: RelationshipEnd, _ holder: EntityDescription.Attribute
  ) throws -> (id: UInt64, other: UInt64)? {
    let entity = end.target.number
    func runs(_ all: [HistoryPart.Change], _ isWanted: (HistoryPart.Change.Kind) -> Bool) -> IDRuns
    {
      IDRuns(all.filter { $0.entity == entity && isWanted($0.kind) }.flatMap(\.ids.ranges))
    }
    // The undo also changes the records whose link the undone write set: it removes them, or they
    // lead to other records afterwards.
    let mine = runs(changes) { $0.sets(holder.number) }
    let inserted = runs(siblings) { $0 == .inserted }
    let updated = runs(siblings) { $0 != .inserted && $0.sets(holder.number) }
    var later: [Range<UInt64>] = []
    if !siblings.isEmpty {
      try forEachLaterPart { _, part in
        later += runs(part.changes) { $0.sets(holder.number) }.ranges
        return true
      }
    }
    let changedSince = IDRuns(later)
    var found: (id: UInt64, other: UInt64)?
    var noted: [UInt64] = []
    try core.forEachRelated(of: ids, by: end) { (id, other) throws(StoreError) in
      if mine.contains(other) { return true }
      let isOfSibling = holder.isOptional && inserted.contains(other) || updated.contains(other)
      guard isOfSibling, !changedSince.contains(other) else {
        found = (id, other)
        return false
      }
      noted.append(other)
      return true
    }
    for other in noted { leading[entity, default: [:]][other, default: []].insert(holder.number) }
    return found
  }
}

extension HistoryPart.Change.Kind {
  /// Whether the change may have set the attribute with this number.
  fileprivate func sets(_ attribute: UInt32) -> Bool {
    switch self {
    case .inserted: true
    case .updated(let attributes): attributes.contains(attribute)
    case .deleted, .restarted: false
    }
  }
}
