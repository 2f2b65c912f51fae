import ArgumentParser
import EntityStore
import LodestoreFormat

/// `kvdump export`: the records of an entity as a file that other programs read, and `import`.
struct ExportCommand: StoreCommand {
  /// `-`, standard output.
  private static let standardOutput = "-"

  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Records as JSON Lines, JSON or CSV, also of a store in use.",
    discussion: """
      Examples:
        kvdump export catalog.lodestore Pod pods.jsonl
        kvdump export catalog.lodestore Pod --where 'license == "MIT"' --format csv | less

      Everything is of one commit. A file is there when it is whole: it is written under another \
      name beside it. Without a format it is what the file's name ends in, or JSON Lines. JSON \
      Lines and CSV are written as the records are read, in little memory; an order that no index \
      gives keeps its keys in memory.

      'kvdump import' reads the same attributes from the JSON forms, with the schema that 'kvdump \
      schema STORE ENTITY --format json' writes: {"$document": Base64} is a value that JSON has no \
      exact text for. The records' ids are left out, as the store that imports gives its own; \
      --fields _id,… has them. CSV is for other programs: NaN, nested values and bytes are text.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @Argument(help: "The file; '-' is standard output.", completion: .file())
  var file = standardOutput

  @Option(
    help: ArgumentHelp(
      "Only the records for which this predicate format string is true.",
      valueName: "format string"))
  var `where`: String?

  @OptionGroup(title: "Selection") var marks: MarkOptions
  @OptionGroup(title: "Selection") var order: OrderOptions
  @OptionGroup(title: "Selection") var fields: FieldOptions

  @Flag(help: "Replace a file that is there.")
  var force = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try marks.check(`where`)
    guard ExportFormat(output.format, file: file) != nil else {
      throw ValidationError(
        "--format: \(output.format.rawValue) is for people; write jsonl, json or csv")
    }
  }

  func run(on console: Console) async throws -> ExitStatus {
    let format = ExportFormat(output.format, file: file) ?? .jsonl
    return try ReadStore.read(store.path, checksRecords: true, on: console) { core in
      try QueryFault.locating(in: `where`, store.path) {
        // What can go wrong in the arguments goes wrong before a file is made.
        let entity = try core.entity(entity, in: store.path)
        var request = try marks.request(`where`)
        request.order = try order.terms(of: entity, in: store.path)
        let plan = try core.plan(request, for: entity)
        let columns = try RecordColumns(
          entity, names: fields.names ?? entity.description.declaredAttributes.map(\.name),
          isExact: format != .csv, store: store.path)
        guard file != Self.standardOutput else {
          _ = try write(plan, columns, core, format, to: console.output, on: console)
          return .success
        }
        let target = try OutputFile(file, replaces: force, store: store.path)
        let text = TextOutput(target)
        let count = try write(plan, columns, core, format, to: text, on: console)
        try text.flush()
        try target.commit()
        try console.writeObject([
          (Column("entity"), .text(entity.name)), (Column("records"), .count(count)),
          (Column("file"), .text(file)), (Column("size"), .byteCount(target.size)),
        ])
        return .success
      }
    }
  }

  /// Writes what the plan finds; returns how many records that are.
  private func write(
    _ plan: QueryPlan, _ columns: RecordColumns, _ core: TransactionCore, _ format: ExportFormat,
    to output: TextOutput, on console: Console
  ) throws -> Int {
    let writer = format.writer(columns.columns, to: output, on: console)
    var count = 0
    try console.withProgress { progress in
      let run = try PlanRun(plan, core: core, control: progress?.control)
      try run.visit { id, bytes in
        // Rows on the same screen say themselves how far the command is.
        if count == 0, output === console.output, console.terminal.isTerminal { progress?.end() }
        try writer.write(try columns.row(id, bytes))
        count += 1
        return true
      }
    }
    try writer.finish()
    return count
  }
}
