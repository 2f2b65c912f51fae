import EntityStore

/// The report about an import.
extension ImportSession {
  /// Reports the result.
  ///
  /// - Parameter store: The store that a dry run left unchanged; `nil` if it was not a dry run.
  func report(_ result: Result, dryRunOf store: String?, on console: Console) throws -> ExitStatus {
    if let report = result.report { try write(report, on: console) }
    if let store { console.note("dry run: \(store) is as it was") }
    guard let failure = result.failure else {
      guard let report = result.report else { return .success }
      if Self.isSkippedMirror(report) || report.isCut { return .negative }
      guard report.records > 0, report.rejected == report.records else { return .success }
      console.note("\(importing.entity): every record was rejected")
      return .negative
    }
    let isStopped = (failure as? StoreError)?.code == .importStopped
    let isOverLimit =
      isStopped && importing.options.rejectLimit < .max && watch.rejected > 0
      && result.report?.ending == .failed
    if let report = result.report, report.ending != .finished, report.pages > 0, store == nil,
      !isStopped || isOverLimit
    {
      let pages = NumberText.grouped(report.pages)
      console.note(
        "\(report.pages == 1 ? "1 page is" : "\(pages) pages are") kept; --resume goes on")
    }
    guard isOverLimit, let error = failure as? StoreError else { throw failure }
    console.note("\(importing.entity): \(error.message)")
    return .negative
  }

  private func write(_ result: ImportReport, on console: Console) throws {
    var report = result
    if report.ending != .finished {
      // The store keeps only some rejects, and not the reject that ended the import.
      let known = Set(report.rejects)
      report.rejects += watch.rejects.filter { !known.contains($0) }
      report.rejected = max(report.rejected, watch.rejected, report.rejects.count)
    }
    try console.writeObject(report.members(withRejects: console.format.isJSON))
    noteResult(report, on: console)
  }

  /// Whether a mirror was skipped because the source had no records.
  private static func isSkippedMirror(_ report: ImportReport) -> Bool {
    report.strategy == .mirror && report.keptUnseen && report.records == 0
  }

  /// Reports attributes that an earlier version may have made from these members.
  ///
  /// Earlier versions stored no source names.
  private func noteFormerAttributes(of members: some Sequence<String>, on console: Console) {
    for member in members {
      let former = AttributeNames.former(member)
      guard former != member, sourceless.contains(former) else { continue }
      console.note(AttributeNames.note(of: former, madeFrom: member, in: importing.entity))
    }
  }

  private func noteResult(_ report: ImportReport, on console: Console) {
    for reject in report.rejects.prefix(10) { console.note(reject.textLine) }
    if report.rejected > 10 {
      let more = NumberText.grouped(report.rejected - 10)
      let hint = rejectFile.map {
        (try? $0.check()) == nil ? "not all are in \($0.path)" : "\($0.path) has them all"
      }
      console.note("and \(more) more rejects; \(hint ?? "--rejects FILE has them all")")
    }
    for warning in report.warnings?.prefix(10) ?? [] { console.note(warning) }
    var unknown = report.unknownMembers
    if let count = unknown.removeValue(forKey: RecordColumns.idName) {
      console.note(
        "\(report.entity): '_id' of \(NumberText.grouped(count)) "
          + "\(count == 1 ? "record" : "records") was "
          + "not imported, because the store assigns ids; --map _id=NAME imports it into an "
          + "attribute")
    }
    if !unknown.isEmpty {
      let names = unknown.keys.sorted().prefix(20).joined(separator: ", ")
      console.note(
        "\(report.entity): left out members without an attribute: \(names); --infer adds them")
      noteFormerAttributes(of: unknown.keys.sorted().prefix(20), on: console)
    }
    if Self.isSkippedMirror(report) {
      console.note(
        "\(report.entity): the files have no record, and a mirror of that would delete all; "
          + "nothing was deleted, --mirror-empty does it")
    } else if report.keptUnseen, report.isCut {
      console.note(
        "\(report.entity): deleted nothing, as the records that a file lacks may be stored ones")
    } else if report.keptUnseen {
      console.note(
        "\(report.entity): deleted nothing, as the rejected records may be stored ones; mend them, "
          + "or take --delete-despite-rejects")
    }
    guard importing.options.resumes, report.ending == .finished else { return }
    console.note(
      report.resumptions > 0
        ? "\(report.entity): went on with run \(report.run)"
        : "\(report.entity): there was nothing to continue; began from the start")
  }
}

extension AttributeNames {
  /// A note that an earlier version may have made an attribute from a member.
  static func note(of former: String, madeFrom member: String, in entity: String) -> String {
    "\(entity): '\(former)' keeps no name of a member; if it was made from '\(member)', "
      + "--infer \(ShellWord.option("map", "\(member)=\(former)")) goes on with it"
  }
}
