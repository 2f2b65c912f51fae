import Foundation
import Testing

/// Calls fail in the commands of kvdump, from the start of the program on.
///
/// Each command must end by itself, with its result or a reported failure, and the store must be
/// whole.
@Suite("Failing calls of commands", .serialized)
struct FailingCommandTests {
  private static let commands = [
    "import", "update", "delete", "compact", "export", "salvage", "verify",
  ]

  @Test func `a command ends with its result or reports its failure`() throws {
    guard let shim = ShimLibrary.path, let program = builtProgram("kvdump") else { return }
    let run = CommandRun(program: program, shim: shim, folder: try FaultFolder())
    try run.prepare()
    var random = SeededGenerator(salt: 4)
    if let fault = FaultSettings.text("LODESTORE_FAULT_COMMAND") {
      let words = fault.split(separator: " ", maxSplits: 1).map(String.init)
      try #require(words.count == 2)
      try run.tryFault(words[1], in: words[0])
    } else if FailingCallTests.wish == "all" {
      for command in Self.commands { try tryAll(run, command) }
    } else {
      let count = FailingCallTests.wish.flatMap { Int($0) }.map { $0 / 5 } ?? 8
      for _ in 0..<count { try tryOne(run, &random) }
    }
    print("\(run.runCount) commands with a failing call, \(run.failures.count) bad")
    for failure in run.failures { Issue.record("\(failure)") }
  }

  private func tryOne(_ run: CommandRun, _ random: inout SeededGenerator) throws {
    let command = Self.commands.randomElement(using: &random) ?? "import"
    let (kind, errors) = FailingCallTests.kinds.randomElement(using: &random) ?? ("write", [EIO])
    let count = try run.callCount(of: kind, in: command)
    guard count > 0 else { return }
    let place = Int.random(in: 1...count, using: &random)
    let error = errors.randomElement(using: &random) ?? EIO
    try run.tryFault(
      "\(kind) \(place) \(error) \(Int.random(in: Self.lengths(kind), using: &random))",
      in: command)
  }

  @Test(arguments: ["export", "compact", "salvage"])
  func `a command whose sync fails leaves no file`(command: String) throws {
    guard let shim = ShimLibrary.path, let program = builtProgram("kvdump") else { return }
    let run = CommandRun(program: program, shim: shim, folder: try FaultFolder())
    try run.prepare()
    let count = try run.callCount(of: "sync", in: command)
    try #require(count > 0)
    for place in 1...count { try run.tryFault("sync \(place) \(EIO) 0", in: command) }
    for failure in run.failures { Issue.record("\(failure)") }
  }

  @Test func `a failure after the replacement of a file reports the replacement`() throws {
    guard let shim = ShimLibrary.path, let program = builtProgram("kvdump") else { return }
    let run = CommandRun(program: program, shim: shim, folder: try FaultFolder())
    try run.prepare()
    let count = try run.callCount(of: "sync", in: "replace")
    let outcomes = try (1...count).map { try run.replacing("sync \($0) \(EIO) 0") }
    #expect(outcomes.contains { $0.isReplaced }, "\(outcomes)")
    for outcome in outcomes {
      #expect(outcome.isReplaced == outcome.errors.contains("was replaced before"), "\(outcome)")
    }
  }

  /// The lengths of the faults of a kind: 0 for once, 1 for good.
  ///
  /// The creation of a thread fails only once. libdispatch, which starts the threads of
  /// asynchronous code, sleeps and tries again until it gets one, even while the program ends.
  private static func lengths(_ kind: String) -> ClosedRange<Int> {
    kind == "thread" ? 0...0 : 0...1
  }

  private func tryAll(_ run: CommandRun, _ command: String) throws {
    for (kind, errors) in FailingCallTests.kinds {
      let count = try run.callCount(of: kind, in: command)
      guard count > 0, let error = errors.first else { continue }
      for place in 1...count {
        for isForGood in Self.lengths(kind) {
          try run.tryFault("\(kind) \(place) \(error) \(isForGood)", in: command)
        }
      }
    }
  }
}

/// Runs kvdump on copies of one store.
final class CommandRun {
  private let program: String
  private let shim: String
  private let folder: FaultFolder
  private(set) var failures: [String] = []
  private(set) var runCount = 0
  private var counts: [String: Int] = [:]

  private var work: String { folder.file("work") }
  private var store: String { "\(work)/s.lodestore" }
  private var original: String { folder.file("original.lodestore") }
  private var more: String { folder.file("more.jsonl") }

  init(program: String, shim: String, folder: FaultFolder) {
    self.program = program
    self.shim = shim
    self.folder = folder
  }

  func prepare() throws {
    try rows(1...60).write(toFile: folder.file("rows.jsonl"), atomically: true, encoding: .utf8)
    try rows(50...90).write(toFile: more, atomically: true, encoding: .utf8)
    let made = try run(
      ["import", original, folder.file("rows.jsonl"), "--entity", "E", "--unique", "k", "--infer"])
    try #require(made.status == 0, "\(made.errors)")
  }

  private func rows(_ keys: ClosedRange<Int>) -> String {
    keys.map { "{\"k\":\($0),\"name\":\"\(String(repeating: "n\($0)", count: 30))\"}" }
      .joined(separator: "\n")
  }

  private func arguments(_ command: String) -> [String] {
    switch command {
    case "import": ["import", store, more, "--entity", "E"]
    case "update": ["update", store, "E", "k > 20", "name=new", "--yes"]
    case "delete": ["delete", store, "E", "k > 40", "--yes"]
    case "compact": ["compact", store, "\(work)/out"]
    case "replace": ["export", store, "E", "\(work)/out", "--force"]
    case "salvage": ["salvage", store, "\(work)/out"]
    case "verify": ["verify", store]
    default: ["export", store, "E", "\(work)/out"]
    }
  }

  /// The number of calls of a kind that the command makes on files of the store's folder.
  func callCount(of kind: String, in command: String) throws -> Int {
    let name = "\(kind) \(command)"
    if let count = counts[name] { return count }
    try restore()
    let report = folder.file("report")
    let outcome = try run(arguments(command), fault: "\(kind) 0 0 0", report: report)
    if outcome.status != 0 { failures.append("\(command) fails by itself: \(outcome.errors)") }
    let words = try String(contentsOfFile: report, encoding: .utf8).split(separator: " ")
    let count = words.first.flatMap { Int($0) } ?? 0
    counts[name] = count
    return count
  }

  func tryFault(_ fault: String, in command: String) throws {
    runCount += 1
    try restore()
    let before = try count()
    let outcome = try run(arguments(command), fault: fault)
    func bad(_ reason: String) {
      failures.append("LODESTORE_FAULT_COMMAND='\(command) \(fault)' repeats: \(reason)")
    }
    if outcome.isSignal { return bad("ended by signal \(outcome.status): \(outcome.errors)") }
    if outcome.status != 0, outcome.errors.isEmpty { bad("fails with \(outcome.status), silently") }
    let names = Set(try FileManager.default.contentsOfDirectory(atPath: work))
    let left = names.subtracting(["s.lodestore", "s.lodestore-lock", "out", "out-lock"])
    if !left.isEmpty, !fault.hasPrefix("unlink") { bad("left behind: \(left.sorted())") }
    let verified = try run(["verify", store])
    if verified.status != 0 { bad("not sound: \(verified.output)\(verified.errors)") }
    let after = try count()
    let done = ["import": "{\"count\":90}", "delete": "{\"count\":40}"][command] ?? before
    // A failed command may have done its work, if its report came too late.
    if after != done, outcome.status == 0 || after != before { bad("\(after) records") }
    guard names.contains("out") else {
      if outcome.status == 0, ["compact", "export", "salvage"].contains(command) {
        bad("made nothing")
      }
      return
    }
    // Only a failed sync must leave no file. Other failures may also prevent the removal of the
    // file.
    if outcome.status != 0, fault.hasPrefix("sync"), fault.hasSuffix(" 0") {
      bad("says failed, and left a file: \(outcome.errors)")
    }
    if command != "export", try run(["verify", "\(work)/out"]).status != 0 {
      bad("the copy is not sound")
    }
  }

  /// Exports over an existing file with a fault.
  ///
  /// Returns whether the file was replaced, and the error output.
  func replacing(_ fault: String) throws -> (isReplaced: Bool, errors: String) {
    try restore()
    try "old".write(toFile: "\(work)/out", atomically: false, encoding: .utf8)
    let outcome = try run(arguments("replace"), fault: fault)
    let isReplaced = try String(contentsOfFile: "\(work)/out", encoding: .utf8) != "old"
    return (isReplaced && outcome.status != 0, outcome.errors)
  }

  private func count() throws -> String {
    try run(["count", store, "E"]).output.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func restore() throws {
    try? FileManager.default.removeItem(atPath: work)
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: original, toPath: store)
  }

  private struct Outcome {
    var status: Int32
    var isSignal: Bool
    var output: String
    var errors: String
  }

  private func run(_ arguments: [String], fault: String? = nil, report: String = "") throws
    -> Outcome
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    if let fault {
      var environment = ProcessInfo.processInfo.environment
      environment["LD_PRELOAD"] = shim
      environment["LODESTORE_FAULT"] = fault
      environment["LODESTORE_FAULT_FOLDER"] = work
      if !report.isEmpty { environment["LODESTORE_FAULT_REPORT"] = report }
      process.environment = environment
    }
    let files = [folder.file("output"), folder.file("errors")]
    for file in files { _ = FileManager.default.createFile(atPath: file, contents: nil) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[0]))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
    try process.run()
    // A command that hangs is killed after a minute.
    let deadline = Date().addingTimeInterval(60)
    while process.isRunning, Date() < deadline { usleep(2_000) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
    return Outcome(
      status: process.terminationStatus, isSignal: process.terminationReason == .uncaughtSignal,
      output: texts[0], errors: texts[1])
  }
}
