#if Datasets
  import EntityStore
  import Foundation
  import LMDB
  import LodestoreFormat

  @testable import LodestoreReplicas

  /// One history of machines with real stores, writers and followers, from a seed.
  ///
  /// A loop on one thread runs the tasks of all machines, job by job. The loop owns the bucket, the
  /// network, the clocks and the deaths of processes. A task that calls a store ends the call
  /// before the next job runs. The seed therefore repeats all steps. Only bytes differ from run to run,
  /// because they have times, session numbers and UUIDs.
  final class StoreHistory: @unchecked Sendable {
    /// The kind of the bucket.
    enum Storage {
      case honest
      /// Conditions are ignored from the beginning, so that the probe must tell.
      case overwriting
      /// Conditions are ignored at times, so that the chain must tell.
      case overwritingLater
    }

    enum Outcome: Equatable {
      case sound
      /// A lie of the storage was found.
      case found
      /// A lie of the storage had no effect on replicated writes.
      case harmless
      case failed(String)
    }

    /// How often rare events have happened.
    struct Coverage {
      var jobs = 0
      var requests = 0
      var kills = 0
      var freezes = 0
      var rollbacks = 0
      var takeovers = 0
      var fenced = 0
      var refused = 0
      var bases = 0
      var collections = 0
      var swaps = 0
      var acknowledged = 0
      var garbage = 0

      static func += (sum: inout Coverage, other: Coverage) {
        sum.jobs += other.jobs
        sum.requests += other.requests
        sum.kills += other.kills
        sum.freezes += other.freezes
        sum.rollbacks += other.rollbacks
        sum.takeovers += other.takeovers
        sum.fenced += other.fenced
        sum.refused += other.refused
        sum.bases += other.bases
        sum.collections += other.collections
        sum.swaps += other.swaps
        sum.acknowledged += other.acknowledged
        sum.garbage += other.garbage
      }
    }

    private struct Event {
      var time: Int64
      var number: Int
      var body: () -> Void
    }

    static let jobLimit = 400_000

    let storage: Storage
    let start = ContinuousClock.now
    private let epoch = Date().timeIntervalSinceReferenceDate
    private let length: Int64
    private let folder: String
    private var source: SeededRandom
    private let counter = CallCounter()
    /// The true time since the beginning, in nanoseconds.
    private(set) var time: Int64 = 0
    /// The events to come, the next one last.
    private var events: [Event] = []
    private var lastEvent = 0
    private var folders = 0
    private var machines: [HistoryMachine] = []
    private var lives: [HistoryLife] = []
    private(set) var bucket = HistoryBucket()
    var oracle = HistoryOracle()
    var coverage = Coverage()
    /// A hash of all requests and their fates, to compare two runs.
    private(set) var trace: UInt64 = 0
    /// The requests of the history as text, if it is to be printed.
    var log: [String]?
    /// Faults are over, and all machines come to rest.
    private(set) var isSettling = false
    /// A machine has reported a lie of the storage.
    var hasReport = false
    var lastSerial = 0
    /// The serial numbers of writes that were reported as replicated.
    var acknowledged: Set<Int> = []
    /// The digests that stores of writers have had after their commits.
    private var states: Set<ReplayDigests> = []
    /// The digests that copies have had.
    private var seen: [(name: String, digests: ReplayDigests)] = []

    init(seed: UInt64, seconds: Double = 90, isLogged: Bool = false) throws {
      source = SeededRandom(seed: seed)
      length = Int64(seconds * 1e9)
      log = isLogged ? [] : nil
      storage =
        switch source.below(100) {
        case 0..<3: .overwriting
        case 3..<8: .overwritingLater
        default: .honest
        }
      bucket.overwrites = storage == .overwriting
      folder = Self.root + "/history-\(UUID().uuidString)"
      let years: [Double] = [-10, -1, 0, 0, 1, 10]
      for number in 0..<2 + source.below(3) {
        // One hour more keeps the times of writes, which the system's clock gives, in the past.
        let offset = years[source.below(years.count)] * 31_556_952 + 3_600
        machines.append(
          HistoryMachine(number: number, calendarOffset: offset, folder: try newFolder()))
      }
    }

    deinit { HistoryFiles.remove(folder) }

    /// A folder in memory where the system has one, because nothing here tests syncs.
    private static let root =
      FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()

    func newFolder() throws -> String {
      folders += 1
      let path = "\(folder)/\(folders)"
      try HistoryFiles.make(path)
      return path
    }

    var isHonest: Bool { if case .honest = storage { true } else { false } }
    var calendar: Double { epoch + Double(time) * 1e-9 }

    func fail(_ text: String) {
      note("failed: \(text)")
      oracle.fail(text)
    }

    // MARK: Chance

    func below(_ bound: Int) -> Int { source.below(bound) }

    func random(in range: ClosedRange<Double>) -> Double { .random(in: range, using: &source) }

    func note(_ text: @autoclosure () -> String) {
      guard log != nil else { return }
      log?.append("\(Double(time / 1_000_000) / 1000) \(text())")
    }

    // MARK: Time

    func schedule(after nanoseconds: Int64, _ body: @escaping () -> Void) {
      lastEvent += 1
      let event = Event(time: time + max(nanoseconds, 0), number: lastEvent, body: body)
      let index = events.lastIndex { $0.time > event.time } ?? -1
      events.insert(event, at: index + 1)
    }

    /// Schedules an event that a stopped process sees when it continues.
    func schedule(
      after nanoseconds: Int64, for life: HistoryLife, _ body: @escaping () -> Void
    ) {
      schedule(after: nanoseconds) { [self] in
        if life.isFrozen {
          schedule(after: life.frozenUntil - time, for: life, body)
        } else {
          body()
        }
      }
    }

    // MARK: The run

    /// Runs the history to its end.
    func run() -> Outcome {
      counter.counting {
        for machine in machines { start(machine) }
        schedule(after: length) { [self] in settle() }
        loop { self.isSettling && self.lives.allSatisfy { $0.isOver || $0.isDead } }
        if oracle.violation == nil, !oracle.entries.isEmpty { judge() }
        end()
      }
      coverage.garbage = oracle.garbageCount
      coverage.acknowledged = acknowledged.count
      if storage == .overwriting, bucket.objects[ReplicaName.entry(slot: 1).text] != nil {
        fail("a storage that ignores conditions was used")
      }
      if let violation = oracle.violation { return .failed(violation) }
      return isHonest ? .sound : hasReport ? .found : .harmless
    }

    private func loop(until isOver: () -> Bool) {
      while oracle.violation == nil, !isOver() {
        let ready = lives.filter { $0.executor.count > 0 && !$0.isFrozen }
        if ready.isEmpty {
          guard let event = events.popLast() else { return fail("the history stands still") }
          time = max(time, event.time)
          event.body()
          continue
        }
        let life = ready[below(ready.count)]
        runJob(of: life, at: below(4) == 0 ? below(life.executor.count) : 0)
        if !isSettling { drawFault(of: life) }
        if coverage.jobs > Self.jobLimit { fail("the history does not end") }
      }
    }

    private func runJob(of life: HistoryLife, at index: Int) {
      life.executor.runJob(at: index)
      counter.wait()
      coverage.jobs += 1
    }

    private func start(_ machine: HistoryMachine) {
      let life = HistoryLife(self, machine, number: lives.count)
      lives.append(life)
      life.begin { await life.live() }
    }

    private func settle() {
      note("settles")
      isSettling = true
      bucket.overwrites = false
      for life in lives where !life.isOver { (life.frozenUntil, life.cutUntil) = (0, 0) }
      for machine in machines
      where !lives.contains(where: { $0.machine === machine && !$0.isDead && !$0.isOver }) {
        start(machine)
      }
    }

    private func judge() {
      do {
        let machine = HistoryMachine(
          number: machines.count, calendarOffset: 3_600, folder: try newFolder())
        let life = HistoryLife(self, machine, number: lives.count)
        lives.append(life)
        life.begin { await life.judge() }
        loop { life.isOver }
      } catch { fail("\(error)") }
      guard isHonest else { return }
      for (name, digests) in seen where !states.contains(digests) {
        fail("\(name) had a state that no writer has had")
      }
    }

    /// Ends all tasks.
    private func end() {
      for life in lives { life.die() }
      var count = 0
      while let life = lives.first(where: { $0.executor.count > 0 }) {
        runJob(of: life, at: 0)
        count += 1
        if count > 100_000 { return fail("the tasks of a process do not end") }
      }
      events = []
      if let life = lives.first(where: { !$0.isOver }) {
        fail("a task of machine \(life.machine.number) waits for ever")
      }
    }

    // MARK: Faults

    private func drawFault(of life: HistoryLife) {
      guard !life.isDead, !life.isOver else { return }
      switch below(3_000) {
      case 0, 1: kill(life)
      case 2, 3: freeze(life)
      case 4: life.cutUntil = time + Int64(random(in: 1...60) * 1e9)
      case 5, 6: backUp(life)
      case 7 where storage == .overwritingLater: bucket.overwrites = true
      case 8 where storage == .overwritingLater: bucket.overwrites = false
      default: break
      }
    }

    private func freeze(_ life: HistoryLife) {
      let duration = Int64(random(in: 5...200) * 1e9)
      note("machine \(life.machine.number) is stopped for \(duration / 1_000_000_000) s")
      coverage.freezes += 1
      life.frozenUntil = time + duration
      schedule(after: duration) {}
    }

    private func backUp(_ life: HistoryLife) {
      guard life.hasStore, let copy = try? newFolder() else { return }
      do {
        try HistoryFiles.copy(life.folder, to: copy)
        life.machine.backup = copy
      } catch { fail("\(error)") }
    }

    /// A process dies at a step of a writer or a follower.
    func step(_ step: String, of life: HistoryLife) {
      note("machine \(life.machine.number): \(step)")
      if step == "collected" { coverage.collections += 1 }
      if step == "baseWritten" { coverage.bases += 1 }
      if !isSettling, !life.isDead, below(60) == 0 { kill(life) }
    }

    /// Ends a process; the machine's folder is as the process leaves it.
    func kill(_ life: HistoryLife) {
      note("machine \(life.machine.number) dies")
      coverage.kills += 1
      let machine = life.machine
      do {
        let copy = try newFolder()
        try HistoryFiles.copy(life.folder, to: copy)
        machine.folder = copy
        try recordStore(in: copy)
      } catch { fail("after a death: \(error)") }
      life.die()
      if let backup = machine.backup, below(6) == 0 {
        coverage.rollbacks += 1
        (machine.folder, machine.backup, machine.isRolledBack) = (backup, nil, true)
      }
      schedule(after: Int64(random(in: 0...40) * 1e9)) { [self] in
        if !isSettling { start(machine) }
      }
    }

    // MARK: States

    /// Records the state of a writer's store.
    func record(_ store: Store) throws {
      states.insert(try store.read { try $0.replayFacts().digests })
    }

    /// Records the state of a dead process's store, whose last commit may be unknown.
    private func recordStore(in folder: String) throws {
      let own = "\(folder)/store.lodestore"
      let path = try HistoryFiles.exists(own) ? own : FollowerFolder("\(folder)/copy").current
      guard let path else { return }
      let store = try Store(at: path, entities: [], options: .readOnly)
      defer { store.close() }
      if try ReplicaMark.of(store)?.role != .follower { try record(store) }
    }

    /// Records the state of a copy, which must be one of a writer.
    func observe(_ store: Store, _ name: String) throws {
      seen.append((name, try store.read { try $0.replayFacts().digests }))
    }

    // MARK: The network

    func cutsDownload() -> Bool { !isSettling && below(12) == 0 }

    /// Sends a request of a life, which `done` gets the answer of.
    func transmit(
      _ call: HistoryCall, of life: HistoryLife, _ done: @escaping @Sendable (HistoryResult) -> Void
    ) {
      coverage.requests += 1
      let isWrite = call.operation == .put || call.operation == .delete
      let unclear = HistoryResult.failure(call.error(.cut, mayHaveHappened: isWrite))
      let (out, back) = (latency(), latency())
      func answer(_ result: HistoryResult, after wait: Int64) {
        schedule(after: wait, for: life) { done(result) }
      }
      func execute(after wait: Int64, _ body: @escaping (HistoryResult) -> Void) {
        schedule(after: wait) { [self] in body(self.execute(call)) }
      }
      var fate = isSettling ? 100 : below(100)
      if life.cutUntil > time { fate = 0 }
      trace(call, life, fate)
      switch fate {
      case 0, 1: answer(unclear, after: Int64(random(in: 0.5...10) * 1e9))
      case 2, 3:
        execute(after: out) { _ in answer(unclear, after: back) }
      case 4, 5:
        answer(unclear, after: out + back)
        execute(after: Int64(random(in: 1...100) * 1e9)) { _ in }
      case 6:
        let asked: Duration? = below(2) == 0 ? .seconds(below(5)) : nil
        answer(.failure(call.error(.throttled(retryAfter: asked))), after: out + back)
      case 7: answer(.failure(call.error(.unavailable)), after: out + back)
      case 8 where call.operation == .put:
        answer(.failure(call.error(.conflictAgain)), after: out + back)
      default: execute(after: out) { answer($0, after: back) }
      }
    }

    private func latency() -> Int64 {
      let isSlow = !isSettling && below(40) == 0
      return Int64(random(in: isSlow ? 1...30 : 0.001...0.05) * 1e9)
    }

    private func execute(_ call: HistoryCall) -> HistoryResult {
      let existed = bucket.objects[call.key] != nil
      let result = bucket.execute(call)
      if isHonest, case .success = result { oracle.observe(call, existed: existed, in: bucket) }
      return result
    }

    private func trace(_ call: HistoryCall, _ life: HistoryLife, _ fate: Int) {
      let name = ReplicaName(call.key)
      note("machine \(life.machine.number): \(call.operation) \(call.key) fate \(fate)")
      for word in [
        UInt64(life.number), UInt64(fate), UInt64(bitPattern: time), name?.collectedSlot ?? 0,
        UInt64(call.operation.rawValue.utf8.first ?? 0),
      ] { trace = mix(trace, word) }
    }
  }
#endif
