import ArgumentParser
import EntityStore

extension JSONConflict: ExpressibleByArgument {}

/// `kvdump import`: writes records from JSON, JSON Lines or page files, one transaction a page.
struct ImportCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Write records from JSON or JSON Lines files. Writes.",
    discussion: """
      Examples:
        kvdump import catalog.lodestore films.json --entity Film --records results \\
          --unique episode_id --infer
        kvdump import catalog.lodestore page-*.json --entity Pod --unique name,version

      Each file is a page, and so is each line of JSON Lines where --records says what is in it; \
      lines that are records come a thousand a page. Each page is one transaction; '-' is standard \
      input. The report of what was inserted, updated, unchanged and rejected goes to standard \
      output, when all of it is safe on the disk; a power cut before that may take back the last \
      page. Rejected records do not change the status, but with --strict.
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
        + "the page is an array, one record, or a table of 'fields' and 'data'.",
      valueName: "path"))
  var records: String?

  @Option(
    help: ArgumentHelp(
      "The attributes that records are matched by; without it, those of the entity's one unique "
        + "index.", valueName: "a,b"))
  var unique: NameList?

  @Flag(help: "Insert every record, matching none.")
  var insertOnly = false

  @Option(
    help: ArgumentHelp(
      "An index to make, its attributes with commas between them; may be given again.",
      valueName: "a,b"))
  var index: [NameList] = []

  @Option(
    help: ArgumentHelp("What to do about a record that is there already.", valueName: "mode"))
  var onConflict = JSONConflict.replace

  @Flag(
    help: """
      Work out the schema from the records: of an entity that the store does not know, and of \
      members that a known one lacks.
      """)
  var infer = false

  @Option(
    help: ArgumentHelp(
      "The schema of an entity that the store does not know, as 'kvdump schema --format json' "
        + "writes it.", valueName: "file"), completion: .file(extensions: ["json"]))
  var schema: String?

  @Flag(
    help: "Stop at the first record that does not fit, or has an unknown member; status 1 then.")
  var strict = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    if infer, schema != nil {
      throw ValidationError("--infer: not together with --schema, which says it all")
    }
    if insertOnly, unique != nil {
      throw ValidationError("--insert-only: not together with --unique, which matches records")
    }
    if files.count(where: { $0 == "-" }) > 1 {
      throw ValidationError("'-': standard input can be read once only")
    }
  }

  func run(on console: Console) async throws -> ExitStatus {
    let inputs = try files.map { try InputFile($0) }
    // What can go wrong in the arguments goes wrong before a file is made.
    var core = FileFacts.exists(store.path) ? try open(.existing) : nil
    defer { core?.close() }
    var schema = ImportSchema(entity, stored: core?.schema.entity(named: entity)?.description)
    try complete(&schema, inputs, known: core?.schema, on: console)
    let key = try key(in: schema)
    let declared = try schema.declared()
    let opened = try core ?? open(.create)
    core = opened
    try opened.bringUpToDate([declared])
    for note in schema.notes { console.note(note) }

    let description = try opened.read { try $0.entity(named: entity).description }
    var options = ImportOptions()
    if strict { options.rejectLimit = 0 }
    let run = ImportRun(
      core: opened, entity: entity,
      key: key.map { names in Set(names.compactMap { description.attribute(named: $0)?.number }) },
      conflict: onConflict, strategy: .upsert, names: schema.names, isStrict: strict,
      options: options)
    let pages = PageReader(inputs, records: records)
    let (result, rejects, seconds) = try await watched(run, pages, inputs, on: console)
    opened.close()
    // Commits wait for the data but not for the page that makes it current, which saves half of the
    // waiting; what is reported is to be safe, so that page is waited for here.
    try FileFacts.sync(store.path)
    try report(result.report, rejects, seconds: seconds, pages.pageFiles, on: console)
    if let failure = result.failure {
      if strict, let error = failure as? StoreError, error.code == .importStopped {
        return .negative
      }
      throw failure
    }
    return .success
  }

  /// Runs the import and shows how far it is.
  private func watched(
    _ run: ImportRun, _ pages: PageReader, _ inputs: [InputFile], on console: Console
  ) async throws -> (ImportRun.Result, [ImportReport.Reject], seconds: Double) {
    let start = ContinuousClock.now
    let sizes = inputs.compactMap(\.size)
    let size = sizes.count == inputs.count ? sizes.reduce(0, +) : nil
    let seen = ImportWatch()
    var progress = console.progress()
    pages.willRead = { [unowned pages] in
      progress.show(Self.progressLine(seen.progress, read: pages.bytesRead, of: size))
    }
    let result = await run.run(pages) { seen.take($0) }
    progress.end()
    return (result, seen.rejects, (ContinuousClock.now - start) / .seconds(1))
  }

  private func open(_ access: StoreOptions.Access) throws -> StoreCore {
    var options = StoreOptions()
    options.access = access
    options.durability = .mayLoseLastCommit
    return try StoreCore(path: store.path, options: options)
  }

  /// Adds what --infer, --schema, --unique and --index say.
  private func complete(
    _ plan: inout ImportSchema, _ inputs: [InputFile], known: StoredSchema?, on console: Console
  ) throws {
    var candidates: [String] = []
    if let schema {
      plan.add(try SchemaFile.entity(entity, in: schema))
    } else if infer {
      let folder = console.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
      for input in inputs { try input.makeRereadable(in: folder) }
      let (inference, arrays) = try inferred(inputs)
      candidates = arrays
      for input in inputs { try input.rewind() }
      try plan.add(inference, key: unique?.names ?? [], candidates: candidates)
    } else if known?.entity(named: entity) == nil {
      throw CommandFailure.newEntityWithoutSchema(
        entity, in: store.path, known: known?.entities.map(\.name) ?? [])
    }
    if let unique { try plan.addIndex(unique.names, isUnique: true, candidates: candidates) }
    for list in index { try plan.addIndex(list.names, isUnique: false, candidates: candidates) }
  }

  /// Reads all pages once.
  ///
  /// A malformed one ends it: the import itself will come to it and tell.
  private func inferred(
    _ inputs: [InputFile]
  ) throws -> (SchemaInference, candidates: [String]) {
    var inference = SchemaInference()
    var candidates: [String] = []
    let pages = PageReader(inputs, records: records)
    do {
      while let page = try pages.next() {
        if page.number == 1, records == nil, let first = page.records.first {
          candidates = RecordPath.candidates(in: first.node)
        }
        for record in page.records { inference.observe(record) }
      }
    } catch let failure as CommandFailure where failure.status == .damagedData {
      guard inference.recordCount > 0 else { throw failure }
    }
    guard inference.recordCount > 0 else { throw CommandFailure.noRecordsAtAll(files) }
    return (inference, candidates)
  }

  /// The names of the attributes to match by; nil for none.
  private func key(in schema: ImportSchema) throws -> [String]? {
    if insertOnly { return nil }
    if let unique {
      return unique.names.compactMap { name in
        schema.place(name).map { schema.attributes[$0].name }
      }
    }
    let keys = schema.indexes.filter(\.isUnique).map { index in
      index.attributes.map { schema.attributes[$0].name }
    }
    guard keys.count == 1 else {
      throw CommandFailure.noKey(entity, unique: keys.map { $0.joined(separator: "+") })
    }
    return keys[0]
  }

  private func report(
    _ report: ImportReport, _ rejects: [ImportReport.Reject], seconds: Double, _ files: PageFiles,
    on console: Console
  ) throws {
    var report = report
    report.rejects = rejects
    report.rejected = max(report.rejected, rejects.count)
    let isForPrograms = console.format == .json || console.format == .jsonl
    try console.writeObject(
      report.members(seconds: seconds, files: files, withRejects: isForPrograms))
    for reject in rejects.prefix(10) { console.note(reject.line(in: files)) }
    if report.rejected > 10 {
      let more = NumberText.grouped(report.rejected - 10)
      console.note("and \(more) more rejects; --format json has them all")
    }
    if !report.unknownMembers.isEmpty {
      let names = report.unknownMembers.keys.sorted().prefix(20).joined(separator: ", ")
      console.note(
        "\(entity): left out members that are no attribute: \(names); --infer adds them")
    }
  }

  private static func progressLine(_ progress: ImportProgress, read: Int, of size: Int?) -> String {
    let records = "\(NumberText.grouped(progress.records)) records"
    guard let size, size > 0 else { return records }
    return records + ", " + NumberText.share(min(Double(read) / Double(size), 1))
  }
}
