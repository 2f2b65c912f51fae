import ArgumentParser
import EntityStore

/// `kvdump import`: imports records from JSON, JSON Lines, CSV, SQLite or page files, page by page.
struct ImportCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import records from JSON, JSON Lines, CSV or SQLite files. Writes.",
    discussion: """
      Examples:
        kvdump import cat.lodestore films.json --entity Film --records results \\
          --unique episode_id --infer
        kvdump import cat.lodestore page-*.json --entity Pod --unique name,version
        kvdump import cat.lodestore stars.csv --entity Star --unique name \\
          --infer --type magnitude=double --type seen=date:dd.MM.yyyy
        kvdump import quakes.lodestore day.geojson --entity Quake \\
          --records features --map properties.mag=mag \\
          --map geometry.coordinates.0=longitude --unique id --infer
        kvdump import cat.lodestore formulae.json --entity Formula \\
          --key-name name --unique name --infer
        kvdump import cat.lodestore fireballs.json --entity Fireball --mirror \\
          --dry-run
        kvdump import chinook.lodestore chinook.db

      Each file is a page. With --records, each line of JSON Lines is a page too. A thousand \
      values form a page if they are lines with records or arrays of records, rows of CSV, rows \
      after a line with column names, or JSON values that follow each other. '-' is standard \
      input. A thousand rows of a table of a SQLite database form a page too; --records names the \
      table or view. Without --entity a whole SQLite database becomes a new store: each table an \
      entity, each foreign key a relationship, and notes name everything that has no equal. A \
      database of 'kvdump export --sqlite' becomes the store that it was. Files compressed by \
      gzip are recognized by their first bytes. A page is stored completely or not at all. If \
      a line, a row or an element of an array cannot be read, only this record is rejected; \
      likewise the last record of a truncated file. {"$document": Base64}, which 'kvdump export' \
      writes, is read as a value that JSON cannot represent exactly.

      The store keeps the progress together with the records. After an error or a kill, run the \
      same command with --resume: it continues after the last stored page. 'kvdump imports' \
      lists all reports.

      The report of inserted, updated, unchanged, deleted and rejected records goes to standard \
      output when everything is safely on the disk. A power cut before that may undo the last \
      pages. Status 1: --strict or --max-rejects ended the import, every record was rejected, a \
      file was truncated within its records, or a mirror deleted nothing because the files have \
      no records. Fewer rejects do not change the status.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .value(
      "A JSON, JSON Lines or CSV file; '-' is standard input.", "file"), completion: .file())
  var files: [String]

  @Option(
    name: .customLong("entity"),
    help: .value(
      "The entity of the records. Without it, the file is a SQLite database, of which all tables "
        + "become a new store.", "entity"))
  var entityName: String?

  @OptionGroup(title: "Files") var input: InputOptions
  @OptionGroup(title: "Members") var members: MemberOptions
  @OptionGroup(title: "Schema") var schema: SchemaOptions
  @OptionGroup(title: "Stored records") var merging: MergeOptions
  @OptionGroup(title: "Run") var running: RunOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  private var entity: String { entityName ?? "" }

  /// Whether a whole SQLite database is imported.
  private var isWhole: Bool {
    entityName == nil && files.count == 1 && files.allSatisfy(SQLiteImport.isDatabase)
  }

  func validate() throws {
    if entityName == nil {
      try refuse(
        if: !isWhole,
        "Missing expected argument '--entity <entity>'; only one SQLite database needs none")
      try refuse(
        if: input.isGiven || members.isGiven || schema.isGiven || merging.isGiven
          || running.isGiven,
        "--entity: missing; only --dry-run is for a whole SQLite database")
    }
    try refuse(
      if: files.count(where: { $0 == InputFile.standardInput }) > 1,
      "'-': standard input can be read once only")
    try refuse(
      if: !output.nullValue.isEmpty && !files.contains(where: { InputFile.isCSV(form, $0) }),
      "--null-value: no file is CSV; --csv says that the files are")
  }

  func run(on console: Console) async throws -> ExitStatus {
    if isWhole {
      try SQLiteImport.run(
        files[0], into: store.writablePath, isDryRun: running.dryRun, on: console)
      return .success
    }
    let inputs = try files.map { try InputFile($0) }
    // Check the arguments before a file is created.
    let target = try ImportTarget(store.writablePath, isDryRun: running.dryRun, on: console)
    let pages = PageReader(inputs, form: form)
    guard let plan = try plan(inputs, pages, into: target.opened, on: console) else {
      // A source without records is not a failure, and without values no types can be inferred.
      console.note(
        "\(entity): there are no records to infer attributes from, so the entity was not created")
      try console.writeObject(ImportReport.empty(of: entity).members(withRejects: false))
      return .success
    }
    let key = try key(in: plan)
    let conversions = try plan.conversions()
    let declared = try plan.declared()
    let rejectFile = try running.rejects.map {
      try RejectFile(
        $0, continues: running.resume, others: [store.path, store.path + "-lock"] + files)
    }
    do {
      let store = try target.made()
      do { try store.declare([declared]) } catch {
        throw plan.explained(error, in: self.store.path)
      }
      for note in plan.notes { console.note(note) }
      var importing = DynamicImport(
        into: entity, of: store, key: key, conflict: merging.conflict,
        strategy: merging.chosen, options: options)
      importing.names = plan.maps
      importing.keyName = input.keyName
      if members.links {
        importing.links = try store.read { snapshot in
          try LinkOptions.links(
            of: try snapshot.entity(entity), snapshot, isImport: true, on: console)
        }
      }
      importing.conversions = conversions
      importing.isStrict = running.strict
      importing.nameOptionsInHints()
      let session = ImportSession(
        importing, pages, inputs, rejectFile,
        sourceless: Set(plan.attributes.lazy.filter { $0.source == nil }.map(\.name)))
      var result = await session.run(on: console)
      try target.close()
      result.failure = result.failure.map(target.translated)
      return try session.report(
        result, dryRunOf: running.dryRun ? self.store.path : nil, on: console)
    } catch {
      rejectFile?.removeIfEmpty()
      throw target.translated(error)
    }
  }

  private var form: InputForm { input.form(nullValues: output.nullValue) }

  private var options: ImportOptions {
    var options = ImportOptions()
    options.name = running.name
    options.resumes = running.resume
    options.deletesDespiteRejects = merging.deleteDespiteRejects
    options.mirrorsEmptySources = merging.mirrorEmpty
    if let limit = running.rejectLimit { options.rejectLimit = limit }
    return options
  }

  // MARK: The schema

  /// The schema that the records require, from the stored entity and the options --infer, --schema,
  /// --unique and --index; `nil` if --infer would create an entity but there are no records.
  private func plan(
    _ inputs: [InputFile], _ pages: PageReader, into opened: DynamicStore?, on console: Console
  ) throws -> ImportSchema? {
    let known = opened?.entities
    let stored = known?.first { $0.name == entity }
    var rules = try members.rules()
    rules.mapPaths(
      among: (merging.unique?.names ?? []) + schema.index.flatMap(\.names),
      known: stored?.description.declaredAttributes.map(\.name) ?? [], infers: schema.infer)
    var plan = ImportSchema(
      entity, stored: stored?.description, rules: rules, widens: schema.widen,
      linked: try linked(stored, in: opened))
    plan.widen()
    var candidates: [String] = []
    if let file = schema.schema { plan.add(try SchemaFile.entity(entity, in: file), from: file) }
    if schema.infer {
      var survey = MemberSurvey(
        of: entity, looksForRecords: input.records == nil, mapped: Array(rules.maps.keys),
        readsTexts: !schema.allText, stored: plan.attributes.count)
      if let count = schema.sample {
        try survey.observe(pages.sample(count))
      } else {
        let limit = schema.spoolLimit?.bytes ?? SchemaOptions.standardSpoolLimit
        for input in inputs {
          try input.makeRereadable(in: console.temporaryFolder, limit: limit)
        }
        try survey.observe(all: PageReader(inputs, form: form), of: inputs, on: console)
        for input in inputs { try input.rewind() }
      }
      if survey.inference.recordCount == 0, stored == nil {
        // If a page has values but no records, the source is not empty, and the values are
        // reported.
        if let failure = survey.otherValue { throw failure }
        return nil
      }
      candidates = survey.candidates
      if let note = survey.note(sample: schema.sample) { console.note(note) }
      try plan.add(
        survey.inference, key: merging.unique?.names ?? [], candidates: candidates,
        takesParts: merging.conflict == .patch)
    } else if schema.schema == nil, stored == nil {
      throw CommandFailure.newEntityWithoutSchema(
        entity, in: store.path, known: known?.map(\.name) ?? [])
    } else if !rules.maps.isEmpty, let first = try pages.sample(1).first {
      // Without this check, a mistyped name would silently leave out a whole column.
      var survey = MemberSurvey(of: entity, looksForRecords: false, mapped: Array(rules.maps.keys))
      try survey.observe([first])
      try plan.checkMaps(members: survey.inference.names)
    }
    if let unique = merging.unique {
      try plan.addIndex(unique.names, isUnique: true, candidates: candidates)
    }
    for list in schema.index {
      try plan.addIndex(list.names, isUnique: false, candidates: candidates)
    }
    return plan
  }

  /// The members that --links interprets as keys of other records.
  private func linked(_ stored: DynamicEntity?, in store: DynamicStore?) throws -> Set<String> {
    guard members.links, let stored, let store else { return [] }
    return try store.read { snapshot in Set(snapshot.links(of: stored).map(\.relationship)) }
  }

  /// The names of the attributes by which records are matched; `nil` for none.
  private func key(in plan: ImportSchema) throws -> [String]? {
    if merging.insertOnly { return nil }
    if let unique = merging.unique {
      return unique.names.compactMap { name in
        plan.position(of: name).map { plan.attributes[$0].name }
      }
    }
    let keys = plan.indexes.filter(\.isUnique).map { index in
      index.attributes.map { plan.attributes[$0].name }
    }
    guard keys.count == 1 else {
      throw CommandFailure.noKey(entity, unique: keys.map { $0.joined(separator: "+") })
    }
    return keys[0]
  }
}
