/// The facts about the last write of a unit.
package struct ReplayEnd: Sendable, Hashable {
  /// The 16 bytes of the store's UUID.
  package var storeID: [UInt8]
  /// The number of the write before the unit.
  package var after: UInt64
  /// The number of the last write of the unit; that before the unit when only buckets have changed.
  package var last: UInt64
  /// The SHA-256 of the catalogue.
  package var schema: [UInt8]
  /// The places of the links that the unit has changed, as they are after the last write.
  package var places: [ReplayPlaces] = []
  /// The changed buckets.
  package var buckets: [ReplayBucket] = []
  /// The id of the next new record of each entity.
  package var nextIDs: [EntityNumber: UInt64] = [:]
  /// The digests after the last write; `nil` for a part of a unit.
  package var digests: ReplayDigests?

  package init(
    storeID: [UInt8], after: UInt64, last: UInt64, schema: [UInt8], digests: ReplayDigests?
  ) {
    self.storeID = storeID
    self.after = after
    self.last = last
    self.schema = schema
    self.digests = digests
  }
}

/// All changes of a store between two of its writes.
package struct ReplayUnit: Sendable, Hashable {
  package var steps: [ReplayStep]
  package var end: ReplayEnd

  package init(steps: [ReplayStep], end: ReplayEnd) {
    self.steps = steps
    self.end = end
  }

  /// Whether the unit changes nothing.
  package var isEmpty: Bool { steps.isEmpty && end.buckets.isEmpty }

  /// The numbers of the writes of the unit; empty when only buckets have changed.
  package var writes: Range<UInt64> { end.after + 1..<max(end.after, end.last) + 1 }

  // MARK: A part

  /// The writes of the unit up to `write`, without buckets and digests.
  ///
  /// Records and links are as after that write. The history reports no places, so a link that the
  /// part has changed has its place at the end of the unit. If one step has writes before and after
  /// `write`, the part ends before the step.
  package func through(_ write: UInt64) -> ReplayUnit {
    guard write < end.last else { return self }
    let kept = Array(steps.prefix { $0.writes.upperBound <= write })
    var part = ReplayUnit(steps: kept, end: end)
    let isWithinStep = kept.count < steps.count && steps[kept.count].writes.lowerBound <= write
    part.end.last =
      isWithinStep ? kept.last?.writes.upperBound ?? end.after : max(write, end.after)
    part.end.digests = nil
    part.end.buckets = []
    part.end.nextIDs = kept.reduce(into: [:]) { $0.merge($1.nextIDs) { max($0, $1) } }
    part.end.places = end.places.map { $0.touched(by: kept) }.filter { !$0.places.isEmpty }
    return part
  }

  // MARK: Several units

  /// The net changes of consecutive units, as one unit where possible.
  ///
  /// Two units stay apart in two cases:
  /// - A place in the first unit depends on a link that the second unit removes.
  /// - The schema has changed between the units.
  package static func merged(_ units: [ReplayUnit]) -> [ReplayUnit] {
    groups(of: units).map { group in group.count == 1 ? group[0] : ReplayNet(group).unit(group) }
  }

  /// Divides consecutive units into groups whose net changes have equal results.
  package static func groups(of units: [ReplayUnit]) -> [[ReplayUnit]] {
    var groups: [[ReplayUnit]] = []
    var anchors = ReplayAnchors()
    for unit in units {
      if let last = groups.last?.last, last.end.storeID == unit.end.storeID,
        last.end.schema == unit.end.schema, !anchors.areTouched(by: unit)
      {
        groups[groups.count - 1].append(unit)
      } else {
        groups.append([unit])
        anchors = ReplayAnchors()
      }
      anchors.add(unit.end.places)
    }
    return groups
  }
}

extension ReplayPlaces {
  /// The places of the links that `steps` have changed, each after a link that is there already.
  fileprivate func touched(by steps: [ReplayStep]) -> ReplayPlaces {
    var links: Set<LinkPair> = []
    var holders: Set<UInt64> = []
    for step in steps {
      for group in step.links where group.relationship == relationship && group.kind != .removed {
        links.formUnion(group.pairs)
      }
      for records in step.records where records.entity == holder { holders.formUnion(records.ids) }
    }
    var result = self
    result.places = []
    // For each place that is left out, the one before it that is not.
    var before: [LinkPair: UInt64] = [:]
    for var place in places {
      let previous = LinkPair(from: place.owner, to: place.previous)
      place.previous = before[previous] ?? place.previous
      let link = link(place)
      if links.contains(link) || holders.contains(link.from) {
        result.places.append(place)
      } else {
        before[LinkPair(from: place.owner, to: place.other)] = place.previous
      }
    }
    return result
  }
}

/// The links after which units put other links, and which these units do not change themselves.
private struct ReplayAnchors {
  private struct Side: Hashable {
    var relationship: UInt32
    var holder: EntityNumber?
  }

  private var links: [Side: Set<LinkPair>] = [:]

  mutating func add(_ places: [ReplayPlaces]) {
    for side in places {
      let own = Set(side.places.map { LinkPair(from: $0.owner, to: $0.other) })
      var found: Set<LinkPair> = []
      for place in side.places where place.previous > 0 {
        let anchor = ReplayPlace(owner: place.owner, other: place.previous, previous: 0)
        if own.contains(LinkPair(from: anchor.owner, to: anchor.other)) { continue }
        found.insert(side.link(anchor))
      }
      let key = Side(relationship: side.relationship, holder: side.holder)
      links[key, default: []].formUnion(found)
    }
  }

  /// Whether the unit may remove one of the links.
  func areTouched(by unit: ReplayUnit) -> Bool {
    guard links.values.contains(where: { !$0.isEmpty }) else { return false }
    return unit.steps.contains { step in
      !step.replacedEntities.isEmpty || !step.replacedRelationships.isEmpty
        || links.contains { side, links in
          !links.isEmpty && Self.areTouched(links, side, by: step)
        }
    }
  }

  private static func areTouched(_ links: Set<LinkPair>, _ side: Side, by step: ReplayStep) -> Bool
  {
    guard let holder = side.holder else {
      return step.links.contains { group in
        group.relationship == side.relationship && group.kind == .removed
          && group.pairs.contains { links.contains($0) }
      }
    }
    let records = Set(links.map(\.from))
    return step.records.contains { $0.entity == holder && $0.ids.contains(where: records.contains) }
      || step.deleted.contains { deleted in
        deleted.entity == holder && records.contains { deleted.ids.contains($0) }
      }
  }
}
