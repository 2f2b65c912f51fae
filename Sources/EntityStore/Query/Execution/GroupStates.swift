internal import LodestoreFormat

/// What is known of each group, while records are visited: in memory, and in a scratch file what does
/// not fit there.
struct GroupStates {
  private var table = GroupTable()
  /// One value of each group for each key; empty where the table's bytes give the values.
  private var values: [Value] = []
  var rowCounts: [Int] = []
  /// As many for each group as there are terms.
  var totals: [GroupTotal] = []
  /// What values and totals take beside their own size, in bytes.
  private var heldByteCount = 0
  private var spilling: GroupSpilling
  private let termCount: Int

  init(termCount: Int, _ spilling: GroupSpilling) {
    self.termCount = termCount
    self.spilling = spilling
  }

  private var byteCount: Int {
    table.byteCount + heldByteCount + rowCounts.count * 8
      + totals.count * MemoryLayout<GroupTotal>.stride
      + values.count * MemoryLayout<Value>.stride
  }

  /// The number of the group with `key`; numbers that were told before may be of other groups now.
  ///
  /// - Parameter makeValues: called for a new group.
  mutating func group(
    of key: UnsafeRawBufferPointer, tick: () throws -> Void, makeValues: () throws -> [Value]
  ) throws -> Int {
    if spilling.isDue(byteCount) { try spill(tick) }
    let result = table.group(of: key)
    if result.isNew {
      rowCounts.append(0)
      for _ in 0..<termCount { totals.append(GroupTotal()) }
      let new = try makeValues()
      values += new
      for value in new { heldByteCount += value.heldByteCount }
    }
    return result.number
  }

  /// Adds a value to the total at `index`.
  mutating func add(
    _ value: DynamicValue, _ function: GroupTerm.Function, _ index: Int
  ) throws {
    let held = totals[index].heldByteCount
    try totals[index].add(value, function)
    heldByteCount += totals[index].heldByteCount - held
  }

  private mutating func spill(_ tick: () throws -> Void) throws {
    guard let runs = try spilling.begin() else { return }
    for group in try table.sorted(tick: tick) {
      try tick()
      try table.withKey(group) {
        try runs.append($0, count: rowCounts[group], totals(group), values(group))
      }
    }
    runs.endRun()
    table.removeAll()
    values.removeAll(keepingCapacity: true)
    rowCounts.removeAll(keepingCapacity: true)
    totals.removeAll(keepingCapacity: true)
    heldByteCount = 0
  }

  /// Visits the groups, ascending by their keys.
  mutating func forEach(
    tick: () throws -> Void,
    _ body: (UnsafeRawBufferPointer, Int, ArraySlice<GroupTotal>, ArraySlice<Value>) throws -> Void
  ) throws {
    guard let runs = spilling.runs else {
      for group in try table.sorted(tick: tick) {
        try tick()
        try table.withKey(group) { try body($0, rowCounts[group], totals(group), values(group)) }
      }
      return
    }
    try spill(tick)
    // Its memory is for the merge.
    self = GroupStates(termCount: termCount, spilling)
    try runs.forEach(memory: spilling.memory) { key, part in
      try tick()
      try body(key, part.count, part.totals[...], part.values[...])
    }
  }

  private func totals(_ group: Int) -> ArraySlice<GroupTotal> {
    totals[group * termCount..<(group + 1) * termCount]
  }

  private func values(_ group: Int) -> ArraySlice<Value> {
    let count = values.count / rowCounts.count
    return values[group * count..<(group + 1) * count]
  }
}
