import ArgumentParser
import EntityStore

/// `kvdump export`: writes the records of an entity to a file for other programs and for `import`.
struct ExportCommand: StoreCommand {
  /// The argument `-` for standard output.
  private static let standardOutput = "-"

  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Records as JSON Lines, JSON or CSV, also of a store in use.",
    discussion: """
      Examples:
        kvdump export catalog.lodestore Pod pods.jsonl
        kvdump export catalog.lodestore Pod --where 'license == "MIT"' \\
          --format csv | less
        kvdump export catalog.lodestore --all-entities catalog --links

      Everything is of one commit. A file is there when it is whole: it is written under another \
      name beside it, and last the records are compared with their indexes, and with --links the two \
      sides of relationships. With --all-entities 'verify' checks the exported trees as well. Where a \
      record, an entry or a link is damaged or lost, the export fails: then rows on standard output \
      may not be all. Without a format it is what the file's \
      name ends in, or JSON Lines. JSON Lines and CSV are written as the records are read, in \
      little memory; an order that no index gives keeps its keys in memory.

      'kvdump import' reads the same attributes from the JSON forms, with the schema that 'kvdump \
      schema STORE ENTITY --format json' writes: {"$document": Base64} is a value that JSON has no \
      exact text for. Both the names of attributes and, with --source-names, those of the members \
      that they came from lead back to the same attributes. A note names each attribute whose name is \
      the member of another one: only the names of members lead back there. The records' ids are left \
      out, as the store that imports gives its own; --fields _id,… has them, and 'import' leaves them \
      out and says so. CSV is for other programs: NaN, nested values and bytes are text.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String?

  @Argument(help: "The file; '-' is standard output.", completion: .file())
  var file = standardOutput

  @Option(
    help: ArgumentHelp(
      "All entities, each into a file of its name in this folder, and \(ExportFolder.schemaName) "
        + "with the schema of all.", valueName: "folder"), completion: .directory)
  var allEntities: String?

  @Option(
    help: ArgumentHelp(
      "Only the records for which this predicate format string is true.",
      valueName: "format string"))
  var `where`: String?

  @OptionGroup(title: "Selection") var marks: MarkOptions
  @OptionGroup(title: "Selection") var order: OrderOptions
  @OptionGroup(title: "Selection") var fields: FieldOptions

  @Flag(
    help: ArgumentHelp(
      "Tell relationships by a unique key of the records that they lead to, as 'import --links' reads "
        + "them, in place of ids."))
  var links = false

  @Flag(
    help: ArgumentHelp(
      "Name values by the members, or columns, that imports fill their attributes from, where the store "
        + "keeps such names, and not by the attributes."))
  var sourceNames = false

  @Flag(help: "Replace files that are there.")
  var force = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try marks.check(`where`)
    guard output.format.exportFormat(of: file) != nil else {
      throw ValidationError(
        "--format: \(output.format.rawValue) is for people; write jsonl, json or csv")
    }
    guard allEntities != nil else {
      if entity == nil { throw ValidationError("name an entity, or a folder for --all-entities") }
      return
    }
    if entity != nil || `where` != nil || !order.sort.isEmpty || fields.list != nil
      || marks.requireIndex
    {
      throw ValidationError("--all-entities: takes all records of all entities as they are")
    }
  }

  var formatString: String? { `where` }

  func run(on console: Console) async throws -> ExitStatus {
    let format = output.format.exportFormat(of: file) ?? .jsonl
    return try ReadStore.read(store.path, checksRecords: true, on: console) { snapshot in
      if let allEntities {
        let folder = ExportFolder(
          path: allEntities, format: format, replaces: force, tellsLinks: links,
          bySources: sourceNames, store: store.path)
        try folder.write(snapshot, on: console)
      } else {
        try export(snapshot, format, on: console)
      }
      return .success
    }
  }

  private func export(
    _ snapshot: DynamicSnapshot, _ format: OutputFormat, on console: Console
  ) throws {
    // Check the arguments before a file is created.
    let entity = try snapshot.entity(entity ?? "")
    var request = try marks.request(`where`)
    request.order = try order.terms(of: entity, snapshot)
    let links = links ? try LinkOptions.links(of: entity, snapshot, on: console) : []
    let export = try EntityExport(
      request, of: entity, fields: fields.names, links: links, bySources: sourceNames, format,
      snapshot: snapshot)
    guard file != Self.standardOutput else {
      _ = try export.write(to: console.output, on: console)
      return
    }
    let (count, size) = try export.write(
      to: try OutputFile(file, replaces: force, store: store.path), on: console)
    try console.writeObject([
      ("entity", .text(entity.name)), ("records", .count(count)), ("file", .text(file)),
      ("size", .byteCount(size)),
    ])
  }
}
