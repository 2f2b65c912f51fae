@testable import LodestoreReplicas

/// The state after a write: the number of the write, and a digest of all values up to it.
struct SimulatedState: Hashable {
  var lastWrite: UInt64 = 0
  var digest: UInt64 = 0

  mutating func apply(_ value: UInt64) {
    lastWrite += 1
    digest = mix(digest, value)
  }
}

/// The durable store of a process, without the values that its base had.
struct SimulatedStore {
  /// A number that no other store has.
  var identity: UInt64
  /// The state of the base that the store began with.
  private var base = SimulatedState()
  private var values: [UInt64] = []
  /// The state after each value.
  private var states: [SimulatedState] = []
  /// The position that was kept together with the newest applied entry.
  var position: ChainPosition?
  /// The last position that a writer has recorded in the store, at which its next start begins.
  var recorded: ChainPosition?

  init(identity: UInt64) { self.identity = identity }

  var state: SimulatedState { states.last ?? base }

  var lastWrite: UInt64 { state.lastWrite }

  mutating func write(_ value: UInt64) {
    var next = state
    next.apply(value)
    values.append(value)
    states.append(next)
  }

  mutating func replace(by state: SimulatedState, at position: ChainPosition) {
    base = state
    values = []
    states = []
    self.position = position
  }

  /// The state after a write that the store has, or nil.
  func state(after write: UInt64) -> SimulatedState? {
    if write == base.lastWrite { return base }
    guard write > base.lastWrite, write <= lastWrite else { return nil }
    return states[Int(write - base.lastWrite) - 1]
  }

  func values(_ first: UInt64, _ last: UInt64) -> [UInt64]? {
    guard first > base.lastWrite, last <= lastWrite, first <= last + 1 else { return nil }
    return Array(values[Int(first - base.lastWrite) - 1..<Int(last - base.lastWrite)])
  }
}
