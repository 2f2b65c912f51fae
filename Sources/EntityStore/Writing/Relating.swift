internal import LodestoreFormat

extension WriteTransaction {
  /// Links the record `owner` with `id` by `relationship`; returns false when the link already
  /// exists.
  ///
  ///     try tx.add(person.id, to: Group.members, of: group.id)
  ///
  /// The link exists on both sides. If the other side is an attribute, that attribute is set to
  /// `owner`.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when one of the records is missing; nothing was
  ///   written, and the transaction can continue.
  /// - Complexity: O(log *n*); with link trees, no record is read or written.
  @discardableResult
  public mutating func add<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, to relationship: ToMany<E, Target>, of owner: RecordID<E>,
    at position: LinkPosition<Target>? = nil
  ) throws(StoreError) -> Bool {
    guard let position else { return try link(CollectionOfOne((owner, id)), by: relationship) > 0 }
    return try place(id, in: relationship, of: owner, at: position)
  }

  /// Links the record `owner` with each of `ids`; returns the number of new links.
  @discardableResult
  public mutating func add<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, to relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws(StoreError) -> Int {
    try link(ids.lazy.map { (owner, $0) }, by: relationship)
  }

  /// Links the first record of each pair with the second; returns the number of new links.
  ///
  ///     try tx.link(zip(groups, people), by: Group.members)
  ///
  /// The call is the fastest way to create many links. The links are sorted, and each page of the
  /// file is visited once.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when one of the records is missing; nothing was
  ///   written, and the transaction can continue.
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

  /// Removes the link from the record `owner` to `id`; returns whether it existed.
  ///
  /// The records stay. If the other side is an attribute, it becomes null. A required attribute
  /// throws ``StoreError/Code/unstorableValue``.
  @discardableResult
  public mutating func remove<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, from relationship: ToMany<E, Target>, of owner: RecordID<E>
  ) throws(StoreError) -> Bool {
    try unlink(CollectionOfOne((owner, id)), by: relationship) > 0
  }

  /// Removes the links from the record `owner` to `ids`; returns the number of removed links.
  @discardableResult
  public mutating func remove<E: Entity, Target: Entity>(
    _ ids: some Sequence<RecordID<Target>>, from relationship: ToMany<E, Target>,
    of owner: RecordID<E>
  ) throws(StoreError) -> Int {
    try unlink(ids.lazy.map { (owner, $0) }, by: relationship)
  }

  /// Removes the link from the first to the second record of each pair; returns the number of
  /// removed links.
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

  /// Links the record `owner` with exactly `ids`; only the difference is written.
  ///
  /// In an ordered relationship, the targets have the order of `ids`.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when one of the records is missing; nothing was
  ///   written, and the transaction can continue.
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
      let old = LinkList(of: owner.rawValue, with: present.subtracting(wanted))
      _ = try core.unlink(old, by: end)
      let new = LinkList(of: owner.rawValue, with: wanted.subtracting(present))
      _ = try core.link(new, by: end)
      try core.arrange(listed, of: owner.rawValue, by: end)
    }
  }
}

extension WriteCore {
  /// Throws when the targets of `owner` cannot be changed from `old` to `new`; changes nothing.
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
    try rehearseHolding(OwnerAssignment(of: new, owner), unlinked: old, attribute, of: end.target)
  }

  /// Links the first record of each pair with the second; returns the number of new links.
  ///
  /// In an ordered relationship, new links come last in the order of the list, each at its first
  /// position there. If an attribute of the second record holds the link, the last pair with that
  /// record decides.
  func link(_ list: consuming LinkList, by end: RelationshipEnd) throws(StoreError) -> Int {
    if end.opposite.attribute != nil { list.keepLastOwners() }
    guard !list.isAscending, let order = try LinkOrderWriter(end, core: self) else {
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
        try moveLast(others, in: order, of: owner, by: end)
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
    list.swapSides()
    list.sort()
    let owners = OwnerAssignment(list)
    if let missing = try firstMissing(owners.ids, in: end.target) {
      throw .noSuchRecord(entity: end.target.name, id: missing)
    }
    // One batch changes the records of all owners. A record may therefore take a unique key that a
    // record of another owner releases.
    let batch = try holding(owners, attribute, of: end.target)
    try batch.update(owners.ids)
    return batch.updatedCount
  }

  /// Creates an update that sets `attribute`, which holds the other side of a relationship, to
  /// `owner`.
  private func holding(
    _ owners: OwnerAssignment, _ attribute: EntityDescription.Attribute, of entity: StoredEntity
  ) throws(StoreError) -> BatchUpdate {
    func value(_ owner: UInt64) -> Value { .integer(Int64(bitPattern: owner)) }
    let constant = owners.only.map(value)
    return try batchUpdate(
      of: entity, [(name: attribute.name, operand: .value(.null), constant: constant)], [:],
      given: constant == nil ? { [value(owners.owner(of: $0))] } : nil)
  }

  /// Throws when `attribute` cannot be set to the owners of `groups`, or to null in the records
  /// `unlinked`.
  ///
  /// Changes nothing.
  fileprivate func rehearseHolding(
    _ owners: OwnerAssignment, unlinked: [UInt64],
    _ attribute: EntityDescription.Attribute, of entity: StoredEntity
  ) throws(StoreError) {
    let changes = changes(of: entity)
    guard ChangeRehearsal.isNeeded(changes, concerned: entity.indexes) else { return }
    let rehearsal = try ChangeRehearsal(changes, concerned: entity.indexes, core: self)
    _ = try nullify(
      [NulledLinks(attribute: attribute.number, ids: unlinked)], of: entity, rehearsal: rehearsal)
    try holding(owners, attribute, of: entity).rehearse(owners.ids, with: rehearsal)
    try rehearsal.check()
  }

  /// Removes the link of each pair; returns the number of removed links.
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
      try rehearseHolding(OwnerAssignment(), unlinked: held, attribute, of: end.target)
    }
    return try nullify(
      [NulledLinks(attribute: attribute.number, ids: held)], of: end.target)
  }
}

/// The owners that an attribute of records is to hold.
private struct OwnerAssignment {
  /// The records, ascending.
  let ids: [UInt64]
  /// The owners, one for each record.
  private let owners: [UInt64]

  init() { self.init(of: [], 0) }

  /// One owner for all records, whose ids ascend.
  init(of ids: [UInt64], _ owner: UInt64) {
    self.ids = ids
    owners = Array(repeating: owner, count: ids.count)
  }

  /// - Parameter list: sorted pairs of a record and its owner; a pair may be repeated.
  init(_ list: borrowing LinkList) {
    var ids: [UInt64] = []
    var owners: [UInt64] = []
    for index in 0..<list.count where ids.last != list.id(at: index) {
      ids.append(list.id(at: index))
      owners.append(list.other(at: index))
    }
    self.ids = ids
    self.owners = owners
  }

  /// The owner of all records; `nil` when the records have several owners.
  var only: UInt64? {
    guard let first = owners.first, owners.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// The owner of one of the records.
  func owner(of id: UInt64) -> UInt64 { owners[ids.partitioningIndex { $0 >= id }] }
}
