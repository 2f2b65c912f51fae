internal import LodestoreBytes
internal import LodestoreFormat

/// The groups that are known while entries or records are visited: in memory, and in a scratch file what
/// does not fit there.
struct GroupStates: ~Copyable {
  /// The state of a group without its totals.
  struct State {
    var count = 0
    var lowestID = UInt64.max
  }

  /// `nil` where groups come in their order, and only the last of these is kept.
  private var table: GroupTable?
  private(set) var groupCount = 0
  /// The states of the groups, and further ones after them.
  var states: [State] = []
  // No array, of which each access would be checked.
  /// As many for each group as there are terms.
  private(set) var totals: UnsafeMutablePointer<GroupTotal>
  private var totalCapacity: Int
  /// One value of each group for each key; empty where the table's bytes give the values.
  private var values: [Value] = []
  /// What values and totals take beside their own size, in bytes.
  private var heldByteCount = 0
  private var spilling: GroupSpilling?
  private let termCount: Int
  private let bytesPerGroup: Int

  /// - Parameters:
  ///   - isOrdered: whether groups come in their order.
  ///   - heldPerTotal: what a total takes beside its own size, in bytes, where ``add(_:_:_:)`` does not
  ///     count it.
  ///   - spilling: `nil` where all groups stay in memory.
  init(
    termCount: Int, isOrdered: Bool = false, heldPerTotal: Int = 0, _ spilling: GroupSpilling?
  ) {
    self.termCount = termCount
    self.spilling = isOrdered ? nil : spilling
    table = isOrdered ? nil : GroupTable()
    bytesPerGroup =
      MemoryLayout<State>.stride + termCount * (MemoryLayout<GroupTotal>.stride + heldPerTotal)
    totalCapacity = max(1, termCount)
    totals = .allocate(capacity: totalCapacity)
  }

  deinit {
    totals.deinitialize(count: groupCount * termCount)
    totals.deallocate()
  }

  private var byteCount: Int {
    (table?.byteCount ?? 0) + heldByteCount + groupCount * bytesPerGroup
      + values.count * MemoryLayout<Value>.stride
  }

  /// The number of the group with `key`; numbers that were told before may be of other groups now.
  mutating func group(
    of key: ByteView, tick: () throws -> Void
  ) throws -> (number: Int, isNew: Bool) {
    if spilling?.isDue(byteCount) == true { try spill(tick) }
    guard let found = table?.group(of: key) else {
      removeTotals()
      addGroup()
      return (0, true)
    }
    if found.isNew { addGroup() }
    return found
  }

  private mutating func addGroup() {
    let count = groupCount * termCount
    if count + termCount > totalCapacity {
      totalCapacity = max(count + termCount, totalCapacity * 2)
      let larger = UnsafeMutablePointer<GroupTotal>.allocate(capacity: totalCapacity)
      larger.moveInitialize(from: totals, count: count)
      totals.deallocate()
      totals = larger
    }
    if termCount > 0 { (totals + count).initialize(repeating: GroupTotal(), count: termCount) }
    if groupCount < states.count {
      states[groupCount] = State()
    } else {
      states.append(State())
    }
    groupCount += 1
  }

  /// Keeps the values of the group that was made last.
  mutating func append(_ new: [Value]) {
    values += new
    for value in new { heldByteCount += value.heldByteCount }
  }

  /// Adds a value to the total at `index`.
  mutating func add(
    _ value: DynamicValue, _ function: GroupTerm.Function, _ index: Int
  ) throws {
    let held = totals[index].heldByteCount
    try totals[index].add(value, function)
    heldByteCount += totals[index].heldByteCount - held
  }

  private mutating func removeTotals() {
    totals.deinitialize(count: groupCount * termCount)
    groupCount = 0
  }

  /// Writes all groups to the file, where there is place for it.
  private mutating func spill(_ tick: () throws -> Void) throws {
    guard let runs = try spilling?.begin() else { return }
    try forEachInMemory(tick) { try runs.append($0, count: $1, $2, $3) }
    runs.endRun()
    table?.removeAll()
    removeTotals()
    values.removeAll(keepingCapacity: true)
    heldByteCount = 0
  }

  // MARK: Results

  func totals(_ group: Int) -> UnsafeBufferPointer<GroupTotal> {
    UnsafeBufferPointer(start: totals + group * termCount, count: termCount)
  }

  /// The key of a group, where these do not come in their order.
  func withKey<R>(_ group: Int, _ body: (ByteView) throws -> R) rethrows -> R? {
    try table?.withKey(group, body)
  }

  /// The groups in the order of their keys.
  func sorted(tick: () throws -> Void) throws -> [Int] {
    try table?.sorted(tick: tick) ?? Array(0..<groupCount)
  }

  /// Visits the groups with their counts, totals and values, ascending by their keys.
  mutating func forEach(
    tick: () throws -> Void,
    _ body: (ByteView, Int, UnsafeBufferPointer<GroupTotal>, ArraySlice<Value>) throws
      -> Void
  ) throws {
    guard let spilling, let runs = spilling.runs else { return try forEachInMemory(tick, body) }
    try spill(tick)
    // Their memory is for the merge.
    self = GroupStates(termCount: termCount, nil)
    try runs.forEach(memory: spilling.memory) { key, part in
      try tick()
      try part.totals.withUnsafeBufferPointer { try body(key, part.count, $0, part.values[...]) }
    }
  }

  private func forEachInMemory(
    _ tick: () throws -> Void,
    _ body: (ByteView, Int, UnsafeBufferPointer<GroupTotal>, ArraySlice<Value>) throws
      -> Void
  ) throws {
    let valueCount = groupCount == 0 ? 0 : values.count / groupCount
    for group in try sorted(tick: tick) {
      try tick()
      let values = values[group * valueCount..<(group + 1) * valueCount]
      try withKey(group) { try body($0, states[group].count, totals(group), values) }
    }
  }
}
