@testable import LodestoreReplicas

/// A process of the simulation: a durable store, and the machine that runs now.
final class SimulatedProcess {
  enum Task {
    /// The process has crashed or was not started yet.
    case down
    case starting(WriterStart)
    /// `isShipping` tells that the result of an offer is still to come.
    case writing(SlotWriter, isShipping: Bool)
    /// The requests that store a base, the next one last, and an entry to write afterwards.
    case storing([StorageRequest], SlotWriter, entry: LogEntry?)
    case following(FollowerCursor)
    case fetching(BaseHead, FollowerCursor)
    case takingOver(Takeover)
    case collecting(Collector)
    /// A follower or a collector waits for its next turn.
    case idle
    /// The process has reported damage.
    case ended
  }

  /// A request on its way.
  struct Sent {
    var request: StorageRequest
    var fate: Fate
    var outcome: StorageOutcome?
  }

  enum Fate {
    case answered
    /// The storage never sees the request, or refuses it for now.
    case lost
    case answerLost
    /// The process sees a timeout, and the storage executes the request much later.
    case late
  }

  let number: Int
  let isCollector: Bool
  /// The difference of the process's clock from the true time.
  let clock: UInt64

  // The durable part.
  var store: SimulatedStore
  var isWriter = false
  /// An earlier copy of the durable part, as of a backup of the machine.
  var copy: (store: SimulatedStore, isWriter: Bool)?
  /// The store was replaced by an earlier copy.
  var isRolledBack = false
  /// The last write that was reported as replicated.
  var acknowledgedWrite: UInt64 = 0

  // The volatile part.
  var task = Task.down
  var sent: Sent?
  /// The bytes of the last entry that the storage has shown, or has said to have stored.
  private(set) var shownEntry: [UInt8] = []
  var floor = Floor.none
  var session: UInt64 = 0
  /// The fence up to which this process catches up before it writes.
  var fence: ChainPosition?
  var stalledUntil = 0
  /// The number of values in the first part of a write whose other part is still to be written.
  var shippedCount: Int?
  /// The values of the parts of a write whose end a follower has not read.
  var pending: [UInt64] = []

  init(number: Int, isCollector: Bool, identity: UInt64, clock: UInt64) {
    self.number = number
    self.isCollector = isCollector
    self.clock = clock
    store = SimulatedStore(identity: identity)
  }

  /// Whether the process's entry is on its way to a slot.
  func isStoring(_ slot: UInt64) -> Bool {
    guard let sent, sent.outcome == nil, case .putIfAbsent(.entry(slot: slot), _) = sent.request
    else { return false }
    return true
  }

  /// Applies an entry to the store, and keeps the values of parts until the write is complete.
  func apply(_ entry: LogEntry) {
    pending = entry.head.kind == .fence ? [] : pending + SimulatedReplica.values(of: entry)
    if entry.head.part.continues { return }
    for value in pending { store.write(value) }
    pending = []
  }

  /// Passes the answer to a request to the machine that runs.
  func receive(_ outcome: StorageOutcome, to request: StorageRequest) {
    switch (request, outcome) {
    case (.putIfAbsent(.entry, let bytes), .stored): shownEntry = bytes
    case (.get(.entry), .object(let bytes)): shownEntry = bytes
    default: break
    }
    switch task {
    case .starting(var machine):
      machine.receive(outcome)
      task = .starting(machine)
    case .writing(var machine, let isShipping):
      machine.receive(outcome)
      task = .writing(machine, isShipping: isShipping)
    case .following(var machine):
      machine.receive(outcome)
      task = .following(machine)
    case .takingOver(var machine):
      machine.receive(outcome)
      task = .takingOver(machine)
    case .collecting(var machine):
      machine.receive(outcome)
      task = .collecting(machine)
    case .storing(var requests, let writer, let entry):
      if outcome == .stored || outcome == .exists { _ = requests.popLast() }
      task = .storing(requests, writer, entry: entry)
    case .fetching(let base, var cursor):
      guard let words = Self.words(outcome) else { return }
      if words.count == 2 {
        store.replace(by: SimulatedState(lastWrite: words[0], digest: words[1]), at: base.position)
      }
      cursor.goOn(baseIsUnusable: words.count != 2)
      task = .following(cursor)
    case .down, .idle, .ended: break
    }
  }

  /// The words of a base's file, none for an absent file, or nil when the request is to be sent
  /// again.
  private static func words(_ outcome: StorageOutcome) -> [UInt64]? {
    switch outcome {
    case .object(let bytes): SimulatedReplica.words(bytes)
    case .absent: []
    default: nil
    }
  }
}
