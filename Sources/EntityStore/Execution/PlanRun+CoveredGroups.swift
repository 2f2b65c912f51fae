internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Returns the plan by an index whose entries decide the whole condition and contain the
  /// attributes of the grouping and of the terms.
  ///
  /// Returns `nil` if no such index costs less.
  func coveringPlan(of question: GroupQuestion) throws(StoreError) -> QueryPlan? {
    guard let attributes = question.attributes else { return nil }
    return try core.plan(
      covering: attributes.keys + attributes.terms.compactMap(\.self), insteadOf: plan)
  }

  /// Visits the groups from entries alone.
  ///
  /// - Returns: `nil` if all groups have been visited. Otherwise the number of groups visited: 0 if
  ///   no index serves, or the number of groups before a cut key.
  func coveredGroups(
    _ question: GroupQuestion, _ body: (GroupRow) throws(StoreError) -> Void
  ) throws -> Int? {
    guard let attributes = question.attributes,
      case .index(let access) = try coveringPlan(of: question)?.access
    else { return 0 }
    let isOrdered = access.isOrdered(by: attributes.keys)
    var grouping = EntryGrouping(
      access.index.description.attributes, keys: attributes.keys,
      terms: Array(zip(question.functions, attributes.terms)), isOrdered: isOrdered,
      GroupSpilling(
        memory: groupMemory, beside: core.store.environment.path, question.functions))
    guard isOrdered else {
      guard try walk(access, &grouping) else { return 0 }
      try grouping.forEach(tick: { try tick() }) { keys, count, totals in
        try body(
          GroupRow(keys: keys, count: count, values: question.values(count: count, totals)))
      }
      return nil
    }
    var visited = 0
    // One row is reused for all groups, which avoids copies if `body` does not store its arrays.
    var row = GroupRow(keys: [], count: 0, values: [])
    let isWhole = try walk(access, &grouping) { grouping in
      try tick()
      try grouping.readOnlyGroup(question, into: &row)
      try body(row)
      visited += 1
    }
    guard isWhole else { return visited }
    if grouping.groupCount > 0 {
      try grouping.readOnlyGroup(question, into: &row)
      try body(row)
    }
    return nil
  }

  /// Adds the entries of `access` to `grouping`; stops and returns false at a key that may be cut.
  ///
  /// - Parameter atEndOfRun: called before an entry of another group than the previous one.
  func walk(
    _ access: IndexAccess, _ grouping: inout EntryGrouping,
    atEndOfRun: (borrowing EntryGrouping) throws -> Void = { _ in }
  ) throws -> Bool {
    var isWhole = true
    guard access.isWalked else {
      try forEachEntry(of: access) { id, key in
        isWhole = try add(id, key, to: &grouping, atEndOfRun)
        return isWhole
      }
      return isWhole
    }
    for range in access.ranges where isWhole {
      try forEachEntry(of: access, range, isReversed: false) { id, key in
        isWhole = try add(id, key, to: &grouping, atEndOfRun)
        return isWhole
      }
    }
    return isWhole
  }

  /// Adds one entry; returns false if its key may be cut.
  @inline(__always)
  private func add(
    _ id: UInt64, _ key: ByteView, to grouping: inout EntryGrouping,
    _ atEndOfRun: (borrowing EntryGrouping) throws -> Void
  ) throws -> Bool {
    // Cut keys sort after all others with the same beginning, and their values are known only from
    // the records. So the walk stops before them.
    guard !key.isEmpty, key.count < KeyEncoder.cutPrefix, grouping.split(key) else { return false }
    if !grouping.isOfCurrentGroup(key) {
      if grouping.groupCount > 0 { try atEndOfRun(grouping) }
      try grouping.begin(key, tick: { try tick() })
    }
    try grouping.add(key, id: id)
    return true
  }
}

extension EntryGrouping {
  /// Reads the only group in memory into `row`.
  fileprivate func readOnlyGroup(_ question: GroupQuestion, into row: inout GroupRow) throws {
    try readKeyValues(0, into: &row.keys)
    row.count = state(0).count
    if question.functions.isEmpty { return }
    row.values = question.values(count: row.count, totals(0))
  }
}

extension IndexAccess {
  /// Returns whether entries are ordered by `attributes`, so that those of a group are adjacent.
  func isOrdered(by attributes: [UInt32]) -> Bool {
    guard isWalked || attributes.isEmpty else { return false }
    var rest = index.description.attributes[...]
    let fixed = Set(rest.prefix(fixedCount))
    for attribute in attributes where !fixed.contains(attribute) {
      while let next = rest.first, fixed.contains(next) { rest.removeFirst() }
      guard rest.first == attribute else { return false }
      rest.removeFirst()
    }
    return true
  }
}
