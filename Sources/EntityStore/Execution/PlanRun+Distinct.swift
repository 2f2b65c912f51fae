internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Returns whether ascending values of `attributes` are in the query's order; true for a query
  /// without an order.
  func isOrdered(by attributes: [UInt32]) -> Bool {
    let terms = plan.order.terms
    return terms.count <= attributes.count
      && zip(terms, attributes).allSatisfy { term, attribute in
        term.attribute?.number == attribute && term.isOrderOfIndex && !term.isDescending
      }
  }

  /// Visits each combination of the attributes' values once, in ascending order.
  ///
  /// In an index that begins with the attributes, the run steps from one combination to the next,
  /// however many entries lie between. For each combination it reads records until one matches.
  ///
  /// - Returns: `nil` if all combinations have been visited, or if `body` ended the visit.
  ///   Otherwise the number visited; the others must be found from records.
  func forEachDistinct(
    _ attributes: [UInt32], _ body: ([Value]) throws(StoreError) -> Bool
  ) throws(StoreError) -> Int? {
    guard start == nil else { return 0 }
    let covering = try core.plan(covering: attributes, insteadOf: plan)
    let cost = covering?.cost ?? plan.cost
    var visited = 0
    if cost > Self.costOfFewSteps,
      let stepping = try core.plan(steppingOver: attributes, insteadOf: plan),
      stepping.residual == nil || costOfFirstMatch < cost
    {
      let run = try PlanRun(stepping, core: core, control: control)
      defer { counts = run.counts }
      let count = try wrappingErrors {
        try run.step(over: attributes, below: cost, hasOther: covering != nil, body)
      }
      guard let count else { return nil }
      visited = count
    }
    guard case .index(let access)? = covering?.access else { return visited }
    return try forEachDistinct(attributes, from: access, skipping: visited, body)
  }

  /// The cost of reading records until one matches, if matching records are evenly distributed.
  private var costOfFirstMatch: Double {
    Double(plan.recordCount) / Double(max(1, plan.estimatedMatchCount)) * Planner.Cost.fetchedRecord
  }

  /// The cost up to which a plan is not replaced by steps.
  private static let costOfFewSteps = 16 * Planner.Cost.range
  /// The number of values after which steps end if none of them has skipped entries, since a walk
  /// is cheaper then.
  private static let valuesOnTrial = 32

  /// Visits the combinations by steps in the index.
  ///
  /// - Parameters:
  ///   - cost: the cost of the plan without steps. The steps end when they have cost as much.
  ///   - hasOther: whether the plan without steps is a walk of entries.
  /// - Returns: `nil` if all combinations have been visited, or if `body` ended the visit.
  ///   Otherwise the number visited.
  private func step(
    over attributes: [UInt32], below cost: Double, hasOther: Bool,
    _ body: ([Value]) throws(StoreError) -> Bool
  ) throws -> Int? {
    guard case .index(let access) = plan.access else { return 0 }
    let stored = access.index.description.attributes
    let first = stored.starts(with: attributes) ? 0 : access.fixedCount
    let positions = Array(first..<first + attributes.count)
    let cursor = try Cursor(access.index.tree, in: core.transaction)
    var visited = 0
    // Whether a step has skipped entries.
    var hasSkipped = false
    var spent = 0.0
    var last: [UInt8] = []
    var row: [Value] = []
    for range in access.ranges {
      let keys = range.keys
      var hasEntry = try cursor.seekStart(of: keys, backwards: false)
      while hasEntry, keys.admits(cursor.key, backwards: false) {
        try tick()
        counts.entriesRead += 1
        spent += Planner.Cost.entry
        let key = cursor.key
        // The steps end at a cut key, whose value is known only from its record.
        guard spent < cost, key.count < KeyEncoder.cutPrefix,
          let end = Self.endOfElements(first + attributes.count, in: key)
        else { return visited }
        let prefix = key[..<end]
        let order = last._withBytes { compareKeys($0, prefix) }
        // Keys out of order, as in a damaged file, would make the steps repeat forever.
        guard last.isEmpty || order <= 0 else {
          throw StoreError.damagedIndex(access.index.name, "its keys are out of order")
        }
        if last.isEmpty || order < 0 {
          let id = try recordID(
            key, cursor.value, access.index, isUnique: access.index.isUnique)
          if access.filter != nil { spent += Planner.Cost.entry }
          let isAdmitted = try access.filter.map { try passes($0, id, key) } ?? true
          if residual != nil { spent += Planner.Cost.fetchedRecord }
          guard isAdmitted, try residual == nil || isMatch(id) else {
            hasEntry = try cursor.next()
            continue
          }
          last.removeAll(keepingCapacity: true)
          last.append(contentsOf: prefix)
          if try !read(positions, ofKey: key, into: &row) {
            row = try recordValues(positions, id, access)
          }
          visited += 1
          guard try body(row) else { return nil }
          if hasOther, visited == Self.valuesOnTrial, !hasSkipped { return visited }
        }
        // Often a combination has only one entry, so the next entry is tried before a seek.
        hasEntry = try cursor.next()
        guard hasEntry, KeyDecoder.isElements(last, atBeginningOf: cursor.key) else { continue }
        // In a key, the byte 255 occurs only after an escaped zero, and no element begins with 255.
        // So a seek to the combination with 255 appended skips all of its entries.
        spent += Planner.Cost.range
        hasSkipped = true
        last.append(255)
        hasEntry = try last._withBytes { try cursor.seek(atOrAfter: $0) }
        last.removeLast()
      }
    }
    return nil
  }

  private static func endOfElements(_ count: Int, in key: ByteView) -> Int? {
    var end = 0
    for _ in 0..<count {
      guard let next = KeyDecoder.endOfElement(in: key, at: end) else { return nil }
      end = next
    }
    return end
  }

  private func isMatch(_ id: UInt64) throws -> Bool {
    guard let bytes = try core.storedRecord(id, of: entity) else { throw missing(id) }
    counts.recordsRead += 1
    return try passes(bytes, id)
  }

  /// Reads the values of elements at ascending positions into `row`; returns false if a text must
  /// be read from its record.
  private func read(
    _ positions: [Int], ofKey key: ByteView, into row: inout [Value]
  ) throws -> Bool {
    row.removeAll(keepingCapacity: true)
    var offset = 0
    var position = 0
    for wanted in positions {
      while position < wanted, let end = KeyDecoder.endOfElement(in: key, at: offset) {
        offset = end
        position += 1
      }
      var decoder = KeyDecoder(key[offset...])
      let value = try decoder.next()
      if value.isNormalizedText { return false }
      row.append(value)
      offset += decoder.offset
      position += 1
    }
    return true
  }

  // MARK: All entries

  /// Visits the combinations by a walk over all entries of an index that decides the condition and
  /// contains the attributes.
  ///
  /// - Parameter visited: the number of combinations to skip, since they have been visited before.
  private func forEachDistinct(
    _ attributes: [UInt32], from access: IndexAccess, skipping visited: Int,
    _ body: ([Value]) throws(StoreError) -> Bool
  ) throws(StoreError) -> Int? {
    try wrappingErrors {
      let isOrdered = access.isOrdered(by: attributes)
      if isOrdered, access.ranges.count == 1, let range = access.ranges.first,
        attributes.count == 1, attributes.last == access.index.description.attributes.last
      {
        return try forEachLastElement(of: access, range, skipping: visited, body)
      }
      var grouping = EntryGrouping(
        access.index.description.attributes, keys: attributes, terms: [], isOrdered: isOrdered)
      let positions = attributes.compactMap {
        access.index.description.attributes.firstIndex(of: $0)
      }
      var seen = 0
      var row: [Value] = []
      /// Visits a group; returns false if no more are wanted.
      func visit(_ group: Int, _ grouping: borrowing EntryGrouping) throws -> Bool {
        try tick()
        seen += 1
        if seen <= visited { return true }
        try grouping.readKeyValues(group, into: &row)
        if row.contains(where: { $0.isNormalizedText }) {
          row = try recordValues(positions, grouping.state(group).lowestID, access)
        }
        return try body(row)
      }
      guard isOrdered else {
        guard try walk(access, &grouping) else { return visited }
        for group in try grouping.sorted(tick: { try tick() }) {
          guard try visit(group, grouping) else { break }
        }
        return nil
      }
      struct End: Error {}
      do {
        let isWhole = try walk(access, &grouping) { if try !visit(0, $0) { throw End() } }
        guard isWhole else { return max(visited, seen) }
        if grouping.groupCount > 0 { _ = try visit(0, grouping) }
      } catch is End {}
      return nil
    }
  }

  /// Visits the values of the last element of an index, by the entries of a range in which that
  /// element ascends.
  ///
  /// The first entry of each value has the lowest id. Each value is decoded once.
  private func forEachLastElement(
    of access: IndexAccess, _ range: IndexRange, skipping visited: Int,
    _ body: ([Value]) throws(StoreError) -> Bool
  ) throws -> Int? {
    let position = access.index.description.attributes.count - 1
    let last = MutableByteView.allocate(
      byteCount: KeyEncoder.cutPrefix, alignment: MemoryLayout<UInt64>.alignment)
    defer { last.deallocate() }
    var length = -1
    var seen = 0
    var isWhole = true
    var row: [Value] = [.null]
    try forEachEntry(of: access, range, isReversed: false) { id, key in
      var start = 0
      var place = 0
      while place < position, let end = KeyDecoder.endOfElement(in: key, at: start) {
        start = end
        place &+= 1
      }
      // The walk ends at a cut key, whose values are known only from its record.
      guard key.count < KeyEncoder.cutPrefix, place == position,
        let end = KeyDecoder.endOfElement(in: key, at: start)
      else {
        isWhole = false
        return false
      }
      let element = key[start..<end]
      if element.count == length, compareBytes(ByteView(last), element, length) == 0 { return true }
      last.copyMemory(from: element)
      length = element.count
      seen &+= 1
      if seen <= visited { return true }
      var decoder = KeyDecoder(element)
      let value = try decoder.next()
      if value.isNormalizedText { return try body(try recordValues([position], id, access)) }
      row[0] = value
      return try body(row)
    }
    return isWhole ? nil : max(visited, seen)
  }
}
