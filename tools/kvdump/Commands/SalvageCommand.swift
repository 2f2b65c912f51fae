import ArgumentParser
import EntityStore
import LodestorePages
import LodestoreRepair
import LodestoreVerifier

/// `kvdump salvage`: saves the content of a damaged store in a new store.
struct SalvageCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage", abstract: "Save the readable content of a damaged store in a new one.",
    discussion: """
      Example: kvdump salvage damaged.lodestore saved.lodestore

      Each page is read and classified by its content. A record with a right checksum is \
      therefore saved with its id, even if no tree refers to its page. The newest value of each \
      record wins. The links of a relationship are restored from either side, or from their \
      order. Indexes and derived attributes are rebuilt from the records. The history is copied \
      if it is complete; otherwise a new one begins.

      An id of a lost record becomes null. A record that must refer to a lost one is left out. \
      Of several records with one unique key, one is saved.

      A row is printed for each part of the content. Status 0 means that nothing was lost, by \
      the digests and the counts of the store. Status 1 means that something was lost, and the \
      report says what.

      The damaged store is not changed. No process may have it open. The command holds in memory \
      a byte for each page, the ids of records as ranges, links with their orders, and hashes of \
      the index entries of damaged entities.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The path of the new store; no file may exist there.", completion: .file())
  var out: String

  @OptionGroup(title: "Output") var output: OutputOptions

  private static let columns = [
    "kind", "name", "saved", "orphans", "older", "damaged", "missing", "emptied", "dropped",
    "whole",
  ].map(Column.capital)

  func run(on console: Console) async throws -> ExitStatus {
    let copy = try StoreCopy(for: out)
    let report: RepairReport
    do {
      report = try StoreRepair.salvage(store.path, into: copy.path)
      _ = try CopyCheck(copy.path, on: console)
    } catch let error as VerificationError {
      throw CommandFailure.verification(error, of: store.path) ?? error
    } catch {
      throw CommandFailure.verification(error, of: out) ?? error
    }
    try copy.commit()
    let rows = report.parts.map { part -> [Cell] in
      [
        .text(part.kind.rawValue), .text(part.name), .count(part.saved), .count(part.orphans),
        .count(part.older), .count(part.damaged), .count(part.missing), .count(part.emptied),
        .count(part.dropped), .bool(part.isWhole),
      ]
    }
    try console.write(rows, of: Self.columns)
    for sentence in report.notes + report.problems { console.note(sentence) }
    console.note(
      report.isWhole ? "nothing was lost" : "see above for what was lost; the rest is in \(out)")
    return report.isWhole ? .success : .negative
  }
}
