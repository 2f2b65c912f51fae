import EntityStore

/// The failures of `import`.
extension CommandFailure {
  /// A page that is not JSON; `reason` tells where and what.
  static func malformedPage(_ number: Int, file: String, reason: String) -> Self {
    CommandFailure(
      code: "malformed-page",
      message: "\(file): page \(number): \(reason); mend it and import again, nothing of this page "
        + "is kept and earlier pages are", status: .damagedData, details: page(number, file))
  }

  static func pageWithoutRecords(
    _ number: Int, file: String, line: Int?, path: String, candidates: [String]
  ) -> Self {
    let place = line.map { " (line \($0))" } ?? ""
    let only = candidates.count == 1 ? candidates[0] : nil
    let hint = NearestName.of(path, among: candidates) ?? only
    let step = hint.map { "did you mean --records \($0)?" } ?? "name another path with --records"
    return CommandFailure(
      code: "no-records",
      message: "\(file): page \(number)\(place): has no array at '\(path)'; \(step)",
      status: .damagedData, details: page(number, file))
  }

  private static func page(_ number: Int, _ file: String) -> [Detail] {
    [
      Detail(name: "file", value: .text(file)),
      Detail(name: "page", value: .integer(Int64(number))),
    ]
  }

  static func noRecordsAtAll(_ files: [String]) -> Self {
    CommandFailure(
      code: "no-records",
      message: "\(files.joined(separator: ", ")): no records to infer a schema from; give files "
        + "with records, or --schema", status: .damagedData)
  }

  static func newEntityWithoutSchema(_ entity: String, in store: String, known: [String]) -> Self {
    let nearest = NearestName.of(entity, among: known)
    let hint = nearest.map { "did you mean \"\($0)\"? " } ?? ""
    var details = [Detail(name: "entity", value: .text(entity))]
    if let nearest { details.append(Detail(name: "didYouMean", value: .text(nearest))) }
    return CommandFailure(
      code: "no-such-entity",
      message: "\(store): has no entity \"\(entity)\"; \(hint)--infer makes one from the records, "
        + "--schema from a file", status: .usage, details: details)
  }

  static func noKey(_ entity: String, unique: [String]) -> Self {
    let reason =
      unique.isEmpty
      ? "has no unique index to match records by"
      : "has the unique indexes \(unique.joined(separator: ", "))"
    return CommandFailure(
      code: "no-key",
      message: "\(entity): \(reason); --unique a,b names the attributes to match by, --insert-only "
        + "inserts every record", status: .usage,
      details: [Detail(name: "entity", value: .text(entity))])
  }

  static func unknownMember(
    _ name: String, of entity: String, known: [String], candidates: [String]
  ) -> Self {
    var hint = NearestName.of(name, among: known).map { "did you mean \"\($0)\"?" }
    if hint == nil, let path = candidates.first { hint = "are the records at --records \(path)?" }
    let step = hint ?? "the attributes are \(known.joined(separator: ", "))"
    return CommandFailure(
      code: "no-such-attribute", message: "\(entity): no record has \"\(name)\"; \(step)",
      status: .usage, details: [Detail(name: "attribute", value: .text(name))])
  }

  static func badSchemaFile(_ path: String, reason: String) -> Self {
    CommandFailure(
      code: "bad-schema-file",
      message: "\(path): \(reason); write it as 'kvdump schema STORE ENTITY --format json' does",
      status: .damagedData, details: [Detail(name: "file", value: .text(path))])
  }
}
