import ArgumentParser

/// What happens to a record whose unique key the store has already.
enum ImportConflict: String, CaseIterable, ExpressibleByArgument, Sendable {
  case fail, ignore, replace, patch
}

/// `kvdump import`: writes records from JSON, JSON Lines or page files, one transaction a page.
struct ImportCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Write records from JSON or JSON Lines files. Writes.",
    discussion: """
      Examples:
        kvdump import catalog.lodestore films.json --entity Film --records results \\
          --unique episode_id --infer
        kvdump import catalog.lodestore page-*.json --entity Pod --unique name,version

      Each file is a page, and each page one transaction; '-' is standard input. The report of \
      what was inserted, updated, unchanged and rejected goes to standard output.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(
    help: ArgumentHelp("JSON or JSON Lines; '-' is standard input.", valueName: "file"),
    completion: .file())
  var files: [String]

  @Option(help: "The entity the records belong to.")
  var entity: String

  @Option(
    help: ArgumentHelp(
      "Where a page has its records: a dotted path such as result or data.results. Without it, "
        + "the page is an array or JSON Lines.", valueName: "path"))
  var records: String?

  @Option(
    help: ArgumentHelp("The attributes that records are matched by.", valueName: "a,b"))
  var unique: NameList?

  @Option(
    help: ArgumentHelp(
      "An index to make, its attributes with commas between them; may be given again.",
      valueName: "a,b"))
  var index: [NameList] = []

  @Option(
    help: ArgumentHelp("What to do about a record that is there already.", valueName: "mode"))
  var onConflict = ImportConflict.replace

  @Flag(help: "Work out the schema of an entity that the store does not know from the records.")
  var infer = false

  @Option(
    help: ArgumentHelp(
      "The schema of an entity that the store does not know, as 'kvdump schema --format json' "
        + "writes it.", valueName: "file"), completion: .file(extensions: ["json"]))
  var schema: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    if infer, schema != nil {
      throw ValidationError("--infer: not together with --schema, which says it all")
    }
    if files.count(where: { $0 == "-" }) > 1 {
      throw ValidationError("'-': standard input can be read once only")
    }
  }

  func run(on console: Console) async throws -> ExitStatus {
    throw CommandFailure.notWritten(command: "import")
  }
}
