internal import LodestoreFormat

/// Groups entries of an index by some elements of their keys, and adds up others.
///
/// Memory: for one group where entries come in the order of the groups. Otherwise for each its key,
/// 44 bytes, and about 150 for each term, up to a limit, beyond which they go to a file.
struct EntryGrouping: ~Copyable {
  private struct Term {
    var function: GroupTerm.Function
    /// Its position in the tuple; `nil` where records are counted.
    var position: Int?
  }

  // Memory of its own, and no class: to retain and release an array or an object for each entry
  // would take longer than all the rest.
  /// The positions of the elements that tell the groups apart.
  private let positions: UnsafeMutableBufferPointer<Int>
  private let terms: UnsafeMutableBufferPointer<Term>
  /// Whether these are the first of the tuple, in their order, so that they are one run of bytes.
  private let isPrefix: Bool
  /// The number of elements of a key that are read.
  private let elementCount: Int
  /// A zero, and after it the end of each element of the last key.
  private let ends: UnsafeMutablePointer<Int>

  /// `nil` where the entries come in the order of the groups, and only the last of these is kept.
  private var table: GroupTable?
  /// The elements that tell the group of the last entry.
  private let lastKey: UnsafeMutableRawPointer
  private var lastLength = 0
  private(set) var groupCount = 0
  /// The counts and ids of the groups but the current one, and further states after them.
  private var states: [State] = []
  /// The group of the last entry, and its state.
  private var current = 0
  private var state = State()
  /// The totals of all groups; each group has one for each term.
  private var totals: UnsafeMutablePointer<GroupTotal>
  private var totalCapacity: Int
  /// The totals of the current group.
  private var currentTotals: UnsafeMutablePointer<GroupTotal>
  /// `nil` where all groups stay in memory.
  private var spilling: GroupSpilling?

  /// The state of a group without its totals.
  struct State {
    var count = 0
    var lowestID = UInt64.max
    var highestID: UInt64 = 0
  }

  /// - Parameters:
  ///   - attributes: those of the index, of which `keys` and `terms` are some.
  ///   - isOrdered: whether entries come in the order of the groups.
  init(
    _ attributes: [UInt32], keys: [UInt32],
    terms: [(function: GroupTerm.Function, attribute: UInt32?)], isOrdered: Bool,
    _ spilling: GroupSpilling? = nil
  ) {
    self.spilling = isOrdered ? nil : spilling
    table = isOrdered ? nil : GroupTable()
    let positions = keys.compactMap { attributes.firstIndex(of: $0) }
    let terms = terms.map { term in
      Term(
        function: term.function,
        position: term.attribute.flatMap { attributes.firstIndex(of: $0) })
    }
    isPrefix = positions == Array(0..<positions.count)
    elementCount = ((positions + terms.compactMap(\.position)).max() ?? -1) + 1
    self.positions = .allocate(capacity: positions.count)
    _ = self.positions.initialize(from: positions)
    self.terms = .allocate(capacity: terms.count)
    _ = self.terms.initialize(from: terms)
    // A question may name the same attribute more than once.
    lastKey = .allocate(byteCount: KeyEncoder.cutPrefix * max(1, positions.count), alignment: 8)
    ends = .allocate(capacity: elementCount + 1)
    ends.initialize(repeating: 0, count: elementCount + 1)
    totalCapacity = max(1, terms.count)
    totals = .allocate(capacity: totalCapacity)
    currentTotals = totals
  }

  deinit {
    ends.deallocate()
    positions.deallocate()
    terms.deallocate()
    lastKey.deallocate()
    totals.deinitialize(count: groupCount * terms.count)
    totals.deallocate()
  }

  /// Finds the elements of `key`; returns false where it has fewer.
  @inline(__always)
  mutating func split(_ key: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    while position < elementCount {
      guard let end = KeyDecoder.endOfElement(in: key, at: ends[position]) else { return false }
      position &+= 1
      ends[position] = end
    }
    return true
  }

  /// Whether the entry that was split last belongs to the group of the one before.
  @inline(__always)
  func isOfCurrentGroup(_ key: UnsafeRawBufferPointer) -> Bool {
    guard groupCount > 0 else { return false }
    if isPrefix {
      let end = ends[positions.count]
      return end == lastLength && isEqual(0, key, 0, end)
    }
    var offset = 0
    for position in positions {
      let start = ends[position]
      let length = ends[position &+ 1] &- start
      guard offset &+ length <= lastLength, isEqual(offset, key, start, length) else {
        return false
      }
      offset &+= length
    }
    return offset == lastLength
  }

  /// Whether the last key from `offset` on has the same bytes as `key` from `start` on.
  @inline(__always)
  private func isEqual(
    _ offset: Int, _ key: UnsafeRawBufferPointer, _ start: Int, _ length: Int
  ) -> Bool {
    guard let base = key.baseAddress else { return length == 0 }
    return compareBytes(lastKey + offset, base + start, length) == 0
  }

  /// Goes on with the group of the entry that was split last, which is made where it is new.
  mutating func begin(_ key: UnsafeRawBufferPointer, tick: () throws -> Void) throws {
    if spilling?.isDue(byteCount) == true { try spill(tick) }
    lastLength = 0
    for position in positions {
      let element = element(position, key)
      guard let base = element.baseAddress else { continue }
      (lastKey + lastLength).copyMemory(from: base, byteCount: element.count)
      lastLength += element.count
    }
    if groupCount > 0 { states[current] = state }
    var isNew = true
    if table != nil {
      let elements = lastElements
      (current, isNew) = table?.group(of: elements) ?? (0, true)
    } else {
      removeStates()
    }
    if isNew { addGroup() }
    state = states[current]
    currentTotals = totals + current * terms.count
  }

  private mutating func removeStates() {
    totals.deinitialize(count: groupCount * terms.count)
    groupCount = 0
  }

  private var byteCount: Int {
    // An element that is kept has memory of its own.
    let total = MemoryLayout<GroupTotal>.stride + 48
    return groupCount * (MemoryLayout<State>.stride + terms.count * total) + (table?.byteCount ?? 0)
  }

  /// Writes all groups to the file, where there is place for it.
  private mutating func spill(_ tick: () throws -> Void) throws {
    guard let runs = try spilling?.begin() else { return }
    for group in try sorted(tick: tick) {
      try tick()
      let (count, totals) = (state(group).count, totals(group))
      try withKey(group) { try runs.append($0, count: count, totals, []) }
    }
    runs.endRun()
    table?.removeAll()
    removeStates()
    current = 0
  }

  private mutating func addGroup() {
    let count = groupCount * terms.count
    if count + terms.count > totalCapacity {
      totalCapacity = max(count + terms.count, totalCapacity * 2)
      let larger = UnsafeMutablePointer<GroupTotal>.allocate(capacity: totalCapacity)
      larger.moveInitialize(from: totals, count: count)
      totals.deallocate()
      totals = larger
    }
    if !terms.isEmpty {
      (totals + count).initialize(repeating: GroupTotal(), count: terms.count)
    }
    if groupCount < states.count {
      states[groupCount] = State()
    } else {
      states.append(State())
    }
    groupCount += 1
  }

  /// Adds the entry that was split last to its group.
  @inline(__always)
  mutating func add(_ key: UnsafeRawBufferPointer, id: UInt64) throws {
    state.count &+= 1
    if id < state.lowestID { state.lowestID = id }
    if id > state.highestID { state.highestID = id }
    for index in terms.indices {
      let term = terms[index]
      guard let position = term.position else { continue }
      try currentTotals[index].add(element: element(position, key), term.function)
    }
  }

  private var lastElements: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: lastKey, count: lastLength)
  }

  // MARK: Results

  func state(_ group: Int) -> State { group == current ? state : states[group] }

  func totals(_ group: Int) -> [GroupTotal] {
    Array(UnsafeBufferPointer(start: totals + group * terms.count, count: terms.count))
  }

  func keyValues(_ group: Int) throws -> [Value] {
    try withKey(group) { try keyValues($0) }
  }

  private func keyValues(_ key: UnsafeRawBufferPointer) throws -> [Value] {
    var values: [Value] = []
    try read(key, into: &values)
    return values
  }

  /// Leaves the values of a group in `values`.
  func readKeyValues(_ group: Int, into values: inout [Value]) throws {
    try withKey(group) { try read($0, into: &values) }
  }

  private func read(_ key: UnsafeRawBufferPointer, into values: inout [Value]) throws {
    values.removeAll(keepingCapacity: true)
    var decoder = KeyDecoder(key)
    for _ in 0..<positions.count { values.append(try decoder.next()) }
  }

  /// Visits the groups with their values, ascending by their keys.
  mutating func forEach(
    tick: () throws -> Void, _ body: ([Value], Int, [GroupTotal]) throws -> Void
  ) throws {
    guard let spilling, let runs = spilling.runs else {
      for group in try sorted(tick: tick) {
        try tick()
        try body(try keyValues(group), state(group).count, totals(group))
      }
      return
    }
    try spill(tick)
    // Their memory is for the merge.
    table = GroupTable()
    totals.deallocate()
    totals = .allocate(capacity: terms.count)
    totalCapacity = terms.count
    try runs.forEach(memory: spilling.memory) { key, part in
      try tick()
      try body(try keyValues(key), part.count, part.totals)
    }
  }

  private func withKey<R>(_ group: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
  {
    guard let table else { return try body(lastElements) }
    return try table.withKey(group, body)
  }

  /// The groups in the order of their keys.
  func sorted(tick: () throws -> Void) throws -> [Int] {
    try table?.sorted(tick: tick) ?? Array(0..<groupCount)
  }

  @inline(__always)
  private func element(
    _ position: Int, _ key: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: key[ends[position]..<ends[position &+ 1]])
  }
}
