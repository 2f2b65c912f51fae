internal import LodestoreBytes
internal import LodestoreFormat

/// The groups found while entries or records are visited, in memory and, beyond a limit, in a
/// scratch file.
struct GroupStates: ~Copyable {
  /// The state of a group, without its totals.
  struct State {
    var count = 0
    var lowestID = UInt64.max
  }

  /// The groups by key; `nil` if groups come in order, so that only the last one is kept.
  private var table: GroupTable?
  private(set) var groupCount = 0
  /// The states of the groups.
  ///
  /// The array may be longer than ``groupCount``.
  var states: [State] = []
  /// The totals of each group, one for each term.
  // The memory is manually allocated, because an array would check each access.
  private(set) var totals: UnsafeMutablePointer<GroupTotal>
  private var totalCapacity: Int
  /// The values of each group, one for each key; empty if the table's bytes contain the values.
  private var values: [Value] = []
  /// The memory that values and totals take in addition to their own size, in bytes.
  private var heldByteCount = 0
  private var spilling: GroupSpilling?
  private let termCount: Int
  private let bytesPerGroup: Int

  /// Creates an empty set of groups.
  ///
  /// - Parameters:
  ///   - isOrdered: whether groups come in the order of their keys.
  ///   - heldPerTotal: the memory of a total in addition to its own size, in bytes, if
  ///     ``add(_:_:_:)`` does not count it.
  ///   - spilling: `nil` if all groups stay in memory.
  init(termCount: Int, isOrdered: Bool = false, heldPerTotal: Int = 0, _ spilling: GroupSpilling?) {
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

  /// Returns the number of the group with `key`, creating the group if it is new.
  ///
  /// The call may move all groups to the scratch file. Numbers returned earlier then refer to other
  /// groups.
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

  /// Stores the values of the group that was created last.
  mutating func append(_ new: [Value]) {
    values += new
    for value in new { heldByteCount += value.heldByteCount }
  }

  /// Adds a value to the total at `index`.
  mutating func add(_ value: DynamicValue, _ function: GroupTerm.Function, _ index: Int) throws {
    let held = totals[index].heldByteCount
    try totals[index].add(value, function)
    heldByteCount += totals[index].heldByteCount - held
  }

  private mutating func removeTotals() {
    totals.deinitialize(count: groupCount * termCount)
    groupCount = 0
  }

  /// Writes all groups to the scratch file, if one can be created.
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

  /// Calls `body` with the key of a group; returns `nil` if groups come in order.
  func withKey<R>(_ group: Int, _ body: (ByteView) throws -> R) rethrows -> R? {
    try table?.withKey(group, body)
  }

  /// Returns the groups in the order of their keys.
  func sorted(tick: () throws -> Void) throws -> [Int] {
    try table?.sorted(tick: tick) ?? Array(0..<groupCount)
  }

  /// Visits the groups with their counts, totals and values, ascending by key.
  mutating func forEach(
    tick: () throws -> Void,
    _ body: (ByteView, Int, UnsafeBufferPointer<GroupTotal>, ArraySlice<Value>) throws -> Void
  ) throws {
    guard let spilling, let runs = spilling.runs else { return try forEachInMemory(tick, body) }
    try spill(tick)
    // Frees the memory of the groups for the merge.
    self = GroupStates(termCount: termCount, nil)
    try runs.forEach(memory: spilling.memory) { key, part in
      try tick()
      try part.totals.withUnsafeBufferPointer { try body(key, part.count, $0, part.values[...]) }
    }
  }

  private func forEachInMemory(
    _ tick: () throws -> Void,
    _ body: (ByteView, Int, UnsafeBufferPointer<GroupTotal>, ArraySlice<Value>) throws -> Void
  ) throws {
    let valueCount = groupCount == 0 ? 0 : values.count / groupCount
    for group in try sorted(tick: tick) {
      try tick()
      let values = values[group * valueCount..<(group + 1) * valueCount]
      try withKey(group) { try body($0, states[group].count, totals(group), values) }
    }
  }
}
