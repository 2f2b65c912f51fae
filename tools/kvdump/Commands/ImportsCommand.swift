import ArgumentParser
import EntityStore
import LodestoreFormat

/// `kvdump imports`: the reports and states of imports that the store keeps.
struct ImportsCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "imports", abstract: "Show the reports of imports, newest first.",
    discussion: """
      Examples:
        kvdump imports catalog.lodestore
        kvdump imports catalog.lodestore Pod --format json

      The store keeps the last hundred reports of each import name, which is the entity's unless \
      --name gave another. For an import that was killed or failed it keeps the progress. The \
      JSON forms have complete reports, with the first rejects.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "Show only imports of this name.") var name: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    let kept = try ReadStore.read(store.path, on: console) { snapshot in
      let names = try snapshot.importNames()
      if let name, !names.contains(name) {
        throw CommandFailure.noSuchImport(name, in: store.path, known: names)
      }
      return try (name.map { [$0] } ?? names).map { try snapshot.importReports(of: $0) }
    }
    let isForPrograms = console.format.isJSON
    let reports = kept.flatMap { $0 }.sorted {
      ($0.startedAt, $0.name, $0.run) > ($1.startedAt, $1.name, $1.run)
    }
    let columns = ImportReport.empty(of: "").members(isWhole: isForPrograms).map(\.column)
    try console.write(reports.map { $0.members(isWhole: isForPrograms).map(\.cell) }, of: columns)
    if reports.isEmpty { console.note("\(store.path): no imports") }
    for report in kept.compactMap(\.last) where report.ending != .finished {
      console.note(Self.wayOn(report, store.path))
    }
    return .success
  }

  /// The way to continue the last import of a name that did not complete.
  private static func wayOn(_ report: ImportReport, _ store: String) -> String {
    var options = ShellWord.option("entity", report.entity)
    if report.name != report.entity { options += " " + ShellWord.option("name", report.name) }
    if report.strategy != .upsert {
      options += " --strategy \(report.strategy.argument)"
    }
    let state = "\(report.name): run \(report.run) is at page \(NumberText.grouped(report.pages))"
    let failure = report.failure.map { " (\($0))" } ?? ""
    return
      "\(state)\(failure); if no process is running it, 'kvdump import \(ShellWord.path(store)) "
      + "FILE… \(options) --resume' with the same files goes on"
  }
}

extension ImportReport {
  /// The report as columns of `imports`, by name.
  fileprivate func members(isWhole: Bool) -> [(column: Column, cell: Cell)] {
    let started = startedAt.timeIntervalSinceReferenceDate.rounded(.down)
    let members: [(column: Column, cell: Cell)] = [
      ("name", .text(name)), ("entity", .text(entity)), ("strategy", .text(strategy.argument)),
      ("run", .unsigned(run)), ("ending", .text(ending.rawValue)),
      ("started", .date(KeyText.text(of: .date(started)))), ("pages", .count(pages)),
      ("records", .count(records)), ("inserted", .count(inserted)), ("updated", .count(updated)),
      ("unchanged", .count(unchanged)), ("deleted", .count(deleted)),
      ("rejected", .count(rejected)), ("seconds", .double((seconds * 1000).rounded() / 1000)),
      ("recordsPerSecond", .count(Int(exactly: recordsPerSecond.rounded()) ?? 0)),
    ]
    guard isWhole else { return members }
    let rejects = rejects.map { reject in
      Cell.object([
        ("page", .count(reject.page)), ("record", .count(reject.record)),
        ("byteOffset", reject.byteOffset.map(Cell.count) ?? .null),
        ("attribute", reject.attribute.map(Cell.text) ?? .null), ("reason", .text(reject.reason)),
      ])
    }
    return members + [
      ("failure", failure.map(Cell.text) ?? .null), ("ignored", .count(ignored)),
      ("unchangedPages", .count(unchangedPages)), ("keptUnseen", .bool(keptUnseen)),
      ("unknownMembers", unknownCell), ("bytes", .count(bytes)), ("commits", .count(commits)),
      ("resumptions", .count(resumptions)), ("decodingSeconds", .double(decodingSeconds)),
      ("writingSeconds", .double(writingSeconds)), ("rejects", .array(rejects)),
    ]
  }
}
