import ArgumentParser

/// `kvdump info`: the content, size and age of a store, and its readers.
struct InfoCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Show the content of a store, its size and its readers.",
    discussion: "Example: kvdump info catalog.lodestore")

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.withStore(store.path, on: console) { source in
      let facts = try source.read { try StoreFacts($0, source.seal, path: store.path) }
      switch console.format {
      case .json, .jsonl: try console.writeObject(facts.members + [facts.entityMember])
      case .table, .line:
        try console.writeObject(facts.members)
        if !facts.entities.isEmpty {
          try console.output.write("\n")
          try writeEntities(facts, on: console)
        }
      case .csv, .markdown, .arrow, .geojson: try writeEntities(facts, on: console)
      }
    }
    return .success
  }

  private func writeEntities(_ facts: StoreFacts, on console: Console) throws {
    try console.write(facts.entities, of: StoreFacts.columns)
  }
}
