import ArgumentParser
import EntityStore
import LodestoreVerifier

/// `kvdump salvage`: a new store of what can be saved of a damaged one.
struct SalvageCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage", abstract: "A new store of what can be saved of a damaged one.",
    discussion: """
      Example: kvdump salvage damaged.lodestore saved.lodestore

      Every record that still reads and has a right checksum is saved with its id, also where \
      what leads to its page is damaged; indexes, links and counts are made anew from them. An id that \
      leads to a lost record becomes null; a record that must lead to one is left out. Of records with \
      one unique key one is saved, if possible one that a tree leads to, with the highest id. What later versions keep is carried as it reads. The \
      history begins anew, and imports ask for all of their pages again. Status 0 says that nothing was lost, 1 that something was, and what.

      Nobody may write the damaged store meanwhile; it stays as it is. In memory are the ids of the \
      records as ranges, the links and their orders, and a few bits for each page.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The new store; nothing may be there yet.", completion: .file())
  var out: String

  @OptionGroup(title: "Output") var output: OutputOptions

  private static let columns = [
    Column("entity", title: "ENTITY"), Column("saved", title: "SAVED"),
    Column("orphans", title: "ORPHANS"), Column("damaged", title: "DAMAGED"),
    Column("missing", title: "MISSING"), Column("emptied", title: "EMPTIED"),
    Column("dropped", title: "DROPPED"),
  ]

  func run(on console: Console) async throws -> ExitStatus {
    guard !FileFacts.exists(out) else { throw CommandFailure.outputExists(out) }
    let copy = try StoreCopy(for: out)
    let salvage = Salvage(store.path)
    do {
      try salvage.run(into: copy.path)
      _ = try CopyCheck(copy.path, on: console)
    } catch {
      throw CommandFailure.verification(error, of: store.path) ?? error
    }
    try copy.commit()
    let writer = console.rows(of: Self.columns)
    for report in salvage.reports {
      try writer.write([
        .text(report.name), .count(report.saved), .count(report.orphans), .count(report.damaged),
        .count(report.missing), .count(report.emptied), .count(report.dropped),
      ])
    }
    try writer.finish()
    for problem in salvage.problems { console.note(problem) }
    let isWhole = salvage.problems.isEmpty && salvage.reports.allSatisfy(\.isWhole)
    console.note(
      isWhole ? "nothing was lost" : "see above for what was lost; the rest is in \(out)")
    return isWhole ? .success : .negative
  }
}
