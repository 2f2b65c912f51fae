import Foundation
import Testing

/// The N-th system call fails in a session that creates, writes, changes the schema, imports,
/// copies and reopens.
///
/// The process must not end, no commit may be lost, and the file must be whole.
@Suite("Failing calls", .serialized)
struct FailingCallTests {
  /// The kinds of failing calls, with their errors.
  static let kinds: [(kind: String, errors: [Int32])] = [
    ("write", [EIO, ENOSPC, EDQUOT]), ("short", [EIO]), ("sync", [EIO, ENOSPC]), ("msync", [EIO]),
    ("mmap", [ENOMEM, EACCES]), ("malloc", [ENOMEM]), ("open", [EMFILE, EACCES, ENFILE]),
    ("read", [EIO]), ("truncate", [EIO, ENOSPC]), ("rename", [EIO]), ("link", [EIO, ENOSPC]),
    ("unlink", [EACCES]), ("thread", [EAGAIN]), ("lock", [ENOLCK]),
  ]

  /// The number of single faults to try: a few by default, `all` for each call of each kind.
  static let wish = FaultSettings.text("LODESTORE_FAULT_CALLS")

  @Test func `a call that fails once loses no commit and ends no process`() throws {
    guard let shim = ShimLibrary.path, let program = builtProgram("fault-session") else { return }
    let run = FaultRun(program: program, shim: shim, folder: try FaultFolder())
    var random = SeededGenerator(salt: 1)
    if let line = FaultSettings.text("LODESTORE_FAULT_CALL") {
      _ = try run.answer(to: line)
    } else if Self.wish == "all" {
      try tryAll(run, script: "\(FaultSettings.seed % 1_000) 6")
    } else {
      try trySome(run, count: Self.wish.flatMap { Int($0) } ?? 40, &random)
    }
    print(run.summary)
    for failure in run.failures { Issue.record("\(failure)") }
  }

  /// Whether the engine is LMDB 1.0 or later.
  private static var isEngineLater: Bool {
    typealias Version =
      @convention(c) (
        UnsafeMutablePointer<CInt>?, UnsafeMutablePointer<CInt>?, UnsafeMutablePointer<CInt>?
      ) -> UnsafePointer<CChar>?
    guard let symbol = dlsym(nil, "mdb_version") else { return false }
    var major: CInt = 0
    _ = unsafeBitCast(symbol, to: Version.self)(&major, nil, nil)
    return major > 0
  }

  private func trySome(_ run: FaultRun, count: Int, _ random: inout SeededGenerator) throws {
    let script = "\(UInt64.random(in: 0..<1_000, using: &random)) 4"
    let kinds = Self.kinds.filter { $0.kind != "malloc" || !Self.isEngineLater }
    if kinds.count < Self.kinds.count {
      print(
        "skipped: memory that cannot be had, as LMDB 1.0 ends the process by it (mdb_page_malloc)")
    }
    var callCounts: [String: Int] = [:]
    for number in 0..<count {
      let (kind, errors) = kinds[number % kinds.count]
      let callCount = try callCounts[kind] ?? run.answer(to: "\(kind) 0 0 0 \(script)").count
      callCounts[kind] = callCount
      guard callCount > 0 else { continue }
      let error = errors.randomElement(using: &random) ?? EIO
      let place = Int.random(in: 1...callCount, using: &random)
      _ = try run.answer(
        to: "\(kind) \(place) \(error) \(Int.random(in: 0...1, using: &random)) \(script)")
    }
  }

  private func tryAll(_ run: FaultRun, script: String) throws {
    for (kind, errors) in Self.kinds {
      for error in errors {
        for isForGood in 0...1 {
          var number = 0
          repeat {
            number += 1
          } while try run.answer(to: "\(kind) \(number) \(error) \(isForGood) \(script)").hits > 0
        }
      }
      print(run.summary)
    }
  }
}

/// Sessions in a process with the shim, one after the other; a new process after one that has
/// ended.
final class FaultRun {
  private let program: String
  private let shim: String
  private let folder: FaultFolder
  private var process: ShimmedProcess?
  private(set) var failures: [String] = []
  private var sessionCount = 0
  private var hitCount: [String: Int] = [:]
  private var codes: Set<String> = []

  init(program: String, shim: String, folder: FaultFolder) {
    self.program = program
    self.shim = shim
    self.folder = folder
  }

  var summary: String {
    let hits = hitCount.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(sessionCount) sessions with a failing call, \(failures.count) bad: "
      + hits.joined(separator: ", ") + "; errors: " + codes.sorted().joined(separator: ", ")
  }

  /// Runs the session of a line; returns how many calls of the kind there were, and how many
  /// failed.
  func answer(to line: String) throws -> (count: Int, hits: Int) {
    let running = try process ?? start()
    process = running
    do {
      try running.write(line)
      let words = try running.line().split(separator: " ", maxSplits: 3)
      guard words.count >= 3, let count = Int(words[1]), let hits = Int(words[2]) else {
        failures.append("\(line): no answer")
        return (0, 0)
      }
      let told = words.count > 3 ? String(words[3]) : ""
      if words[0] != "ok" { fail(line, told) }
      if hits > 0 {
        sessionCount += 1
        hitCount[String(line.prefix { $0 != " " }), default: 0] += 1
        if words[0] == "ok" {
          codes.formUnion(told.split(separator: "; ").map { String($0.prefix { $0 != "*" }) })
        }
      }
      return (count, hits)
    } catch {
      process = nil
      running.stop()
      fail(line, "the process \(error)")
      return (0, 1)
    }
  }

  private func start() throws -> ShimmedProcess {
    try ShimmedProcess(program, ["calls", folder.file("session")], shim: shim)
  }

  private func fail(_ line: String, _ reason: String) {
    failures.append("LODESTORE_FAULT_CALL='\(line)' repeats: \(reason)")
  }
}
