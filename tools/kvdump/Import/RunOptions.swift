import ArgumentParser
import LodestoreFormat

/// Options of `import` about the entity's attributes and indexes.
struct SchemaOptions: ParsableArguments {
  /// The default maximum number of bytes stored of a pipe to read it twice.
  static let standardSpoolLimit = 1 << 30

  @Flag(
    help: """
      Infer the schema from the records: of an entity that the store does not know, and of members \
      that a known one lacks. JSON texts stay texts, integers are exact, mixed or nested values are \
      json, and members that are missing or null in some record are optional. Columns of CSV whose \
      texts are all integers, numbers, true or false, or dates such as 2024-01-05 get that type; \
      texts with leading zeros, such as 007, stay texts. A member whose name an attribute cannot \
      have gets a readable name. The store keeps the member's name too, so that later imports find \
      the attribute.
      """)
  var infer = false

  @Flag(
    help: """
      Give an attribute a wider type, such as double for int64, if --infer finds a record that \
      needs it. Either all stored values stay exactly equal, or nothing is changed.
      """)
  var widen = false

  @Flag(help: "With --infer: keep all columns of CSV as texts.") var allText = false

  @Option(
    help: .value(
      "With --infer: how much of a pipe may be stored in TMPDIR to read it twice, such as 500M or "
        + "4G; 1G by default.", "size"))
  var spoolLimit: ByteSize?

  @Option(help: .value("Infer only from this many first pages.", "pages")) var sample: Int?

  @Option(
    help: .value(
      "The schema of an entity that the store does not know, as written by 'kvdump schema --format "
        + "json'.", "file"), completion: .file(extensions: ["json"]))
  var schema: String?

  @Option(
    help: .value(
      "An index to create: its attributes separated by commas, or 'tags[]' for the elements of a "
        + "JSON attribute; may be repeated.", "a,b"))
  var index: [NameList] = []

  /// Whether any of the options is given.
  var isGiven: Bool { infer || schema != nil || !index.isEmpty }

  func validate() throws {
    try refuse(
      if: infer && schema != nil,
      "--infer: not together with --schema, which gives the whole schema")
    try refuse(
      if: widen && !infer, "--widen: only with --infer; --type ATTRIBUTE=TYPE widens one attribute")
    try refuse(if: allText && !infer, "--all-text: only with --infer")
    try refuse(if: spoolLimit != nil && !infer, "--spool-limit: only with --infer")
    if let sample {
      try refuse(if: !infer, "--sample: only with --infer")
      try refuse(if: sample < 1, "--sample: \(sample) is below 1")
    }
  }
}

/// Options of `import` about ending, continuing and reporting.
struct RunOptions: ParsableArguments {
  @Flag(help: "Continue after the last stored page, if the last import did not end.")
  var resume = false

  @Option(
    help: .value(
      "The name of the import, for --resume and 'kvdump imports'; by default the entity's name.",
      "name"))
  var name: String?

  @Flag(help: "Import into a copy in TMPDIR, and only report the result.") var dryRun = false

  @Flag(
    help: "Stop at the first record that does not fit, or has an unknown member; status 1 then.")
  var strict = false

  @Option(help: .value("Stop if more records than this are rejected; status 1 then.", "n"))
  var maxRejects: Int?

  @Option(
    help: .value(
      "Write every rejected record as a line of JSON: file, page, record, line, byteOffset, "
        + "attribute and reason; for an unreadable record also its first 4,096 bytes as content. "
        + "--resume appends to the file; the rejects of a page that was not stored are written "
        + "again.", "file"), completion: .file())
  var rejects: String?

  /// Whether any option besides ``dryRun`` is given.
  var isGiven: Bool {
    resume || name != nil || strict || maxRejects != nil || rejects != nil
  }

  func validate() throws {
    try refuse(
      if: strict && maxRejects != nil,
      "--max-rejects: not together with --strict, which allows none")
    if let maxRejects, maxRejects < 0 {
      throw ValidationError("--max-rejects: \(maxRejects) is below 0")
    }
    if let name, !(1...ImportKey.longestName).contains(name.utf8.count) {
      throw ValidationError(
        "--name: has \(name.utf8.count) bytes; 1 to \(ImportKey.longestName) are allowed")
    }
    try refuse(
      if: rejects == InputFile.standardInput,
      "--rejects: '-' is not a file; the report goes to standard output")
  }

  /// The maximum number of rejected records; `nil` for any number.
  var rejectLimit: Int? { strict ? 0 : maxRejects }
}
