import Foundation
import LodestoreSystem
import Synchronization
import Testing

@testable import LodestoreWeb

/// The cases that run; guarded by their lock.
private final class RunningCases: Sendable {
  private let numbers = Mutex<[Int]>([])

  /// Adds the number of a case, and returns the numbers of all running cases.
  func add(_ number: Int) -> [Int] {
    numbers.withLock { numbers in
      numbers.append(number)
      return numbers
    }
  }

  func remove(_ number: Int) { numbers.withLock { $0.removeAll { $0 == number } } }
}

/// Hostile answers of every kind are read in a separate process.
private enum HostileRuns {
  /// The largest allowed growth of the memory, in megabytes.
  private static let memoryLimit = 64

  static var seed: UInt64 { number("LODESTORE_SEED") ?? .random(in: 0...UInt64(UInt32.max)) }

  /// The number of answers: 24 of each kind by default.
  ///
  /// Long runs take a tenth of `LODESTORE_CASES`, because many answers need a wait.
  static var count: Int {
    max(
      Int(clamping: (number("LODESTORE_CASES") ?? 0) / 10), 24 * HostileKind.allCases.count)
  }

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }

  /// A wrong outcome of reading an answer.
  struct Fault: Error {
    var text: String
  }

  /// Reads the pages of each answer, several at a time, and writes each result into a file.
  static func run(_ file: String, seed: UInt64, count: Int) async throws {
    let current = RunningCases()
    let server = try LoopbackServer { request in
      guard let number = Int(request.path.dropFirst("/case/".count)) else { return .json("[]") }
      var hostile = HostileAnswer(number, seed: seed)
      return hostile.answer(to: request)
    }
    // Memory that only the first request allocates does not count as growth.
    _ = try await WebPages(server.url("/")).all()
    let start = peakMemoryInMegabytes
    // A hang ends the process by a signal, and the file of results shows the running cases.
    alarm(UInt32(clamping: 120 + count / 5))
    var outcomes: [String: Int] = [:]
    do {
      try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<count {
          if number >= 8, let outcome = try await group.next() {
            outcomes[outcome, default: 0] += 1
          }
          group.addTask {
            let running = current.add(number)
            try write(
              "running \(running.map { "\($0) \(HostileAnswer($0, seed: seed).kind)" })", file)
            defer { current.remove(number) }
            return try await take(server.url("/case/\(number)"), number, seed)
          }
        }
        for try await outcome in group { outcomes[outcome, default: 0] += 1 }
      }
    } catch {
      try write("\(error)", file)
      exit(9)
    }
    alarm(0)
    let memory = peakMemoryInMegabytes - start
    let isBounded = memory < memoryLimit
    try write(
      "\(isBounded ? "done" : "too much memory"): \(memory) MB over \(start), \(outcomes)", file)
  }

  /// Reads one answer, and describes how it ended.
  private static func take(_ url: URL, _ number: Int, _ seed: UInt64) async throws -> String {
    let clock = ContinuousClock()
    let start = clock.now
    let options = WebPages.Options.with {
      $0.requestTimeout = .milliseconds(400)
      $0.transferTimeout = .milliseconds(800)
      $0.retries = 0
      $0.pageByteLimit = 1 << 20
      $0.pageLimit = 3
    }
    let hostile = HostileAnswer(number, seed: seed)
    let outcome: String
    do {
      let pages = try await WebPages(url, paging: .linkHeader, options: options).all()
      let isPage = pages.first?.content == Data(HostileAnswer.page)
      guard isPage || hostile.mayBeAnotherPage else {
        throw Fault(text: "\(number) \(hostile.kind): taken as a page")
      }
      outcome = "page"
    } catch let error as WebSourceError {
      guard error.message.hasPrefix("cannot ") else {
        throw Fault(text: "\(number) \(hostile.kind): \(error)")
      }
      outcome = error.code.description
    }
    let taken = start.duration(to: clock.now)
    guard taken < .seconds(30) else { throw Fault(text: "\(number) \(hostile.kind): \(taken)") }
    return outcome
  }

  private static func write(_ text: String, _ file: String) throws {
    try Data(text.utf8).write(to: URL(filePath: file))
  }

  /// The largest memory use of this process; 0 if the system does not report it.
  static var peakMemoryInMegabytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0)
      / 1_024
  }

  /// A page of hundreds of megabytes that is small on the wire, under a limit of 16 MiB.
  static func inflate(_ file: String, coding: String) async throws {
    let server = try LoopbackServer { request in
      if request.path == "/" { return .json("[]") }
      let start = coding == "gzip" ? Answer.gzipHead : [0x78, 0x9C]
      let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n\r\n"
      return .endless(Array(head.utf8) + start + Answer.zerosStart, Answer.zeros)
    }
    _ = try await WebPages(server.url("/")).all()
    let start = peakMemoryInMegabytes
    alarm(120)
    let pages = WebPages(try server.url("/bomb"), options: .with { $0.pageByteLimit = 16 << 20 })
    var outcome = "a page"
    do { _ = try await pages.all() } catch let error as WebSourceError { outcome = "\(error.code)" }
    alarm(0)
    let memory = peakMemoryInMegabytes - start
    try write("\(outcome)\(memory < memoryLimit ? "" : ", \(memory) MB of memory")", file)
  }
}

@Suite(.serialized) struct `A hostile server` {
  private let file = FileManager.default.temporaryDirectory
    .appending(path: "hostile-\(UUID().uuidString)").path()

  private func outcome() -> String {
    defer { try? FileManager.default.removeItem(atPath: file) }
    return (try? String(contentsOfFile: file, encoding: .utf8)) ?? "nothing"
  }

  @Test func `a hostile server gets errors in bounded time and memory, and ends no process`()
    async
  {
    let seed = HostileRuns.seed
    let count = HostileRuns.count
    await #expect(processExitsWith: .success) {
      [file = file as String, seed = seed as UInt64, count = count as Int] in
      try await HostileRuns.run(file, seed: seed, count: count)
    }
    let outcome = outcome()
    #expect(outcome.hasPrefix("done"), "\(outcome), LODESTORE_SEED=\(seed)")
    print("Hostile answers: \(count), \(outcome)")
  }

  @Test(arguments: ["gzip", "deflate"])
  func `a hostile server cannot fill memory by compressed answers`(_ coding: String) async {
    await #expect(processExitsWith: .success) {
      [file = file as String, coding = coding as String] in
      try await HostileRuns.inflate(file, coding: coding)
    }
    #expect(outcome() == "pageTooLarge")
  }
}
