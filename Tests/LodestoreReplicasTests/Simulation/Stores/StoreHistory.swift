#if Datasets
  import EntityStore
  import Foundation
  import LMDB
  import LodestoreFormat
  import Synchronization

  @testable import LodestoreReplicas

  /// One history of machines with real stores, writers and followers, from a seed.
  ///
  /// A loop on one thread runs the tasks of all machines, job by job. The loop owns the bucket, the
  /// network, the clocks and the deaths of processes. Calls of stores run on this thread, too, so
  /// the seed repeats all steps. Only bytes differ from run to run, because they have times,
  /// session numbers and UUIDs.
  final class StoreHistory: @unchecked Sendable {
    /// The kind of the storage.
    enum Storage {
      case honest
      /// Lists are older than the objects.
      case lagging
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

    /// Rare events, which enough histories must have.
    enum Event: String, CaseIterable {
      case jobs, requests, kills, freezes, rollbacks, takeovers, standbys, fenced, refused, bases
      case baseEntries, collections, swaps, mergedReads, restores, pointsInTime, acknowledged
      case garbage, parts, lostDisks, lateEntries
    }

    private struct Wait {
      var time: Int64
      var number: Int
      var body: () -> Void
    }

    private static let jobLimit = 400_000
    /// A time by which every request has arrived, in nanoseconds.
    private static let lateness: Int64 = 150_000_000_000

    let storage: Storage
    let start = ContinuousClock.now
    /// The time of the calendar at the beginning, in seconds since 2001.
    private static let epoch = 800_000_000.0
    private let length: Int64
    /// The factor by which faults are rarer than in the roughest histories.
    ///
    /// Calm histories have many slots.
    let calm: Int
    private let folder: String
    private var source: SeededRandom
    /// The true time since the beginning, in nanoseconds.
    private(set) var time: Int64 = 0
    /// The number of times that stores have read the calendar.
    private var readings = 0
    /// The events to come, the next one last.
    private var waits: [Wait] = []
    private var lastWait = 0
    private var folders = 0
    private var machines: [HistoryMachine] = []
    private var lives: [HistoryLife] = []
    /// The process whose task runs.
    private var running: HistoryLife?
    var bucket = HistoryBucket()
    var oracle = HistoryOracle()
    private(set) var coverage: [Event: Int] = [:]
    /// A hash of all requests and their fates, to compare two runs.
    var trace: UInt64 = 0
    /// The events of the history as text, if they are to be printed.
    private let isLogged: Bool
    private(set) var log: [String] = []
    /// Faults are over, and all machines come to rest.
    private(set) var isSettling = false
    /// A machine has reported a lie of the storage.
    var hasReport = false
    /// The entities of the program, which gets a new version in some histories.
    private(set) var entities: [any Entity.Type] = [Note.self]
    var lastSerial = 0
    /// The number of the last entry that was delayed.
    var lastLate = 0
    /// The serial numbers of writes that were reported as replicated.
    var acknowledged: Set<Int> = []
    /// The writes of fenced stores that were not exported as diverged.
    var fencedWrites: [(name: String, serials: Set<Int>)] = []
    /// The digests that stores of writers have had after their commits.
    private var states: Set<ReplayDigests> = []
    /// The digests of records alone, because no history has the values of buckets between entries.
    private var recordStates: Set<[[UInt8]: ContentDigest]> = []
    /// The digests that copies have had, and whether they have the buckets of the same state.
    private var seen: [(name: String, digests: ReplayDigests, hasBuckets: Bool)] = []

    init(seed: UInt64, seconds: Double = 90, isLogged: Bool = false) throws {
      source = SeededRandom(seed: seed)
      length = Int64(seconds * 1e9)
      self.isLogged = isLogged
      storage =
        switch source.below(100) {
        case 0..<3: .overwriting
        case 3..<8: .overwritingLater
        case 8..<13: .lagging
        default: .honest
        }
      bucket.overwrites = storage == .overwriting
      calm = [1, 3, 10][source.below(3)]
      folder = HistoryFiles.root + "/history-\(UUID().uuidString)"
      let years: [Double] = [-10, -1, 0, 0, 1, 10]
      for number in 0..<2 + source.below(3) {
        let offset = years[source.below(years.count)] * 31_556_952 + Double(source.below(60))
        machines.append(
          HistoryMachine(number: number, calendarOffset: offset, folder: try newFolder()))
      }
    }

    func newFolder() throws -> String {
      folders += 1
      let path = "\(folder)/\(folders)"
      try HistoryFiles.make(path)
      return path
    }

    /// Whether no machine may report a fault of the storage.
    var isHonest: Bool { storage == .honest }
    /// Whether each slot has one entry for ever.
    var keepsConditions: Bool { storage == .honest || storage == .lagging }
    var calendar: Double { Self.epoch + Double(time) * 1e-9 }

    func fail(_ text: String) {
      note("failed: \(text)")
      oracle.fail(text)
    }

    func count(_ event: Event, _ number: Int = 1) { coverage[event, default: 0] += number }

    func note(_ text: @autoclosure () -> String) {
      if isLogged { log.append("\(Double(time / 1_000_000) / 1000) \(text())") }
    }

    // MARK: Chance

    func below(_ bound: Int) -> Int { source.below(bound) }

    func random(in range: ClosedRange<Double>) -> Double { .random(in: range, using: &source) }

    // MARK: Time

    func schedule(after nanoseconds: Int64, _ body: @escaping () -> Void) {
      lastWait += 1
      let wait = Wait(time: time + max(nanoseconds, 0), number: lastWait, body: body)
      let index = waits.lastIndex { $0.time > wait.time } ?? -1
      waits.insert(wait, at: index + 1)
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

    /// The time that the store of the running process reads; no two readings are equal.
    private func storeTime() -> Double {
      readings += 1
      return calendar + (running?.machine.calendarOffset ?? 0) + Double(readings) * 1e-6
    }

    // MARK: The run

    /// Runs the history to its end.
    func run() -> Outcome {
      // Ended tasks keep the history in memory, so its `deinit` could not remove the files.
      defer { HistoryFiles.remove(folder) }
      let thread = OwnedThread(
        now: { [unowned self] in storeTime() },
        later: { [unowned self] resumption in
          guard let running else { return fail("a call of a store belongs to no process") }
          running.executor.enqueue(resumption)
        })
      thread.own {
        // Mostly the first machine begins the replica before the others start.
        let delay: ClosedRange<Double> = below(4) == 0 ? 0...0 : 0.1...10
        for machine in machines {
          schedule(after: machine.number == 0 ? 0 : Int64(random(in: delay) * 1e9)) { [self] in
            start(machine)
          }
        }
        schedule(after: length) { [self] in settle() }
        if below(3) == 0 {
          schedule(after: Int64(random(in: 5...80) * 1e9)) { [self] in
            note("the program has a new version")
            entities = [Note.self, HistoryLabel.self]
          }
        }
        loop { self.isSettling && self.lives.allSatisfy { $0.isOver || $0.isDead } }
        // All requests that are late arrive before the judgement, which restores more than once.
        var isQuiet = false
        schedule(after: Self.lateness) { isQuiet = true }
        loop { isQuiet }
        if oracle.violation == nil, !oracle.entries.isEmpty { judge() }
        end()
      }
      count(.garbage, oracle.garbageCount)
      count(.parts, oracle.partCount)
      count(.acknowledged, acknowledged.count)
      if storage == .overwriting, bucket.objects[ReplicaName.entry(slot: 1).text] != nil {
        fail("a storage that ignores conditions was used")
      }
      if let violation = oracle.violation { return .failed(violation) }
      return isHonest ? .sound : hasReport ? .found : .harmless
    }

    private func loop(until isOver: () -> Bool) {
      while oracle.violation == nil, !isOver() {
        let ready = lives.count { $0.executor.count > 0 && !$0.isFrozen }
        if ready == 0 {
          guard let wait = waits.popLast() else { return fail("the history stands still") }
          time = max(time, wait.time)
          wait.body()
          continue
        }
        var index = below(ready)
        let life = lives.first { life in
          guard life.executor.count > 0, !life.isFrozen else { return false }
          index -= 1
          return index < 0
        }
        guard let life else { return }
        step(life, at: below(4) == 0 ? below(life.executor.count) : 0)
        if !isSettling { drawFault(of: life) }
        if coverage[.jobs, default: 0] > Self.jobLimit { fail("the history does not end") }
      }
    }

    private func step(_ life: HistoryLife, at index: Int) {
      running = life
      life.executor.run(at: index)
      running = nil
      count(.jobs)
    }

    private func start(_ machine: HistoryMachine) {
      let life = newLife(machine)
      life.begin { await life.live() }
    }

    private func newLife(_ machine: HistoryMachine) -> HistoryLife {
      let life = HistoryLife(self, machine, number: lives.count)
      lives.append(life)
      return life
    }

    private func settle() {
      note("settles")
      isSettling = true
      if storage == .overwritingLater { bucket.overwrites = false }
      for life in lives { (life.frozenUntil, life.cutUntil) = (0, 0) }
      for machine in machines
      where !lives.contains(where: { $0.machine === machine && !$0.isDead && !$0.isOver }) {
        start(machine)
      }
    }

    private func judge() {
      do {
        let machine = HistoryMachine(
          number: machines.count, calendarOffset: 0, folder: try newFolder())
        let life = newLife(machine)
        life.begin { await life.judge() }
        loop { life.isOver }
      } catch { fail("\(error)") }
      guard keepsConditions else { return }
      for (name, digests, hasBuckets) in seen {
        let isKnown =
          hasBuckets
          ? states.contains(digests) : recordStates.contains(digests.contentDigests)
        if isKnown { continue }
        fail("\(name) had a state that no writer has had")
      }
    }

    /// Ends all tasks.
    private func end() {
      for life in lives { life.die() }
      var count = 0
      while let life = lives.first(where: { $0.executor.count > 0 }) {
        step(life, at: 0)
        count += 1
        if count > 100_000 { return fail("the tasks of a process do not end") }
      }
      waits = []
      if let life = lives.first(where: { !$0.isOver }) {
        fail("a task of \(life.name) waits for ever")
      }
      // Processes and late entries refer to their history.
      for machine in machines { machine.late = [] }
      (lives, machines) = ([], [])
    }

    /// Ends a process; the machine's folder is as the process leaves it.
    func kill(_ life: HistoryLife) {
      if life.isDead || life.isOver { return }
      note("\(life.name) dies")
      count(.kills)
      let machine = life.machine
      do {
        let copy = try newFolder()
        try HistoryFiles.copy(life.folder, to: copy)
        machine.folder = copy
        try recordStore(in: copy)
      } catch { fail("after a death: \(error)") }
      life.die()
      if let backup = machine.backup, below(2) == 0 {
        count(.rollbacks)
        (machine.folder, machine.backup, machine.isRolledBack) = (backup, nil, true)
      } else if below(12) == 0, bucket.objects.keys.contains(where: { $0.hasPrefix("log/") }) {
        // An empty replica belongs to the store that began it.
        loseDisk(of: machine)
      }
      schedule(after: Int64(random(in: 0...40) * 1e9)) { [self] in
        if !isSettling { start(machine) }
      }
    }

    // MARK: States

    /// Records the state of a writer's store.
    func record(_ store: Store) throws {
      let digests = try HistoryContent.digests(of: store)
      if states.insert(digests).inserted { recordStates.insert(digests.contentDigests) }
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
    ///
    /// - Parameter hasBuckets: Whether the buckets must be those of the same state.
    func observe(_ store: Store, _ name: String, hasBuckets: Bool = true) throws {
      seen.append((name, try HistoryContent.digests(of: store), hasBuckets))
    }
  }
#endif
