@testable import LodestoreReplicas

/// One history of processes that share a bucket, from a seed.
///
/// A loop draws which process moves: it sends a request, the storage executes the request, or the
/// answer arrives. Between these moves processes crash, stall, take over and collect.
final class Simulation {
  struct Options {
    /// The number of draws.
    var length = 2000
    /// The years by which clocks differ, on which nothing else may depend.
    var clockYears: UInt64 = 10
  }

  /// How often rare events have happened, to see that histories reach them.
  struct Coverage {
    var takeovers = 0
    var collections = 0
    var adopted = 0
    var fenced = 0
    var refused = 0
    var collectedWriters = 0
    var swaps = 0

    mutating func add(_ other: Coverage) {
      takeovers += other.takeovers
      collections += other.collections
      adopted += other.adopted
      fenced += other.fenced
      refused += other.refused
      collectedWriters += other.collectedWriters
      swaps += other.swaps
    }
  }

  enum Storage {
    case honest
    /// The storage begins to overwrite later, so the chain must tell.
    case overwritingLater
    /// The storage loses an object that it has just refused to overwrite.
    case losing
  }

  /// The end of a history.
  enum Outcome: Equatable {
    case sound
    /// A lie of the storage was found.
    case found
    /// A lie of the storage had no effect on replicated writes.
    case harmless
    /// The protocol failed.
    case failed(String)
  }

  let storage: Storage
  let options: Options
  var random: SeededRandom
  var bucket = SimulatedBucket()
  var oracle = ChainOracle()
  var processes: [SimulatedProcess] = []
  /// Requests that the storage executes although their processes have abandoned them.
  var late: [StorageRequest] = []
  var tick = 0
  /// Faults of the network, crashes and stalls are off while the history comes to its end.
  var isSettling = false
  /// A process has reported damage or divergence.
  var hasReport = false
  /// A hash of all moves, to compare two runs.
  private(set) var trace: UInt64 = 0
  /// How often processes take over, in 256 draws.
  var haste = 1
  var coverage = Coverage()
  private var identities: UInt64 = 0
  /// The number of collectors, which are the first processes.
  private let collectorCount: Int

  init(seed: UInt64, options: Options = Options()) {
    self.options = options
    random = SeededRandom(seed: seed)
    storage =
      switch random.below(100) {
      case 0..<6: .overwritingLater
      case 6..<8: .losing
      default: .honest
      }
    collectorCount = if case .honest = storage { 1 + random.below(2) } else { 0 }
    for index in 0..<2 + random.below(4) + collectorCount {
      add(isCollector: index < collectorCount)
    }
  }

  var isHonest: Bool {
    if case .honest = storage { true } else { false }
  }

  func newIdentity() -> UInt64 {
    identities += 1
    return identities
  }

  @discardableResult func add(isCollector: Bool = false) -> SimulatedProcess {
    let years = random.below(Int(2 * options.clockYears) + 1)
    let process = SimulatedProcess(
      number: processes.count, isCollector: isCollector, identity: newIdentity(),
      clock: UInt64(years) &* 31_556_952)
    processes.append(process)
    return process
  }

  func note(_ event: UInt64) { trace = mix(trace, event) }

  /// Runs the history to its end.
  func run() -> Outcome {
    while tick < options.length, oracle.violation == nil {
      tick += 1
      draw()
    }
    // Nobody can restore what a storage has lost.
    if case .losing = storage { return outcome }
    return oracle.violation == nil ? settle() : outcome
  }

  var outcome: Outcome {
    if let violation = oracle.violation { return .failed(violation) }
    return isHonest ? .sound : hasReport ? .found : .harmless
  }

  /// Draws the next event.
  private func draw() {
    let process = processes[random.below(processes.count)]
    switch random.below(256) {
    case 0..<2: crash(process)
    case 2..<4: process.stalledUntil = tick + 10 + random.below(options.length)
    case 20..<28 where collectorCount > 0: beginCollection(processes[random.below(collectorCount)])
    case 64..<64 + haste where process.stalledUntil <= tick: beginTakeover(process)
    case 12..<16: executeLate()
    case 16..<18: process.copy = (process.store, process.isWriter)
    case 18 where tick * 3 > options.length:
      if case .overwritingLater = storage { bucket.overwrites = true }
      if case .losing = storage { bucket.losesNext = true }
    case 19: if case .overwritingLater = storage { bucket.overwrites = false }
    default: if process.stalledUntil <= tick { move(process) }
    }
  }

  /// Ends a process, which loses its volatile part, while its request may still be executed.
  func crash(_ process: SimulatedProcess) {
    note(1)
    if let sent = process.sent, sent.outcome == nil, random.below(2) == 0 {
      late.append(sent.request)
    }
    process.sent = nil
    process.task = .down
    process.fence = nil
    process.floor = .none
    process.shippedCount = nil
    // On a storage that overwrites, an own entry after the recorded place may be another one of the
    // same writes, which this simulation cannot judge.
    defer { if isHonest, process.isWriter { process.store.position = process.store.recorded } }
    if isHonest, let copy = process.copy, random.below(8) == 0 {
      process.store = copy.store
      process.isWriter = copy.isWriter
      process.isRolledBack = true
      // The old copy gets writes with the numbers of those that the log has.
      guard copy.isWriter, random.below(2) == 0 else { return }
      for _ in 0...random.below(8) { process.store.write(random.next()) }
    }
  }

  private func executeLate() {
    guard !late.isEmpty else { return }
    _ = execute(late.remove(at: random.below(late.count)))
  }

  func execute(_ request: StorageRequest) -> StorageOutcome {
    let outcome = bucket.execute(request)
    if isHonest { oracle.observe(request, outcome, in: bucket) }
    return outcome
  }

  /// Makes one move: a request is sent or executed, or its answer arrives.
  func move(_ process: SimulatedProcess) {
    guard var sent = process.sent else { return act(process) }
    if let outcome = sent.outcome {
      process.sent = nil
      process.receive(outcome, to: sent.request)
      if isHonest, case .get(.base(_, _, .file)) = sent.request, process.store.position != nil {
        oracle.check(process.store, "process \(process.number) with a base")
      }
      return
    }
    switch sent.fate {
    case .answered: sent.outcome = execute(sent.request)
    case .lost: sent.outcome = .unclear
    case .answerLost:
      _ = execute(sent.request)
      sent.outcome = .unclear
    case .late:
      late.append(sent.request)
      sent.outcome = .unclear
    }
    process.sent = sent
  }

  func send(_ request: StorageRequest, by process: SimulatedProcess) {
    note(request.traceWord)
    var fate = SimulatedProcess.Fate.answered
    if !isSettling {
      switch random.below(32) {
      case 0: fate = .lost
      case 1: fate = .answerLost
      case 2: fate = .late
      default: break
      }
    }
    process.sent = SimulatedProcess.Sent(request: request, fate: fate, outcome: nil)
    stall(process, before: request)
  }

  /// Stalls a process through takeovers and collections while its request is on the way.
  ///
  /// A reader that sleeps as long as a writer may meet the writer's entry in a collected slot. A
  /// collector that stalls leaves a base whose entry it has deleted.
  private func stall(_ process: SimulatedProcess, before request: StorageRequest) {
    if isSettling { return }
    switch request {
    case .putIfAbsent(.entry, _) where random.below(16) == 0:
      process.stalledUntil = tick + 50 + random.below(options.length)
      haste = 64
    case .get(.entry(let slot)):
      let writer = processes.first { $0.stalledUntil > tick && $0.isStoring(slot) }
      if let writer, random.below(16) == 0 {
        process.stalledUntil = writer.stalledUntil + random.below(32)
      }
    case .delete(.base) where random.below(8) == 0:
      process.stalledUntil = tick + random.below(200)
    default: break
    }
  }
}

extension StorageRequest {
  /// A number for the trace, without the bytes, which hold times.
  fileprivate var traceWord: UInt64 {
    switch self {
    case .get(let name): name.traceWord &* 8
    case .putIfAbsent(let name, _): name.traceWord &* 8 &+ 1
    case .delete(let name): name.traceWord &* 8 &+ 2
    case .list: 3
    }
  }
}

extension ReplicaName {
  fileprivate var traceWord: UInt64 {
    if case .floor(let number) = self { return number }
    return (collectedSlot ?? 0) &+ 1000
  }
}
