import ArgumentParser
import EntityStore

/// `kvdump export`: writes the records of an entity to a file for other programs and for `import`.
struct ExportCommand: StoreCommand {
  /// The argument `-` for standard output.
  private static let standardOutput = "-"

  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract:
      "Export records as JSON Lines, JSON, CSV, Arrow, GeoJSON or SQLite, even of a store in use.",
    discussion: """
      Examples:
        kvdump export catalog.lodestore Pod pods.jsonl
        kvdump export catalog.lodestore Pod --where 'license == "MIT"' \\
          --format csv | less
        kvdump export catalog.lodestore --all-entities catalog --links
        kvdump export catalog.lodestore --sqlite catalog.db

      All records are from one commit. The file appears when it is complete: it is written under \
      another name in the same folder, and then the records are compared with their indexes, and \
      with --links the two sides of relationships. With --all-entities the checks of 'verify' \
      for the exported trees are added. If a record, an entry or a link is damaged or lost, the \
      export fails; rows already on standard output may then be incomplete. Without --format, \
      the file's suffix decides the format, or else it is JSON Lines. JSON Lines and CSV are \
      written as the records are read, in little memory; an order that no index provides holds \
      its keys in memory.

      'kvdump import' reads the same attributes from the JSON forms, with the schema from \
      'kvdump schema STORE ENTITY --format json'. {"$document": Base64} is a value that JSON \
      cannot represent exactly. Values named by their attributes and, with --source-names, \
      values named by their members are imported into the same attributes. A note names each \
      attribute whose name is the member of another attribute: only member names lead back to \
      it. The records' ids are left out, because the importing store assigns its own. --fields \
      _id,… includes them; 'import' ignores them and says so. CSV is for other programs: NaN, \
      nested values and bytes are text. So is an Arrow stream, in which nested values are JSON \
      text and dates are microseconds.

      --sqlite writes a table for each entity and each to-many relationship, with indexes and \
      foreign keys. Records keep their ids, in the column _id. The table lodestore_schema holds \
      the schema, from which 'kvdump import' makes the same store again, except for history, \
      buckets and reports of imports.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String?

  @Argument(help: "The file to write; '-' is standard output.", completion: .file())
  var file = standardOutput

  @Option(
    help: .value(
      "Export all entities, each into a file of its name in this folder, and "
        + "\(ExportFolder.schemaName) with the schema of all.", "folder"), completion: .directory)
  var allEntities: String?

  @Option(
    help: .value(
      "Export all entities and links into this SQLite database, which needs libsqlite3.",
      "file"), completion: .file(extensions: ["db", "sqlite"]))
  var sqlite: String?

  @Flag(help: "With --sqlite: only report the tables.") var dryRun = false

  @Option(
    help: .value(
      "Export only records for which this predicate format string is true.", "format string"))
  var `where`: String?

  @OptionGroup(title: "Selection") var marks: MarkOptions
  @OptionGroup(title: "Selection") var order: OrderOptions
  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var places: PlaceOptions

  @Flag(
    help: ArgumentHelp(
      "Write relationships as unique keys of the related records, which 'import --links' reads, "
        + "and not as ids."))
  var links = false

  @Flag(
    help: ArgumentHelp(
      "Name values by the members, or columns, that imports fill their attributes from, and not by "
        + "the attributes, if the store has such names."))
  var sourceNames = false

  @Flag(help: "Replace existing files.") var force = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try marks.check(`where`)
    try places.check(output.format.exportFormat(of: file))
    try refuse(
      if: output.format.exportFormat(of: file) == nil,
      "--format: \(output.format.rawValue) is for people; write jsonl, json, csv, arrow or geojson")
    try refuse(if: dryRun && sqlite == nil, "--dry-run: only with --sqlite")
    try refuse(
      if: sqlite != nil && (allEntities != nil || links || sourceNames),
      "--sqlite: not together with --all-entities, --links or --source-names")
    guard allEntities != nil || sqlite != nil else {
      try refuse(if: entity == nil, "name an entity, or a folder for --all-entities")
      return
    }
    try refuse(
      if: entity != nil || `where` != nil || !order.sort.isEmpty || fields.list != nil
        || marks.requireIndex,
      "\(sqlite == nil ? "--all-entities" : "--sqlite"): exports all records of all "
        + "entities without a selection")
  }

  var formatString: String? { `where` }

  func run(on console: Console) async throws -> ExitStatus {
    let format = output.format.exportFormat(of: file) ?? .jsonl
    return try ReadStore.read(store.path, checksRecords: true, on: console) { snapshot in
      if let sqlite {
        if dryRun {
          try SQLiteExport.preview(snapshot, on: console)
        } else {
          try SQLiteExport.write(
            snapshot, to: sqlite, replaces: force, store: store.path, on: console)
        }
      } else if let allEntities {
        let folder = ExportFolder(
          path: allEntities, format: format, replaces: force, announcesLinks: links,
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
      request, of: entity, fields: fields.names, links: links, bySources: sourceNames,
      places: places.paths, format, snapshot: snapshot)
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
