import Foundation
import Testing

@testable import EntityStore

@Suite(.serialized) struct `Readers beside a writer` {
  /// The variable `LODESTORE_ISOLATION_SECONDS` sets the duration in seconds.
  @Test func `readers never see a part of a write, and no commit goes back, whoever is killed`()
    async throws
  {
    let folder = try TemporaryFolder()
    try Accounts.prepare(folder.storePath)
    let seconds = SeededNumbers.environmentNumber("LODESTORE_ISOLATION_SECONDS") ?? 2
    await #expect(processExitsWith: .success) {
      [
        path = folder.storePath as String, report = folder.path + "/report" as String,
        seconds = seconds as Int, seed = SeededNumbers.runSeed as UInt64
      ] in
      Bank(path: path, report: report, seed: seed).run(seconds: seconds)
    }
    let report = try String(contentsOfFile: folder.path + "/report", encoding: .utf8)
    print(report)
    #expect(report.hasPrefix("done"), "\(report), \(SeededNumbers.replay)")
    try expectSound(folder.storePath)
  }
}

/// A process that starts one writer and six readers of accounts as processes, and kills them at
/// random.
///
/// A reader is killed every 20 milliseconds, the writer sometimes. The parent process only forks,
/// which takes less than a millisecond, and does not open a store.
private final class Bank {
  /// The counters of one process in shared memory; the writer has the first counters.
  struct Teller {
    /// The number of commits that a writer made, or of snapshots that a reader read.
    var count = 0
    /// The newest commit that the process made or saw.
    var commit: UInt64 = 0
  }

  private static let readerCount = 6
  private let path: String
  private let report: String
  private var numbers: SeededNumbers
  private let tellers: UnsafeMutablePointer<Teller>
  private var processes: [pid_t] = []
  private var (killedReaders, killedWriters) = (0, 0)

  init(path: String, report: String, seed: UInt64) {
    (self.path, self.report) = (path, report)
    numbers = SeededNumbers(seed: seed)
    let size = MemoryLayout<Teller>.stride * (Self.readerCount + 1)
    let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0)
    guard let memory, memory != MAP_FAILED else { fatalError("no shared memory") }
    tellers = memory.bindMemory(to: Teller.self, capacity: Self.readerCount + 1)
    tellers.initialize(repeating: Teller(), count: Self.readerCount + 1)
  }

  func run(seconds: Int) {
    for index in 0...Self.readerCount { processes.append(start(index)) }
    let end = Date(timeIntervalSinceNow: Double(seconds))
    while Date() < end {
      usleep(20_000)
      restart(1 + numbers.below(Self.readerCount))
      killedReaders += 1
      if numbers.oneIn(10) {
        restart(0)
        killedWriters += 1
      }
    }
    for index in processes.indices { stop(index) }
    let snapshots = (1...Self.readerCount).reduce(0) { $0 + tellers[$1].count }
    say(
      "done: \(snapshots) snapshots and \(tellers[0].count) commits, \(killedReaders) readers and \(killedWriters) writers killed"
    )
    guard tellers[0].count > 0, snapshots > 0 else { exit(1) }
  }

  /// Forks this process.
  ///
  /// Swift hides `fork`, because the child has only one of the threads and can do little.
  private func start(_ index: Int) -> pid_t {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { fatalError("no fork") }
    let seed = numbers.next()
    let process = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
    guard process == 0 else { return process }
    do {
      if index == 0 {
        try Accounts.transfer(at: path, seed: seed, tellers)
      } else {
        try Accounts.watch(at: path, tellers + index)
      }
    } catch {
      say("process \(index): \(error)")
    }
    _exit(1)
  }

  private func restart(_ index: Int) {
    stop(index)
    processes[index] = start(index)
  }

  /// Kills a process.
  ///
  /// A process that has already ended by itself has found a fault.
  private func stop(_ index: Int) {
    kill(processes[index], SIGKILL)
    var status: Int32 = 0
    guard waitpid(processes[index], &status, 0) == processes[index], status & 0x7f == SIGKILL else {
      if access(report, F_OK) != 0 { say("process \(index) ended with \(status)") }
      for process in processes { kill(process, SIGKILL) }
      exit(1)
    }
  }

  private func say(_ text: String) {
    try? text.write(toFile: report, atomically: true, encoding: .utf8)
  }
}

/// The accounts are a hundred pods whose stars always have the same sum.
///
/// Each pod was last updated as many seconds after 2001 as it has stars, so the index by date
/// orders them by stars.
private enum Accounts {
  static let count = 100
  static let sum = 100_000

  struct Wrong: Error { var what: String }

  static func prepare(_ path: String) throws {
    let store = try Store(at: path, entities: [Pod.self])
    try store.write { transaction in
      try transaction.insert((0..<count).map { pod("\($0)", sum / count) })
    }
    store.close()
  }

  private static func pod(_ name: String, _ stars: Int) -> Pod {
    Pod(name: name, version: "", stars: stars, updatedAt: date(stars))
  }

  private static func date(_ stars: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(stars))
  }

  /// Moves stars between pods until the process is killed.
  static func transfer(
    at path: String, seed: UInt64, _ teller: UnsafeMutablePointer<Bank.Teller>
  ) throws {
    let store = try Store(at: path, entities: [Pod.self])
    var numbers = SeededNumbers(seed: seed)
    try expect(in: store, from: teller)
    while true {
      try store.write { transaction in
        for _ in 0..<3 {
          let amount = numbers.below(500)
          for change in [-amount, amount] {
            let id = RecordID<Pod>(rawValue: UInt64(numbers.below(count) + 1))
            guard var pod = try transaction.fetch(id) else { throw Wrong(what: "no \(id)") }
            pod.stars += change
            pod.updatedAt = date(pod.stars)
            try transaction.update(pod)
          }
        }
      }
      teller.pointee.count += 1
      teller.pointee.commit = try store.read { $0.commitNumber.rawValue }
    }
  }

  /// Expects every write that another process has acknowledged or seen.
  private static func expect(
    in store: Store, from teller: UnsafeMutablePointer<Bank.Teller>
  ) throws {
    let commit = try store.read { $0.commitNumber.rawValue }
    guard commit >= teller.pointee.commit else {
      throw Wrong(what: "commit \(teller.pointee.commit) is lost, \(commit) is the last")
    }
  }

  /// Sums up the stars in one snapshot after the other, by the records and by the index, until the
  /// process is killed.
  static func watch(at path: String, _ teller: UnsafeMutablePointer<Bank.Teller>) throws {
    let store = try Store(at: path, entities: [Pod.self], options: .readOnly)
    while true {
      try store.read { snapshot in
        guard snapshot.commitNumber.rawValue >= teller.pointee.commit else {
          throw Wrong(what: "from \(teller.pointee.commit) back to \(snapshot.commitNumber)")
        }
        teller.pointee.commit = snapshot.commitNumber.rawValue
        let pods = try snapshot.fetch(Pod.all)
        let total = pods.reduce(0) { $0 + $1.stars }
        guard pods.count == count, total == sum else {
          throw Wrong(what: "\(pods.count) records add up to \(total)")
        }
        let walked = try snapshot.fetch(Pod.byDate)
        let stars = walked.map(\.stars)
        guard walked.count == count, stars.reduce(0, +) == sum, stars == stars.sorted(),
          Set(walked) == Set(pods), walked.allSatisfy({ $0.updatedAt == date($0.stars) })
        else { throw Wrong(what: "by the index: \(stars)") }
      }
      teller.pointee.count += 1
    }
  }
}
