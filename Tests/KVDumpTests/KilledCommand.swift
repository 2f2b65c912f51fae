// Whole Foundation: `Process` is not in FoundationEssentials.
import Foundation
import Testing

@testable import KVDumpCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A command that is killed at a random time, and the possible results.
struct KilledCommand {
  /// The command's name, which is part of the names of files next to the store.
  let name: String
  let arguments: [String]
  /// The file that it makes.
  var output: String?
  /// The exported contents that a kill may leave in the store, in the order in which they occur.
  ///
  /// The last content is that after the whole command.
  var contents: [String] = []
  /// The bytes of the file that the command makes; `nil` if that file is a store.
  var outputBytes: Data?
  /// The exported contents that a store made by the command may have, in the order in which they
  /// occur.
  var outputContents: [String] = []
  /// The duration of the command in microseconds.
  var microseconds = 0

  var isReplacing: Bool { arguments.contains("--force") }
  /// Whether the command imports all pages.
  var isImport: Bool { arguments.contains("INPUTS") }
  var isDryRun: Bool { arguments.contains("--dry-run") }

  /// Makes a command from its name and arguments.
  ///
  /// The arguments `STORE`, `INPUTS`, `ONE` and `OUT` stand for paths.
  init(_ name: String, _ arguments: String..., output: String? = nil) {
    self.name = name
    self.arguments = arguments
    self.output = output
  }

  static let all = [
    KilledCommand("import", "import", "STORE", "INPUTS", "--entity", "E", "--unique", "k"),
    KilledCommand("import --mirror", "import", "STORE", "INPUTS", "--entity", "E", "--mirror"),
    KilledCommand("delete", "delete", "STORE", "E", "v < 40", "--yes"),
    KilledCommand("update", "update", "STORE", "E", "--all", "v:=k * 2", "--yes"),
    KilledCommand(
      "import --index", "import", "STORE", "ONE", "--entity", "E", "--unique", "k", "--index",
      "t,v"),
    KilledCommand(
      "import of a new store", "import", "OUT", "INPUTS", "--entity", "E", "--unique", "k",
      "--infer", output: "new.lodestore"),
    KilledCommand(
      "import --dry-run", "import", "STORE", "INPUTS", "--entity", "E", "--unique", "k",
      "--dry-run"),
    KilledCommand("compact", "compact", "STORE", "OUT", output: "out.lodestore"),
    KilledCommand(
      "seal", "seal", "STORE", "OUT", "--name", "n", "--generation", "1", output: "out.lodestore"),
    KilledCommand("export", "export", "STORE", "E", "OUT", output: "out.jsonl"),
    KilledCommand("export --force", "export", "STORE", "E", "OUT", "--force", output: "out.jsonl"),
    KilledCommand("salvage", "salvage", "STORE", "OUT", output: "out.lodestore"),
  ]
}

/// A folder with the store whose commands are killed, and with the files that they import.
final class KilledFolder {
  static let recordCount = 2_000
  private static let pageCount = 5
  private static let pageSize = 200

  /// The folder of the store and of the command's output, which is emptied before each kill.
  let victim: StoreFolder
  private let inputs: StoreFolder
  private let origin: Data
  private let pages: [String]
  private let one: String
  private let tool: String
  /// The records before a command.
  private let before: String

  init(tool: String) async throws {
    self.tool = tool
    (victim, inputs) = (try StoreFolder(inMemory: true), try StoreFolder(inMemory: true))
    let rows = (0..<Self.recordCount).map(Self.row).joined(separator: "\n")
    try await inputs.load(
      rows, "--entity", "E", "--unique", "k", "--infer", "--index", "v", name: "rows.jsonl")
    // Updates records in the middle, and appends others.
    var pages: [String] = []
    for page in 0..<Self.pageCount {
      let first = Self.recordCount - 500 + page * Self.pageSize
      let rows = (first..<(first + Self.pageSize)).map { Self.row($0, factor: 3) }
      pages.append(
        try inputs.file("page-\(page).json", "[" + rows.joined(separator: ",") + "]"))
    }
    self.pages = pages
    one = try inputs.file("one.json", Self.row(Self.recordCount))
    origin = try inputs.bytes(inputs.store)
    before = await Self.content(of: inputs.store)
  }

  private static func row(_ number: Int) -> String { row(number, factor: 1) }

  private static func row(_ number: Int, factor: Int) -> String {
    #"{"k":\#(number),"v":\#(number * factor % 97),"t":"name \#(number * 7919 % recordCount)"}"#
  }

  /// The content of the output file before a command that replaces it.
  static let replaced = Data("before\n".utf8)

  /// Restores the store without a lock file, and removes all other files.
  func reset(for command: KilledCommand) throws {
    for name in try victim.files() {
      try FileManager.default.removeItem(atPath: victim.path + "/" + name)
    }
    try origin.write(to: URL(fileURLWithPath: victim.store))
    if command.isReplacing { try Self.replaced.write(to: URL(fileURLWithPath: path(of: command))) }
  }

  /// The path of the file that the command makes.
  func path(of command: KilledCommand) -> String { victim.path + "/" + (command.output ?? "") }

  func arguments(_ command: KilledCommand, pageCount: Int? = nil) -> [String] {
    command.arguments.flatMap { argument in
      switch argument {
      case "STORE": [victim.store]
      case "INPUTS": Array(pages.prefix(pageCount ?? pages.count))
      case "ONE": [one]
      case "OUT": [path(of: command)]
      default: [argument]
      }
    }
  }

  /// The records of a store as lines of JSON.
  ///
  /// Returns an empty text if the store lacks the entity and `mayBeEmpty` is true.
  static func content(of store: String, mayBeEmpty: Bool = false) async -> String {
    let memory = MemoryConsole()
    let status = await KVDump.execute(["export", store, "E"], on: memory.console)
    let isEmpty = mayBeEmpty && status == .usage
    #expect(status == .success || isEmpty, "\(memory.messages.text)")
    return memory.data.text
  }

  /// Runs the command in this process, to its end.
  func run(_ command: KilledCommand, pageCount: Int? = nil) async throws {
    let memory = MemoryConsole(environment: ["TMPDIR": victim.path])
    let status = await KVDump.execute(
      arguments(command, pageCount: pageCount), on: memory.console)
    try #require(status == .success, "\(command.name): \(memory.messages.text)")
  }

  /// Runs the command in another process, and sends that process a signal.
  ///
  /// - Parameter delay: The time after the start, in microseconds; no signal without it.
  /// - Returns: Whether the signal ended the process, and the output until then.
  func kill(
    _ command: KilledCommand, after delay: Int?, by signal: Int32 = SIGKILL
  ) throws -> (isKilled: Bool, said: String) {
    let said = inputs.path + "/said"
    try Data().write(to: URL(fileURLWithPath: said))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = arguments(command)
    process.standardOutput = FileHandle(forWritingAtPath: said)
    process.standardError = FileHandle.nullDevice
    // A dry run makes its copy in this folder.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["TMPDIR": victim.path]) { $1 }
    try process.run()
    if let delay {
      usleep(UInt32(delay))
      // The process number is still valid, because nobody has waited for the process yet.
      if process.isRunning { Foundation.kill(process.processIdentifier, signal) }
    }
    process.waitUntilExit()
    return (
      process.terminationReason == .uncaughtSignal,
      String(decoding: try inputs.bytes(said), as: UTF8.self)
    )
  }

  /// Runs the command once without a kill, and stores its possible results and its duration.
  func prepare(_ command: inout KilledCommand) async throws {
    command.contents = [before]
    if command.isImport {
      let isNew = command.output != nil
      let upsert = isNew ? command : KilledCommand.all[0]
      var contents = isNew ? [""] : [before]
      for count in 0..<(command.isDryRun ? 0 : Self.pageCount) {
        try reset(for: command)
        try await run(upsert, pageCount: count + 1)
        contents.append(await Self.content(of: isNew ? path(of: command) : victim.store))
      }
      if isNew { command.outputContents = contents } else { command.contents = contents }
    }
    try reset(for: command)
    try await run(command)
    let content = await Self.content(of: victim.store)
    if command.contents.last != content { command.contents.append(content) }
    if command.output?.hasSuffix(".jsonl") == true {
      command.outputBytes = try victim.bytes(path(of: command))
    } else if command.output != nil, !command.isImport {
      command.outputContents = [content]
    }
    var longest = 0
    for _ in 0..<3 {
      try reset(for: command)
      let start = DispatchTime.now()
      _ = try kill(command, after: nil)
      let nanoseconds = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
      longest = max(longest, Int(nanoseconds / 1_000))
    }
    command.microseconds = longest
  }
}
