internal import LodestoreBytes
internal import LodestoreFormat

/// Groups the entries of an index by some elements of their keys, and aggregates others.
///
/// If entries come in the order of the groups, only one group is in memory. Otherwise each group
/// takes its key, 44 bytes, and about 150 bytes for each term. Beyond a limit, groups go to a file.
struct EntryGrouping: ~Copyable {
  private struct Term {
    var function: GroupTerm.Function
    /// The position of the element in the tuple; `nil` if records are counted.
    var position: Int?
  }

  // The memory is manually allocated. Retaining and releasing an array or object for each entry
  // would take longer than the grouping.
  /// The positions of the elements that the groups are keyed by.
  private let positions: UnsafeMutableBufferPointer<Int>
  private let terms: UnsafeMutableBufferPointer<Term>
  /// Whether ``positions`` are the first elements of the tuple in order, so that they are one run
  /// of bytes.
  private let isPrefix: Bool
  /// The number of elements read from each key.
  private let elementCount: Int
  /// A zero, followed by the end of each element in the last key.
  private let ends: UnsafeMutablePointer<Int>

  private var groups: GroupStates
  /// The elements of the last entry's key that identify its group.
  private let lastKey: UnsafeMutableRawPointer
  private var lastLength = 0
  /// The number, state and totals of the last entry's group.
  private var current = 0
  private var state = GroupStates.State()
  private var currentTotals: UnsafeMutablePointer<GroupTotal>

  /// Creates a grouping of entries.
  ///
  /// - Parameters:
  ///   - attributes: the attributes of the index, including those of `keys` and `terms`.
  ///   - isOrdered: whether entries come in the order of the groups.
  init(
    _ attributes: [UInt32], keys: [UInt32],
    terms: [(function: GroupTerm.Function, attribute: UInt32?)], isOrdered: Bool,
    _ spilling: GroupSpilling? = nil
  ) {
    let positions = keys.compactMap { attributes.firstIndex(of: $0) }
    let terms = terms.map { term in
      Term(
        function: term.function, position: term.attribute.flatMap { attributes.firstIndex(of: $0) })
    }
    isPrefix = positions == Array(0..<positions.count)
    elementCount = ((positions + terms.compactMap(\.position)).max() ?? -1) + 1
    self.positions = .allocate(capacity: positions.count)
    _ = self.positions.initialize(from: positions)
    self.terms = .allocate(capacity: terms.count)
    _ = self.terms.initialize(from: terms)
    // Each position has room for a whole key, because the grouping may name one attribute several
    // times.
    lastKey = .allocate(byteCount: KeyEncoder.cutPrefix * max(1, positions.count), alignment: 8)
    ends = .allocate(capacity: elementCount + 1)
    ends.initialize(repeating: 0, count: elementCount + 1)
    // A total may hold an element in an array, which takes about 48 bytes besides the total.
    groups = GroupStates(
      termCount: terms.count, isOrdered: isOrdered, heldPerTotal: 48, spilling)
    currentTotals = groups.totals
  }

  deinit {
    ends.deallocate()
    positions.deallocate()
    terms.deallocate()
    lastKey.deallocate()
  }

  /// Finds the elements of `key`; returns false if the key has fewer.
  @inline(__always)
  mutating func split(_ key: ByteView) -> Bool {
    var position = 0
    while position < elementCount {
      guard let end = KeyDecoder.endOfElement(in: key, at: ends[position]) else { return false }
      position &+= 1
      ends[position] = end
    }
    return true
  }

  /// Returns whether the last split entry belongs to the same group as the entry before it.
  @inline(__always)
  func isOfCurrentGroup(_ key: ByteView) -> Bool {
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

  /// Returns whether the last key from `offset` and `key` from `start` have the same `length`
  /// bytes.
  @inline(__always)
  private func isEqual(_ offset: Int, _ key: ByteView, _ start: Int, _ length: Int) -> Bool {
    let last = ByteView(start: lastKey + offset, count: length)
    return compareBytes(last, key.part(from: start, count: length), length) == 0
  }

  /// Continues with the group of the last split entry, creating the group if it is new.
  mutating func begin(_ key: ByteView, tick: () throws -> Void) throws {
    keepState()
    lastLength = 0
    for position in positions {
      let element = element(position, key)
      guard let base = element.baseAddress else { continue }
      (lastKey + lastLength).copyMemory(from: base, byteCount: element.count)
      lastLength += element.count
    }
    current = try groups.group(of: lastElements, tick: tick).number
    state = groups.states[current]
    currentTotals = groups.totals + current * terms.count
  }

  private mutating func keepState() { if groupCount > 0 { groups.states[current] = state } }

  /// Adds the last split entry to its group.
  @inline(__always)
  mutating func add(_ key: ByteView, id: UInt64) throws {
    state.count &+= 1
    if id < state.lowestID { state.lowestID = id }
    for index in terms.indices {
      let term = terms[index]
      guard let position = term.position else { continue }
      try currentTotals[index].add(element: element(position, key), term.function)
    }
  }

  private var lastElements: ByteView { ByteView(start: lastKey, count: lastLength) }

  // MARK: Results

  var groupCount: Int { groups.groupCount }

  func state(_ group: Int) -> GroupStates.State { group == current ? state : groups.states[group] }

  func totals(_ group: Int) -> UnsafeBufferPointer<GroupTotal> { groups.totals(group) }

  /// Reads the group's values into `values`.
  func readKeyValues(_ group: Int, into values: inout [Value]) throws {
    if try groups.withKey(group, { try read($0, into: &values) }) == nil {
      try read(lastElements, into: &values)
    }
  }

  private func read(_ key: ByteView, into values: inout [Value]) throws {
    values.removeAll(keepingCapacity: true)
    var decoder = KeyDecoder(key)
    for _ in 0..<positions.count { values.append(try decoder.next()) }
  }

  /// Visits the groups with their values, counts and totals, ascending by key; for entries that are
  /// not in the order of the groups.
  mutating func forEach(
    tick: () throws -> Void, _ body: ([Value], Int, UnsafeBufferPointer<GroupTotal>) throws -> Void
  ) throws {
    keepState()
    let keyCount = positions.count
    try groups.forEach(tick: tick) { key, count, totals, _ in
      var decoder = KeyDecoder(key)
      try body(try (0..<keyCount).map { _ in try decoder.next() }, count, totals)
    }
  }

  /// Returns the groups in the order of their keys.
  func sorted(tick: () throws -> Void) throws -> [Int] { try groups.sorted(tick: tick) }

  @inline(__always)
  private func element(_ position: Int, _ key: ByteView) -> ByteView {
    key[ends[position]..<ends[position &+ 1]]
  }
}
