internal import LodestoreFormat

extension WriteTransaction {
  /// Makes the record `owner` lead to `id` by `relationship`; returns false when it does already.
  ///
  ///     try tx.add(person.id, to: Group.members, of: group.id)
  ///
  /// The link is known from both sides. Where the other side is an attribute, that attribute gets
  /// the value `owner`.
  ///
  /// In a relationship with an order, `position` says where `id` is put:
  ///
  ///     static let tracks = ToMany<Playlist, Track>(ordered: true)
  ///
  ///     try tx.add(track.id, to: Playlist.tracks, of: list.id, at: .first)
  ///
  /// Where `owner` leads to `id` already, `id` is moved, and the call returns false. Without a position a new
  /// link is the last, and a link that is there stays in its place.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when one of the records is not there, or the one that
  ///   `position` names is not among those that `owner` leads to. ``StoreError/Code/invalidQuery`` for a position
  ///   in a relationship without an order. Nothing was written, and the transaction can go on.
  /// - Complexity: O(log *n*); with links of their own no record is touched. With a position a few
  ///   neighbours may get other positions.
  @discardableResult
  public mutating func add<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, to relationship: ToMany<E, Target>, of owner: RecordID<E>,
    at position: LinkPosition<Target>? = nil
  ) throws(StoreError) -> Bool {
    guard let position else { return try link(CollectionOfOne((owner, id)), by: relationship) > 0 }
    return try place(id, in: relationship, of: owner, at: position)
  }

  /// Makes the record `owner` lead to each of `ids`; returns how many it did not lead to before.
  @discardableResult
  public mutating func add<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, to relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws(StoreError) -> Int {
    try link(ids.lazy.map { (owner, $0) }, by: relationship)
  }

  /// Makes the first record of each pair lead to the second; returns how many pairs are new.
  ///
  ///     try tx.link(zip(groups, people), by: Group.members)
  ///
  /// The fastest way for many: they are sorted, and each page of the file is visited once.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when one of them is not there; nothing was written, and the
  ///   transaction can go on.
  @discardableResult
  public mutating func link<E: Entity, Target: Entity>(
    _ pairs: some Sequence<(RecordID<E>, RecordID<Target>)>, by relationship: ToMany<E, Target>
  ) throws(StoreError) -> Int {
    let core = core
    let end = try core.end(relationship)
    return try core.asOneCall("link") { () throws(StoreError) in
      var list = LinkList(expectedCount: pairs.underestimatedCount)
      for (owner, id) in pairs { list.append(owner.rawValue, id.rawValue) }
      return try core.link(list, by: end)
    }
  }

  /// Makes the record `owner` no longer lead to `id`; returns whether it did.
  ///
  /// The records stay. Where the other side is an attribute, it becomes null; one that is required is
  /// ``StoreError/Code/unstorableValue``.
  @discardableResult
  public mutating func remove<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, from relationship: ToMany<E, Target>, of owner: RecordID<E>
  ) throws(StoreError) -> Bool {
    try unlink(CollectionOfOne((owner, id)), by: relationship) > 0
  }

  /// Makes the record `owner` no longer lead to `ids`; returns to how many it did.
  @discardableResult
  public mutating func remove<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, from relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws(StoreError) -> Int {
    try unlink(ids.lazy.map { (owner, $0) }, by: relationship)
  }

  /// Makes the first record of each pair no longer lead to the second; returns how many did.
  @discardableResult
  public mutating func unlink<E: Entity, Target: Entity>(
    _ pairs: some Sequence<(RecordID<E>, RecordID<Target>)>, by relationship: ToMany<E, Target>
  ) throws(StoreError) -> Int {
    let core = core
    let end = try core.end(relationship)
    return try core.asOneCall("unlink") { () throws(StoreError) in
      var list = LinkList(expectedCount: pairs.underestimatedCount)
      for (owner, id) in pairs { list.append(owner.rawValue, id.rawValue) }
      return try core.unlink(list, by: end)
    }
  }

  /// Makes the record `owner` lead to `ids` by `relationship`, and to no others; only the difference is
  /// written.
  ///
  /// In the order of `ids` where the relationship has one.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when one of the records is not there; nothing was written, and the
  ///   transaction can go on.
  public mutating func set<E: Entity, Target: Entity>(
    _ relationship: ToMany<E, Target>, of owner: RecordID<E>,
    to ids: some Sequence<RecordID<Target>>
  ) throws(StoreError) {
    let core = core
    let end = try core.end(relationship)
    let listed = ids.map(\.rawValue)
    try core.asOneCall("set") { () throws(StoreError) in
      let wanted = Set(listed)
      let present = Set(try core.relatedIDs(of: owner.rawValue, by: end))
      try core.checkSetting(
        wanted.subtracting(present).sorted(), instead: present.subtracting(wanted).sorted(),
        of: owner.rawValue, by: end)
      var old = LinkList()
      for id in present.subtracting(wanted) { old.append(owner.rawValue, id) }
      _ = try core.unlink(old, by: end)
      var new = LinkList()
      for id in wanted.subtracting(present) { new.append(owner.rawValue, id) }
      _ = try core.link(new, by: end)
      try core.arrange(listed, of: owner.rawValue, by: end)
    }
  }
}

extension WriteCore {
  /// Throws where the record `owner` cannot lead to `new` in place of `old`; changes nothing.
  fileprivate func checkSetting(
    _ new: [UInt64], instead old: [UInt64], of owner: UInt64, by end: RelationshipEnd
  ) throws(StoreError) {
    if !new.isEmpty, try record(owner, of: end.source) == nil {
      throw .noSuchRecord(entity: end.source.name, id: owner)
    }
    if let missing = try firstMissing(new, in: end.target) {
      throw .noSuchRecord(entity: end.target.name, id: missing)
    }
    guard let attribute = end.opposite.attribute else { return }
    if let first = old.first, !attribute.isOptional { throw .requiredLink(end, first) }
    guard new.count + old.count <= ChangeRehearsal.largestCount else { return }
    try rehearseHolding([(owner, new)], unlinked: old, attribute, of: end.target)
  }

  /// Makes the first record of each pair lead to the second; returns how many did not.
  ///
  /// With an order new links come last, in the order of the list, each at its first position there.
  /// Where an attribute of the second record holds the link, the last pair with that record
  /// decides.
  func link(_ list: consuming LinkList, by end: RelationshipEnd) throws(StoreError) -> Int {
    if end.opposite.attribute != nil { list.keepLastOwners() }
    guard !list.isAscending, let order = try LinkOrder(end, core: self) else {
      return try linkSorted(list, by: end)
    }
    list.removeRepetitions()
    var added: [UInt64: [UInt64]] = [:]
    for index in 0..<list.count {
      let (owner, other) = (list.id(at: index), list.other(at: index))
      if try order.position(of: other, in: owner) == nil { added[owner, default: []].append(other) }
    }
    let count = try linkSorted(list, by: end)
    try breakingOnError { () throws(StoreError) in
      for (owner, others) in added where others.count > 1 {
        for other in others { try order.remove(other, from: owner) }
        try order.append(others, to: owner)
        // Links that the write had removed before; the history leaves out new links.
        try tellMoves(others, of: owner, by: end)
      }
    }
    return count
  }

  private func linkSorted(
    _ list: consuming LinkList, by end: RelationshipEnd
  ) throws(StoreError) -> Int {
    guard let attribute = end.opposite.attribute else { return try addLinks(list, by: end) }
    list.sort()
    if let missing = try firstMissing(list.ids, in: end.source) {
      throw .noSuchRecord(entity: end.source.name, id: missing)
    }
    let groups = list.groups
    for (_, ids) in groups {
      if let missing = try firstMissing(ids, in: end.target) {
        throw .noSuchRecord(entity: end.target.name, id: missing)
      }
    }
    if list.count <= ChangeRehearsal.largestCount {
      try rehearseHolding(groups, attribute, of: end.target)
    }
    var count = 0
    for (owner, ids) in groups {
      let batch = try holding(owner, attribute, of: end.target)
      try batch.update(ids)
      count += batch.updatedCount
    }
    return count
  }

  /// Gives `attribute`, which holds the other side of a relationship, the value `owner`.
  private func holding(
    _ owner: UInt64, _ attribute: EntityDescription.Attribute, of entity: StoredEntity
  ) throws(StoreError) -> BatchUpdate {
    let value = Value.integer(Int64(bitPattern: owner))
    return try batchUpdate(
      of: entity, [(name: attribute.name, operand: .value(.null), constant: value)], [:])
  }

  /// Throws where records of `entity` cannot hold the owners of `groups` in `attribute` and null in
  /// those with the ids `unlinked`; changes nothing.
  fileprivate func rehearseHolding(
    _ groups: [(id: UInt64, others: [UInt64])], unlinked: [UInt64] = [],
    _ attribute: EntityDescription.Attribute, of entity: StoredEntity
  ) throws(StoreError) {
    let changes = changes(of: entity)
    guard ChangeRehearsal.isNeeded(changes, concerned: entity.indexes) else { return }
    let rehearsal = try ChangeRehearsal(changes, concerned: entity.indexes, core: self)
    _ = try nullify(
      [NulledLinks(attribute: attribute.number, ids: unlinked)], of: entity, rehearsal: rehearsal)
    for (owner, ids) in groups {
      try holding(owner, attribute, of: entity).rehearse(ids, with: rehearsal)
    }
    try rehearsal.check()
  }

  /// Makes the first record of each pair no longer lead to the second; returns how many did.
  func unlink(_ list: consuming LinkList, by end: RelationshipEnd) throws(StoreError) -> Int {
    guard let attribute = end.opposite.attribute, let links = end.links else {
      return try removeLinks(list, by: end)
    }
    list.sort()
    let cursor = try LinkCursor(links, core: self)
    var held: [UInt64] = []
    for (owner, ids) in list.groups {
      for id in ids where try cursor.contains(owner, id) { held.append(id) }
    }
    IDSort.sortUnique(&held)
    if let first = held.first, !attribute.isOptional { throw .requiredLink(end, first) }
    if held.count <= ChangeRehearsal.largestCount {
      try rehearseHolding([], unlinked: held, attribute, of: end.target)
    }
    return try nullify(
      [NulledLinks(attribute: attribute.number, ids: held)], of: end.target)
  }
}
