import EntityStore
import Foundation
import LMDB
import LodestorePages
import LodestoreSystem
import LodestoreVerifier
import Testing

@testable import KVDumpCommands

/// A thing with an index, a unique key and, now and then, a body of several pages.
private struct Thing: Entity, Hashable {
  var id = RecordID<Thing>()
  var number: Int
  var text: String
  var body: String

  struct Attributes: Sendable {
    var id: Attribute<Thing, Thing.ID> { .recordID }
    var number: Attribute<Thing, Int> { .init(0) }
    var text: Attribute<Thing, String> { .init(1) }
    var body: Attribute<Thing, String> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Thing>(
    "Thing",
    attributes: [.init("number", \.number), .init("text", \.text), .init("body", \.body)],
    unique: [[\.number]], indexes: [[\.text]])

  init(_ number: Int, _ text: String, _ body: String) {
    self.number = number
    self.text = text
    self.body = body
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    text = try reader.read()
    body = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(text)
    writer.write(body)
  }
}

/// A thing as commands write it.
private struct Row: Decodable, Hashable {
  var number: Int
  var text: String
  var body: String

  init(_ thing: Thing) {
    number = thing.number
    text = thing.text
    body = thing.body
  }

  static func rows(_ lines: some Sequence<UInt8>) throws -> [Row] {
    try Array(lines).split(separator: UInt8(ascii: "\n"))
      .map { try JSONDecoder().decode(Row.self, from: Data($0)) }
  }
}

/// The bytes of a store after many commits, and its content after each commit.
private struct DamagedStore {
  let bytes: [UInt8]
  let older: [UInt8]
  /// The things of each commit, by number.
  let states: [[Int: Thing]]
  /// The states as commands write them, and all rows of these states together.
  let wholes: Set<Set<Row>>
  private let known: Set<Row>

  var file: FaultFile { FaultFile(bytes: bytes, older: older) }

  /// Makes a store that is the same in every process with the same seed, except for times.
  init(at path: String, seed: UInt64) throws {
    var random = DamageGenerator(seed: seed)
    var options = StoreOptions()
    options.history = .images
    let store = try Store(at: path, entities: [Thing.self], options: options)
    var states: [[Int: Thing]] = [[:]]
    var older: [UInt8] = []
    for round in 0..<12 {
      var state = states[states.count - 1]
      try store.write { transaction in
        for _ in 0..<60 {
          let number = Int.random(in: 0..<300, using: &random)
          let length =
            number % 20 == 0 ? Int.random(in: 3_000...20_000, using: &random) : number % 97
          let text = "text \(UInt32.random(in: 0...9_999, using: &random))"
          if var thing = state[number] {
            if Bool.random(using: &random) {
              try transaction.delete(thing)
              state[number] = nil
            } else {
              thing.text = text
              thing.body = String(repeating: "\(round)", count: length)
              try transaction.update(thing)
              state[number] = thing
            }
          } else {
            let thing = Thing(number, text, String(repeating: "b", count: length))
            state[number] = try transaction.insert(thing)
          }
        }
        try transaction.put(Data(count: 500 * round), for: "key", in: "bucket \(round % 3)")
      }
      states.append(state)
      if round == 8 { older = try FaultFile(path: path).bytes }
    }
    store.close()
    // The file no longer contains any page of the first state.
    states.removeFirst()
    bytes = try FaultFile(path: path).bytes
    self.older = older
    self.states = states
    wholes = Set(states.map { Set($0.values.map(Row.init)) })
    known = wholes.reduce(into: []) { $0.formUnion($1) }
  }

  /// Returns why rows that a command wrote cannot be right; `nil` if they can.
  ///
  /// - Parameter isAll: Whether all things of a commit must be among the rows.
  func fault(in rows: [Row], isAll: Bool) -> String? {
    guard rows.allSatisfy(known.contains) else { return "a thing that never was" }
    if !isAll { return nil }
    let found = Set(rows)
    return found.count == rows.count && wholes.contains(found) ? nil : "things of several commits"
  }

  /// Returns why the things that were read cannot be right; `nil` if they can.
  ///
  /// The content of one commit is right. If pages of an older commit replace newer ones and all of
  /// them fit, things of several commits are right too.
  func fault(in things: [Thing]) -> String? {
    let found = Dictionary(things.map { ($0.number, $0) }) { one, _ in one }
    if found.count == things.count, states.contains(found) { return nil }
    let isKnown = things.allSatisfy { thing in states.contains { $0[thing.number] == thing } }
    return isKnown ? "things of several commits" : "a thing that never was"
  }
}

/// Files with damage of every kind are read through the library and the commands, each part in a
/// separate process.
private enum DamagedRuns {
  static let kinds = DamageKind.allCases
  /// Kinds of damage that put whole pages of other commits into the file, which no check can
  /// recognize.
  static let mixing: Set<DamageKind> = [.stalePages, .repeatedBlock, .swappedPages]

  /// The ranges of file numbers, one for each process.
  ///
  /// In a debug build, the testing library keeps where each error was thrown until the test ends.
  /// So a long run is one of several processes.
  static func parts(of count: Int) -> [Range<Int>] {
    // `LODESTORE_CASE` selects a single file, to examine it again.
    if let number = DamageGenerator.number("LODESTORE_CASE").flatMap({ Int(exactly: $0) }) {
      return [number..<number + 1]
    }
    return stride(from: 0, to: count, by: 500).map { $0..<min($0 + 500, count) }
  }

  static func run(
    _ folder: String, seed: UInt64, files: Range<Int>,
    body: (DamagedStore, Int) async throws -> Void
  ) async throws {
    let store = try DamagedStore(at: folder + "/made.lodestore", seed: seed)
    for number in files {
      try Data("\(number) \(kinds[number % kinds.count])".utf8)
        .write(to: URL(filePath: folder + "/last"))
      // A hang ends the process by a signal; under a sanitizer a file takes several seconds of a
      // processor.
      alarm(300)
      do {
        try await body(store, number)
      } catch {
        try Data("\(number) \(kinds[number % kinds.count]): \(error)".utf8)
          .write(to: URL(filePath: folder + "/last"))
        exit(9)
      }
    }
    alarm(0)
    let megabytes = peakMemoryInMegabytes
    try Data((megabytes < 600 ? "done" : "\(megabytes) MB of memory").utf8)
      .write(to: URL(filePath: folder + "/last"))
  }

  /// Returns 0 where the system has no such file, and under the address sanitizer, which reserves
  /// terabytes and keeps freed memory.
  private static var peakMemoryInMegabytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    func megabytes(_ name: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
      let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
      return (number.flatMap { Int($0) } ?? 0) / 1_024
    }
    return megabytes("VmPeak:") > 1 << 20 ? 0 : megabytes("VmHWM:")
  }

  /// A wrong answer, which is neither an error nor right.
  struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  // MARK: The library

  static func useLibrary(_ store: DamagedStore, _ number: Int, _ path: String, seed: UInt64) throws
  {
    try store.file.damaged(number, seed).write(to: path)
    var options = StoreOptions()
    options.access = .existing
    options.verifiesChecksums = true
    let kind = kinds[number % kinds.count]
    do {
      let opened = try Store(at: path, entities: [Thing.self], options: options)
      defer { opened.close() }
      let things = try opened.read { try $0.fetch(Thing.all) }
      if let fault = store.fault(in: things), !mixing.contains(kind) || fault.contains("never") {
        throw Fault("\(kind): \(fault)")
      }
      _ = try opened.read { try $0.fetch(Thing.all.sorted(by: \.text)) }
      try opened.write { transaction in
        for number in 0..<20 {
          _ = try transaction.insert(
            Thing(10_000 + number, "new", String(repeating: "n", count: 9_000)))
        }
        for thing in things.prefix(20) { try transaction.delete(thing) }
      }
    } catch is StoreError {
      // A thrown error is a correct answer to damage.
    }
    options.access = .previousCommit
    if let opened = try? Store(at: path, entities: [Thing.self], options: options) {
      _ = try? opened.read { try $0.fetch(Thing.all) }
      opened.close()
    }
  }

  // MARK: The commands

  /// The commands that are run on each file, in this order, and the files that they may write.
  struct Commands {
    let store: String
    let outputs: [String]
    let all: [(line: [String], parsed: any StoreCommand)]
  }

  /// Parses the command lines, which are the same for each file of the folder.
  ///
  /// Parsing them for each file would take longer than the commands.
  static func makeCommands(_ folder: String) throws -> Commands {
    let path = folder + "/child.lodestore"
    let page = folder + "/page.json"
    try Data(#"[{"number":77,"text":"imported","body":""}]"#.utf8).write(to: URL(filePath: page))
    let outputs = ["copy", "things.jsonl", "saved", "all"].map { folder + "/" + $0 }
    let fields = ["--fields", "number,text,body", "--format", "jsonl"]
    let lines: [[String]] = [
      ["info", path], ["schema", path], ["schema", path, "--diff", folder + "/made.lodestore"],
      ["records", path, "Thing"], ["get", path, "Thing", "number=20"] + fields,
      ["index", path, "Thing", "text"], ["query", path, "Thing", "text > 'text 5'"] + fields,
      ["query", path, "Thing", "--sort", "body", "--limit", "0"] + fields,
      ["query", path, "Thing", "--sort", "number", "--limit", "0"] + fields,
      ["count", path, "Thing"], ["count", path, "Thing", "--by", "text"],
      ["explain", path, "Thing", "number > 5"], ["history", path], ["keys", path],
      ["keys", path, "records.1"], ["stat", path], ["imports", path], ["verify", path],
      ["verify", path, "--previous"], ["export", path, "Thing", outputs[1]],
      ["export", path, "Thing", outputs[1], "--where", "text > 'text 5'"],
      ["export", path, "--all-entities", outputs[3]], ["compact", path, outputs[0]],
      ["compact", path, outputs[0], "--previous"], ["salvage", path, outputs[2]],
      ["import", path, page, "--entity", "Thing", "--dry-run"],
      ["update", path, "Thing", "number = 3", "text=changed", "--yes"],
      ["delete", path, "Thing", "number < 5", "--yes"],
      ["import", path, page, "--entity", "Thing"], ["history", path, "--purge", "--through", "3"],
      ["import", path, page, "--entity", "Thing", "--mirror"],
    ]
    let all = try lines.map { line in
      guard let parsed = try KVDump.parseAsRoot(line) as? any StoreCommand else {
        throw Fault("\(line) is no command of a store")
      }
      return (line: line, parsed: parsed)
    }
    return Commands(store: path, outputs: outputs, all: all)
  }

  static func useCommands(
    _ commands: Commands, _ store: DamagedStore, _ number: Int, _ folder: String, seed: UInt64
  ) async throws {
    let outputs = commands.outputs
    // The first file is sound, so that all the commands are known to be right.
    let file = number == 0 ? store.file : store.file.damaged(number, seed)
    try file.write(to: commands.store)
    for (command, parsed) in commands.all {
      for output in outputs {
        try? FileManager.default.removeItem(atPath: output)
        unlink(output + "-lock")
      }
      let memory = MemoryConsole()
      let status = await KVDump.execute(parsed: parsed, on: memory.console)
      let isAnswer = status == .success || status == .negative
      if number == 0, !isAnswer { throw Fault("\(command): \(memory.messages.text)") }
      if !isAnswer, memory.messages.text.isEmpty {
        throw Fault("\(command[0]): status \(status) without a word")
      }
      if status == .success {
        try check(command, memory.data.bytes, outputs, store, kinds[number % kinds.count])
      }
      // A store that a command reports as made is sound.
      for output in [outputs[0], outputs[2]] where status == .success && access(output, F_OK) == 0 {
        let report = try Verifier.verify(path: output)
        guard report.isSound else {
          throw Fault("\(command[0]) has made an unsound store: \(report.findings)")
        }
      }
    }
    let left = Set(try FileManager.default.contentsOfDirectory(atPath: folder))
    let known = ["copy", "things.jsonl", "saved", "child.lodestore", "made.lodestore"]
    let extra = left.subtracting(
      known + known.map { $0 + "-lock" } + ["last", "page.json"])
    if !extra.isEmpty { throw Fault("left behind: \(extra.sorted())") }
  }

  /// Throws where a command, before any that changes the store, has answered with content of no
  /// commit.
  ///
  /// All things must be there in an export and in a scan. A query by an index may find fewer
  /// things, because keys have no checksums, and only an export compares them with the records.
  private static func check(
    _ command: [String], _ data: [UInt8], _ outputs: [String], _ store: DamagedStore,
    _ kind: DamageKind
  ) throws {
    var rows: [Row]
    var isAll = false
    switch command[0] {
    case "export" where command.contains("--all-entities"):
      guard let lines = FileManager.default.contents(atPath: outputs[3] + "/Thing.jsonl") else {
        let files = try FileManager.default.contentsOfDirectory(atPath: outputs[3])
        throw Fault("\(kind): \(command[0]) has made \(files)")
      }
      rows = try Row.rows(lines)
      isAll = true
    case "export":
      rows = try Row.rows(Data(contentsOf: URL(filePath: outputs[1])))
      isAll = !command.contains("--where")
    case "query":
      rows = try Row.rows(data)
      isAll = command.contains("body")
    case "get": rows = try Row.rows(data)
    case "count" where !command.contains("--by"):
      let counts = store.wholes.map { Array("{\"count\":\($0.count)}\n".utf8) }
      guard counts.contains(data) || mixing.contains(kind) else {
        throw Fault("\(kind): \(command[0]): \(String(decoding: data, as: UTF8.self))")
      }
      return
    default: return
    }
    if let fault = store.fault(in: rows, isAll: isAll && !mixing.contains(kind)) {
      throw Fault("\(kind): \(command): \(fault)")
    }
    if command.contains("number=20"), rows.contains(where: { $0.number != 20 }) {
      throw Fault("\(kind): \(command): another thing")
    }
  }
}

@Suite("Damaged stores", .serialized)
struct DamagedStoreTests {
  /// Creates a folder for one process, and returns its path.
  private func makeFolder() throws -> String {
    let folder = scratchFolderPath()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  private func finish(_ folder: String, _ seed: UInt64) {
    let last = (try? String(contentsOfFile: folder + "/last", encoding: .utf8)) ?? "none"
    #expect(last == "done", "ended on file \(last), LODESTORE_SEED=\(seed)")
    if last == "done" { try? FileManager.default.removeItem(atPath: folder) }
  }

  @Test func `the library reads a whole commit of a damaged file or refuses it, and never traps`()
    async throws
  {
    let seed = DamageGenerator.runSeed
    for files in DamagedRuns.parts(of: DamageGenerator.caseCount(byDefault: 310)) {
      let folder = try makeFolder()
      await #expect(processExitsWith: .success) {
        [folder = folder as String, seed = seed as UInt64, files = files as Range<Int>] in
        try await DamagedRuns.run(folder, seed: seed, files: files) { store, number in
          try DamagedRuns.useLibrary(store, number, folder + "/child.lodestore", seed: seed)
        }
      }
      finish(folder, seed)
    }
  }

  @Test func `every command on a damaged file ends with a message`() async throws {
    let seed = DamageGenerator.runSeed
    for files in DamagedRuns.parts(of: DamageGenerator.caseCount(byDefault: 62)) {
      let folder = try makeFolder()
      await #expect(processExitsWith: .success) {
        [folder = folder as String, seed = seed as UInt64, files = files as Range<Int>] in
        let commands = try DamagedRuns.makeCommands(folder)
        try await DamagedRuns.run(folder, seed: seed, files: files) { store, number in
          try await DamagedRuns.useCommands(commands, store, number, folder, seed: seed)
        }
      }
      finish(folder, seed)
    }
  }
}
