internal import LodestoreFormat

/// A position among the targets of one record in an ordered relationship.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum LinkPosition<Target: Entity>: Sendable, Hashable {
  /// Before all other targets.
  case first
  /// After all other targets.
  case last
  /// Directly before this target.
  case before(RecordID<Target>)
  /// Directly after this target.
  case after(RecordID<Target>)
  /// At this index among the other targets, counted from 0; at the end when there are fewer
  /// targets.
  ///
  /// The cost grows with the index; the cost of the other cases is constant.
  case index(Int)
}

extension WriteTransaction {
  /// Links the record `owner` with `id` in an ordered relationship, at `position`.
  ///
  ///     static let tracks = ToMany<Playlist, Track>(ordered: true)
  ///
  ///     try tx.add(track.id, to: Playlist.tracks, of: list.id, at: .first)
  ///
  /// If the link already exists, it is moved, and the call returns false. `add(_:to:of:)`, without
  /// a position, puts a new link last.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when one of the records is missing, or when the
  ///   record in `position` is not a target of `owner`. ``StoreError/Code/invalidQuery`` when the
  ///   relationship is not ordered. After an error the links are unchanged.
  /// - Complexity: O(log *n*). A few neighbours may get other position numbers.
  func place<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, in relationship: ToMany<E, Target>, of owner: RecordID<E>,
    at position: LinkPosition<Target>
  ) throws(StoreError) -> Bool {
    let core = core
    let end = try core.end(relationship)
    let order = try core.order(of: end)
    let place = try order.place(position, for: id, in: owner, end)
    return try core.asOneCall("add") { () throws(StoreError) in
      var list = LinkList(expectedCount: 1)
      list.append(owner.rawValue, id.rawValue)
      let isNew = try core.link(list, by: end) > 0
      guard let place else { return isNew }
      try core.breakingOnError { () throws(StoreError) in
        let isMoved = try order.move(id.rawValue, in: owner.rawValue, to: place)
        // The link may exist only since this write, for example removed and added again. The
        // history ignores moves of such new links.
        if isMoved { try core.tellMoves([id.rawValue], of: owner.rawValue, by: end) }
      }
      return isNew
    }
  }

  /// Moves `id` to another position among the targets of the record `owner`.
  ///
  ///     try tx.move(track.id, in: Playlist.tracks, of: list.id, to: .after(other.id))
  ///
  /// If `id` already has this position, nothing changes, and the history records no move.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord`` when `id` or the record in `position` is not a
  ///   target of `owner`. ``StoreError/Code/invalidQuery`` when the relationship is not ordered.
  ///   After an error the links are unchanged.
  /// - Complexity: the complexity of ``add(_:to:of:at:)``.
  public mutating func move<E: Entity, Target: Entity>(
    _ id: RecordID<Target>, in relationship: ToMany<E, Target>, of owner: RecordID<E>,
    to position: LinkPosition<Target>
  ) throws(StoreError) {
    let end = try core.end(relationship)
    let order = try core.order(of: end)
    guard try order.position(of: id.rawValue, in: owner.rawValue) != nil else {
      throw .notRelated(end, owner.rawValue, id.rawValue)
    }
    guard let place = try order.place(position, for: id, in: owner, end) else { return }
    let core = core
    try core.asOneCall("move") { () throws(StoreError) in
      try core.breakingOnError { () throws(StoreError) in
        guard try order.move(id.rawValue, in: owner.rawValue, to: place) else { return }
        try core.tellMoves([id.rawValue], of: owner.rawValue, by: end)
      }
    }
  }
}

/// A validated position among the targets of a record.
private enum LinkPlace {
  case first, last
  case before(UInt64), after(UInt64)
  case index(Int)
}

extension LinkOrderWriter {
  /// Returns the place for `position`; `nil` when the position is directly before or after the
  /// record itself, so that it stays where it is.
  fileprivate func place<E: Entity, Target: Entity>(
    _ position: LinkPosition<Target>, for id: RecordID<Target>, in owner: RecordID<E>,
    _ end: RelationshipEnd
  ) throws(StoreError) -> LinkPlace? {
    switch position {
    case .first: return .first
    case .last: return .last
    case .index(let index):
      guard index >= 0 else {
        throw .badQuery("a record cannot be at index \(index) of \(end.label); indexes begin at 0")
      }
      return .index(index)
    case .before(let other), .after(let other):
      guard try self.position(of: other.rawValue, in: owner.rawValue) != nil else {
        throw .notRelated(end, owner.rawValue, other.rawValue)
      }
      if other == id { return nil }
      if case .before = position { return .before(other.rawValue) }
      return .after(other.rawValue)
    }
  }

  /// Moves `id`, a target of `owner`, to `place`; returns whether its position changed.
  fileprivate func move(
    _ id: UInt64, in owner: UInt64, to place: LinkPlace
  ) throws(StoreError) -> Bool {
    let previous = try previous(of: place, for: id, in: owner)
    if let current = try position(of: id, in: owner),
      try last(of: owner, before: current)?.position ?? 0 == previous
    {
      return false
    }
    try remove(id, from: owner)
    if case .last = place {
      try append(CollectionOfOne(id), to: owner)
    } else {
      try insert(id, in: owner, after: previous)
    }
    return true
  }

  /// The position number of the target directly before `place`, ignoring the target `id` itself.
  ///
  /// The result is 0 for the first place.
  private func previous(
    of place: LinkPlace, for id: UInt64, in owner: UInt64
  ) throws(StoreError) -> UInt64 {
    switch place {
    case .first: return 0
    case .last: return try lastOther(of: owner, than: id, before: .max)
    case .after(let other): return try position(of: other, in: owner) ?? 0
    case .before(let other):
      return try lastOther(
        of: owner, than: id, before: try position(of: other, in: owner) ?? 0)
    case .index(let index):
      var previous: UInt64 = 0
      var count = 0
      guard index > 0 else { return 0 }
      try forEach(of: owner) { (item) throws(StoreError) in
        if item.other == id { return true }
        previous = item.position
        count += 1
        return count < index
      }
      return previous
    }
  }

  private func lastOther(
    of owner: UInt64, than id: UInt64, before position: UInt64
  ) throws(StoreError) -> UInt64 {
    guard let item = try last(of: owner, before: position) else { return 0 }
    if item.other != id { return item.position }
    return try last(of: owner, before: item.position)?.position ?? 0
  }
}

extension WriteCore {
  /// Returns the order of the targets of `end`.
  fileprivate func order(of end: RelationshipEnd) throws(StoreError) -> LinkOrderWriter {
    if let order = try LinkOrderWriter(end, core: self) { return order }
    throw .badQuery("\(end.label) has no order; declare it with 'ordered: true'")
  }

  /// Sets the order of the targets of `owner` to that of `ids`, which are all its targets.
  ///
  /// A repeated id has its first position. Does nothing when the relationship is not ordered.
  func arrange(_ ids: [UInt64], of owner: UInt64, by end: RelationshipEnd) throws(StoreError) {
    guard let order = try LinkOrderWriter(end, core: self) else { return }
    var seen: Set<UInt64> = []
    let ids = ids.filter { seen.insert($0).inserted }
    guard try order.ids(of: owner) != ids else { return }
    try breakingOnError { () throws(StoreError) in
      for id in ids { try order.remove(id, from: owner) }
      try order.append(ids, to: owner)
      try tellMoves(ids, of: owner, by: end)
    }
  }
}

extension StoreError {
  fileprivate static func notRelated(
    _ end: RelationshipEnd, _ owner: UInt64, _ id: UInt64
  ) -> StoreError {
    StoreError(
      .noSuchRecord,
      "record \(owner) of \(end.source.name) does not lead to record \(id) of \(end.target.name) by "
        + end.label, entity: end.source.name)
  }
}
