internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Visits the matching records in the query's order, which begins with the order of an index.
  ///
  /// Records whose entries begin with the same values are sorted together as a group.
  func inGroups(
    _ access: IndexAccess, _ range: IndexRange, _ groups: QueryPlan.Groups,
    _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    let sorting = GroupSorting(
      isByID: groups.areByID && start == nil, writer: makeSortKeyWriter(),
      lookup: try RecordLookup(entity.records, in: core.transaction))
    let keys = try startedKeys(range, access, groups)
    var group: [UInt8] = []
    var goesOn = true
    try forEachEntry(of: access, range, keys: keys, isReversed: groups.isReversed) { id, key in
      // Cut keys are passed as empty ones, which do not show where a group ends. So the alternative
      // plan must run.
      if key.isEmpty { throw NeedsAlternative() }
      if !sorting.ids.isEmpty, !KeyDecoder.isElements(group, atBeginningOf: key) {
        goesOn = try visit(sorting, body)
        guard goesOn else { return false }
      }
      if sorting.ids.isEmpty {
        let length = KeyDecoder.lengthOfBeginning(of: key, elementCount: groups.attributeCount)
        guard let length else { throw NeedsAlternative() }
        group = Array(key[..<length])
      }
      sorting.ids.append(id)
      return true
    }
    if goesOn { _ = try visit(sorting, body) }
  }

  /// The ids of the current group, and the tools that sort it.
  private final class GroupSorting {
    /// Whether the records of a group are ordered by their ids alone.
    let isByID: Bool
    let writer: SortKeyWriter
    let lookup: RecordLookup
    var ids: [UInt64] = []

    init(isByID: Bool, writer: SortKeyWriter, lookup: RecordLookup) {
      self.isByID = isByID
      self.writer = writer
      self.lookup = lookup
    }
  }

  /// Visits the records of a group in their order, and empties the group.
  private func visit(
    _ group: GroupSorting, _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    if group.ids.count == 1, start == nil {
      // A single record needs no sorting.
      let id = group.ids.removeLast()
      try tick()
      guard let bytes = try core.storedRecord(id, of: entity) else { throw missing(id) }
      counts.recordsRead &+= 1
      return try passes(bytes, id) ? body(id, bytes) : true
    }
    IDSort.sort(&group.ids)
    if group.isByID {
      if plan.order.isTieDescending { group.ids.reverse() }
      defer { group.ids.removeAll(keepingCapacity: true) }
      return try visit(group.ids, group.lookup, body)
    }
    let records = SortedRecords()
    _ = try visit(group.ids, group.lookup) { id, bytes in
      try group.writer.write(bytes, id: id)
      if let start, !start.lexicographicallyPrecedes(group.writer.key) { return true }
      records.append(group.writer.key, id: id, bytes)
      return true
    }
    group.ids.removeAll(keepingCapacity: true)
    var goesOn = true
    try records.forEach(tick: { try tick() }) { id, bytes in
      goesOn = try body(id, bytes)
      return goesOn
    }
    return goesOn
  }
}
