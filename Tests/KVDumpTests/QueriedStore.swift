import Testing

@testable import KVDumpCommands

/// A store to query: text with accents, an optional number, JSON of several kinds, two indexes.
enum QueriedStore {
  static func make() async throws -> StoreFolder {
    let folder = try StoreFolder()
    try await folder.load(
      #"""
      [{"name":"AFNetworking","version":"2.0.0","stars":30,"license":"MIT","tags":["net","url"]},
      {"name":"AFNetworking","version":"2.1.0","stars":31,"license":{"type":"MIT"},"tags":["net"]},
      {"name":"Mantle","version":"1.0","stars":20,"license":{"type":"BSD","file":"L"},"tags":[]},
      {"name":"école","version":"1.0","stars":null,"license":null,"tags":[{"a":1},2]},
      {"name":"Ecole","version":"0.9","stars":20,"license":"MIT","tags":"net"}]
      """#, "--entity", "Pod", "--unique", "name,version", "--index", "stars", "--infer")
    return folder
  }

  /// Adds a thousand records, twenty of each rank, so that an index is cheaper than a scan.
  static func addItems(to folder: StoreFolder) async throws {
    let items = (1...1_000).map { "{\"k\":\($0),\"rank\":\($0 % 50)}" }
    try await folder.load(
      "[\(items.joined(separator: ","))]", "--entity", "Item", "--unique", "k", "--index", "rank",
      "--infer", name: "items.json")
  }
}

extension StoreFolder {
  /// Runs `command` on the store with any number of arguments.
  func execute(_ command: String, _ arguments: [String], width: Int? = nil) async -> Outcome {
    let memory = MemoryConsole(width: width)
    let status = await KVDump.execute([command, store] + arguments, on: memory.console)
    return Outcome(status: status, data: memory.data.text, messages: memory.messages.text)
  }

  /// The ids that a query writes, with spaces between them.
  func ids(_ arguments: String...) async -> String { await ids(arguments) }

  func ids(_ arguments: [String]) async -> String {
    let outcome = await execute("query", ["Pod", "--fields", "_id", "--format", "csv"] + arguments)
    #expect(outcome.status == .success, "\(outcome.messages)")
    return outcome.data.split(whereSeparator: \.isNewline).dropFirst().joined(separator: " ")
  }

  /// Checks a failure: nothing on standard output, and this on standard error, where `STORE` stands
  /// for the store's path.
  func expectFailure(
    _ command: String, _ arguments: [String], _ status: KVDumpCommands.ExitStatus,
    _ messages: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let outcome = await execute(command, arguments)
    #expect(outcome.status == status, sourceLocation: sourceLocation)
    #expect(outcome.data == "", sourceLocation: sourceLocation)
    #expect(
      outcome.messages == messages.replacing("STORE", with: store), sourceLocation: sourceLocation)
  }
}
