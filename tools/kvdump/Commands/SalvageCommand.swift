import ArgumentParser
import EntityStore
import LodestorePages
import LodestoreRepair
import LodestoreVerifier

/// `kvdump salvage`: saves the content of a damaged store in a new store.
struct SalvageCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage", abstract: "Save what can be read of a damaged store in a new one.",
    discussion: """
      Example: kvdump salvage damaged.lodestore saved.lodestore

      Each page is read and classified by its content. So a record with a right checksum is saved with its id, \
      whatever led to its page. The newest value of each record wins. The links of a relationship are restored from \
      either side, or from their order. Indexes and derived attributes are built from the records. The history is \
      carried if it is whole, and otherwise begins anew.

      An id that leads to a lost record becomes null. A record that must lead to one is left out. Of records with one \
      unique key one is saved.

      One row is printed for each part of the content. Status 0 says that nothing was lost, by the digests and the \
      counts of the store. Status 1 says that something was, and what.

      The damaged store stays as it is. No process may have it open. Memory holds a byte for each page, the ids of \
      records as ranges, links with their orders, and hashes of the index entries of entities with damage.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The new store; nothing may be there yet.", completion: .file())
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
