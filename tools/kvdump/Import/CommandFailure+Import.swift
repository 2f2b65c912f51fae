import EntityStore
import LodestoreFormat

/// The failures of `import`.
extension CommandFailure {
  /// The failure for a page that is not JSON.
  ///
  /// `reason` has the position and the fault.
  static func malformedPage(_ number: Int, file: String, reason: String) -> Self {
    let step =
      number == 1
      ? "correct it and import again; nothing was stored"
      : "this page was not stored, earlier pages were; correct it and continue with --resume"
    return CommandFailure(
      code: "malformed-page", message: "\(file): page \(number): \(reason); \(step)",
      status: .damagedData, details: page(number, file))
  }

  static func pageWithoutRecords(
    _ number: Int, file: String, line: Int?, _ form: InputForm, candidates: [String]
  ) -> Self {
    let location = line.map { " (line \($0))" } ?? ""
    let path = form.records ?? ""
    let isOfMembers = form.keyName != nil
    let only = candidates.count == 1 ? candidates[0] : nil
    let hint = NearestName.of(path, among: candidates) ?? only
    let step =
      isOfMembers
      ? "leave out --key-name if the records are in an array"
      : hint.map { "did you mean \(ShellWord.option("records", $0))?" }
        ?? "name another path with --records, or, if they are the members of an object, --key-name"
    let wanted = isOfMembers ? "object" : "array"
    return CommandFailure(
      code: "no-records",
      message: "\(file): page \(number)\(location): has no \(wanted) at '\(path)'; \(step)",
      status: .damagedData, details: page(number, file))
  }

  private static func page(_ number: Int, _ file: String) -> [Detail] {
    [.text("file", file), Detail(name: "page", value: .integer(Int64(number)))]
  }

  /// The failure for an index over an attribute whose type has no order.
  static func notIndexable(
    _ name: String, _ type: AttributeType, isUnique: Bool, isNew: Bool
  ) -> Self {
    let typed =
      "\(ShellWord.option("type", "\(name)=string")), or another type, gives it a common type"
    let step =
      switch (type, isUnique, isNew) {
      case (.json, true, true): "its values have no common type, or are all null; \(typed)"
      case (.json, true, false): "match records by attributes of one scalar type"
      case (.json, false, _):
        "use --index '\(name)[]' for an index over the elements of its arrays"
          + (isNew ? "; if its values are not arrays, \(typed)" : "")
      default: "index attributes whose values are all of one scalar type"
      }
    return .badArgument(name, reason: "is \(type.name) and cannot be indexed", nextStep: step)
  }

  /// The failure for records whose members exceed the maximum number of attributes of an entity.
  static func tooManyMembers(of entity: String, file: String, page number: Int) -> Self {
    CommandFailure(
      code: "too-many-members",
      message: "\(file): page \(number): the records up to here have more than 1,000 members "
        + "without an attribute of \(entity), and an entity can have 1,000 attributes; if the "
        + "names of members are keys of records, --key-name NAME imports each member as a record; "
        + "otherwise give the attributes with --schema FILE and not --infer",
      status: .usage, details: page(number, file))
  }

  /// The failure for a pipe with more bytes than `--infer` may store to read them twice.
  static func spoolLimit(_ limit: Int, in folder: String) -> Self {
    CommandFailure(
      code: "spool-limit",
      message:
        "standard input: has more than \(NumberText.byteCount(limit)), which --infer stores in "
        + "\(folder) to read it twice; raise --spool-limit, infer from the first pages with "
        + "--sample, or give a file", status: .usage,
      details: [Detail(name: "limit", value: .integer(Int64(limit)))])
  }

  static func newEntityWithoutSchema(_ entity: String, in store: String, known: [String]) -> Self {
    unknownName(
      entity, code: "no-such-entity", detail: "entity", known: known,
      sentence: "\(store): has no entity \"\(entity)\"",
      step: "--infer creates one from the records, --schema from a file")
  }

  static func noKey(_ entity: String, unique: [String]) -> Self {
    let reason =
      unique.isEmpty
      ? "has no unique index to match records by"
      : "has the unique indexes \(unique.joined(separator: ", "))"
    return CommandFailure(
      code: "no-key",
      message: "\(entity): \(reason); --unique a,b names the attributes to match by, --insert-only "
        + "inserts every record", status: .usage, details: [.text("entity", entity)])
  }

  static func unknownMember(
    _ name: String, of entity: String, known: [String], candidates: [String]
  ) -> Self {
    missing(
      "attribute", name, "\(entity): no record has \"\(name)\"", among: known,
      otherwise: candidates.first.map { "are the records at \(ShellWord.option("records", $0))?" }
        ?? "the attributes are \(known.joined(separator: ", "))")
  }

  /// The failure for a name that is not among `known`.
  ///
  /// - Parameter step: The next step if no known name is similar; by default the first names.
  private static func missing(
    _ kind: String, _ name: String, _ sentence: String, among known: [String],
    otherwise step: String? = nil
  ) -> Self {
    let names = "the \(kind)s are \(known.prefix(50).joined(separator: ", "))"
    return CommandFailure(
      code: "no-such-\(kind)",
      message: "\(sentence); \(hint(name, among: known) ?? step ?? names)", status: .usage,
      details: [.text(kind, name)])
  }

  private static func hint(_ name: String, among known: [String]) -> String? {
    NearestName.of(name, among: known).map { "did you mean \"\($0)\"?" }
  }

  /// The failure for `_id` used like an attribute.
  static let ownNameOfID = CommandFailure(
    code: "reserved-name",
    message: "'_id': is the store's name for the id of a record; import the member into an "
      + "attribute of another name with --map _id=NAME", status: .usage,
    details: [.text("member", RecordColumns.idName)])

  /// The failure for a value that the wider type of its attribute cannot represent exactly.
  static func notWidened(
    _ attribute: String, of entity: String, in path: String, from stored: AttributeType,
    to type: AttributeType, record id: UInt64
  ) -> Self {
    let step =
      stored.widens(to: .decimal) && type != .decimal
      ? "--type \(attribute)=decimal keeps every digit"
      : "--map MEMBER=NAME imports the member into another attribute"
    return CommandFailure(
      code: "not-widened",
      message:
        "\(path): '\(entity).\(attribute)' stays \(stored.name), because the value of record \(id) "
        + "is not exactly a \(type.name); \(step)", status: .damagedData,
      details: [
        .text("store", path), .text("attribute", attribute),
        Detail(name: "_id", value: .unsigned(id)),
      ])
  }

  static func badSchemaFile(_ path: String, reason: String) -> Self {
    CommandFailure(
      code: "bad-schema-file",
      message: "\(path): \(reason); write it as 'kvdump schema STORE ENTITY --format json' does",
      status: .damagedData, details: [.text("file", path)])
  }

  static func rejectsExist(_ path: String) -> Self {
    .outputExists(path, nextStep: "name a free file, or append to it with --resume")
  }

  /// The failure for `--map` or `--type` with the name of an attribute that the entity lacks.
  static func ruleWithoutAttribute(
    _ name: String, option: String, of entity: String, known: [String]
  ) -> Self {
    missing("attribute", name, "\(option): \(entity) has no attribute \"\(name)\"", among: known)
  }

  /// The failure for `--map` with the name of a member that no record has.
  static func mapWithoutMember(_ name: String, of entity: String, known: [String]) -> Self {
    missing("member", name, "--map: no record of \(entity) has \"\(name)\"", among: known)
  }

  /// The failure for two members that would fill one attribute.
  static func twoMembers(_ names: [String], for attribute: String) -> Self {
    let both = names.sorted().map { "\"\($0)\"" }.joined(separator: " and ")
    return CommandFailure(
      code: "two-members",
      message: "--map: \(both) would both be attribute \"\(attribute)\"; give each its own name",
      status: .usage, details: [.text("attribute", attribute)])
  }

  /// The failure for `--type` with a type that differs from the type of the attribute.
  static func otherType(_ attribute: String, is type: String, option: String) -> Self {
    CommandFailure(
      code: "other-type",
      message:
        "--type: '\(attribute)' is \(type), and stored types are only widened, such as int64 to "
        + "double; leave out \(option), or import it into another attribute with --map",
      status: .usage, details: [.text("attribute", attribute)])
  }

  static func noSuchImport(_ name: String, in store: String, known: [String]) -> Self {
    let hint = hint(name, among: known).map { $0 + " " } ?? ""
    return CommandFailure(
      code: "no-such-import",
      message: "\(store): has no import \"\(name)\"; \(hint)see 'kvdump imports "
        + "\(ShellWord.path(store))'", status: .usage, details: [.text("name", name)])
  }
}
