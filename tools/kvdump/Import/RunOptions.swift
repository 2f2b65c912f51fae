import ArgumentParser
import LodestoreFormat

/// Options of `import` about the entity's attributes and indexes.
struct SchemaOptions: ParsableArguments {
  /// The default maximum number of bytes stored of a pipe to read it twice.
  static let standardSpoolLimit = 1 << 30

  @Flag(
    help: """
      Work out the schema from the records: of an entity that the store does not know, and of \
      members that a known one lacks. JSON texts stay texts, integers are exact, what is mixed or \
      nested is json, and what some record lacks or has as null is optional. Columns of CSV whose \
      texts are all integers, numbers, true or false, or dates such as 2024-01-05 get that type; \
      texts with zeros in front, such as 007, stay texts. A member whose name cannot be an \
      attribute's gets a readable one, and the store keeps the member's name with it, by which later \
      imports find it.
      """)
  var infer = false

  @Flag(
    help: """
      Give an attribute a wider type where --infer finds that a record needs it, as an int64 a double. All \
      stored values stay exactly what they are, or nothing is done.
      """)
  var widen = false

  @Flag(help: "With --infer: columns of CSV stay texts, whatever they hold.")
  var allText = false

  @Option(
    help: ArgumentHelp(
      "With --infer: how much of a pipe may be kept in TMPDIR to read it twice, as 500M or 4G; 1G "
        + "without it.", valueName: "size"))
  var spoolLimit: ByteSize?

  @Option(help: ArgumentHelp("Infer from the first pages only, not from all.", valueName: "pages"))
  var sample: Int?

  @Option(
    help: ArgumentHelp(
      "The schema of an entity that the store does not know, as 'kvdump schema --format json' "
        + "writes it.", valueName: "file"), completion: .file(extensions: ["json"]))
  var schema: String?

  @Option(
    help: ArgumentHelp(
      "An index to make, its attributes with commas between them, or 'tags[]' for the elements of a JSON "
        + "attribute; may be given again.",
      valueName: "a,b"))
  var index: [NameList] = []

  func validate() throws {
    if infer, schema != nil {
      throw ValidationError("--infer: not together with --schema, which says it all")
    }
    if widen, !infer {
      throw ValidationError(
        "--widen: only with --infer; --type ATTRIBUTE=TYPE widens one attribute")
    }
    if allText, !infer { throw ValidationError("--all-text: only with --infer") }
    if spoolLimit != nil, !infer { throw ValidationError("--spool-limit: only with --infer") }
    if let sample {
      if !infer { throw ValidationError("--sample: only with --infer") }
      if sample < 1 { throw ValidationError("--sample: \(sample) is below 1") }
    }
  }
}

/// Options of `import` about ending, continuing and reporting.
struct RunOptions: ParsableArguments {
  @Flag(help: "Go on behind the last page that was kept, if the last import did not end.")
  var resume = false

  @Option(
    help: ArgumentHelp(
      "What the store calls the import, for --resume and 'kvdump imports'; the entity's name "
        + "without it.", valueName: "name"))
  var name: String?

  @Flag(help: "Report what would be done, and do it to a copy in TMPDIR only.")
  var dryRun = false

  @Flag(
    help: "Stop at the first record that does not fit, or has an unknown member; status 1 then.")
  var strict = false

  @Option(
    help: ArgumentHelp(
      "Stop when more records than that are rejected; status 1 then.", valueName: "n"))
  var maxRejects: Int?

  @Option(
    help: ArgumentHelp(
      "Write every rejected record as a line of JSON: file, page, record, line, byteOffset, attribute "
        + "and reason, and of one that could not be read its first 4,096 bytes as content. --resume "
        + "adds to the file; those of a page that was not kept come again.",
      valueName: "file"), completion: .file())
  var rejects: String?

  func validate() throws {
    if strict, maxRejects != nil {
      throw ValidationError("--max-rejects: not together with --strict, which allows none")
    }
    if let maxRejects, maxRejects < 0 {
      throw ValidationError("--max-rejects: \(maxRejects) is below 0")
    }
    if let name, !(1...ImportKey.longestName).contains(name.utf8.count) {
      throw ValidationError(
        "--name: has \(name.utf8.count) bytes; 1 to \(ImportKey.longestName) are allowed")
    }
    if rejects == InputFile.standardInput {
      throw ValidationError("--rejects: '-' is no file; the report goes to standard output")
    }
  }

  /// The maximum number of rejected records; `nil` for any number.
  var rejectLimit: Int? { strict ? 0 : maxRejects }
}
