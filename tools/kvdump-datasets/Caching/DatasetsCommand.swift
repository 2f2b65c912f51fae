import ArgumentParser
import EntityStore
import KVDumpCommands
import LodestoreDatasets
import LodestoreJSON

/// `kvdump datasets`: the datasets in a folder, their age, their origin and their last failure.
struct DatasetsCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "datasets",
    abstract: "List the datasets in a folder with their age and source.",
    discussion: """
      The folder contains the folders of datasets, as a program's cache does, or is one of them. \
      The command changes nothing and makes no connection. A seed that comes with a program is \
      not listed, because it is in no folder of datasets.

      The status is 1 if there is no dataset.

      Example: kvdump datasets ~/.cache/catalogue --format json
      """)

  @Argument(help: "The folder.", completion: .directory) var folder: String

  @OptionGroup(title: "Output") var output: OutputOptions

  func failure(for error: any Error) -> CommandFailure { .dataset(error, at: folder) }

  func run(on console: Console) async throws -> ExitStatus {
    let places = CachedDataset.names(in: folder).map { (parent: folder, name: $0) }
    let (parent, name) = DatasetPath.parts(of: folder)
    let isOne = CachedDataset.names(in: parent).contains(name)
    let found = (isOne ? [(parent: parent, name: name)] : []) + places
    try console.write(
      found.map { Self.row($0.name, in: $0.parent) },
      of: [
        "name", "generation", "source", Column("dataAsOf", title: "data as of"),
        Column("builtAt", title: "built"), Column("lastChecked", title: "last checked"), "from",
        "failures", "problem", Column("nextAttempt", title: "next attempt"),
      ])
    if found.isEmpty { console.note("no dataset is in '\(folder)'") }
    return found.isEmpty ? .negative : .success
  }

  private static func row(_ name: String, in parent: String) -> [Cell] {
    do {
      let status = try CachedDataset(name, in: parent, entities: []).status
      let problem = status.lastFailure?.message ?? status.unusable?.message
      return [
        .text(status.name), status.generation.map(Cell.unsigned) ?? .null,
        status.source.map { .text($0.rawValue) } ?? .null, date(status.age?.dataAsOf),
        date(status.age?.builtAt), date(status.age?.lastChecked),
        status.place.map(Cell.text) ?? .null, .count(status.failureCount),
        problem.map(Cell.text) ?? .null, date(status.nextAttempt),
      ]
    } catch {
      let words = (error as? DatasetError)?.message ?? "\(error)"
      return [.text(name)] + [Cell](repeating: .null, count: 7) + [.text(words), .null]
    }
  }

  private static func date(_ date: Date?) -> Cell {
    date.flatMap { ISO8601Text.text($0) }.map(Cell.date) ?? .null
  }
}
