import ArgumentParser
import EntityStore

/// `kvdump evict`: removes expired records, and those above a limit, from the file.
struct EvictCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "evict",
    abstract: "Remove the records that have expired or are above a limit. Writes.",
    discussion: """
      Example: kvdump evict catalog.lodestore

      Records of an entity whose schema says 'expires' end at the date that they hold. No command and no \
      program shows them from then on; 'evict' removes them from the file, with the records that go with them \
      by delete rules, some thousands in each transaction. The history says that they expired.

      Of an entity whose schema says 'limit', 'evict' removes the oldest records until the entity is within it.

      'held' counts the records that a rule keeps in the file.

      Programs that write the store evict them too.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    let report = try WriteStore.evict(store.path)
    try console.writeObject([
      ("store", .text(store.path)), ("evicted", .count(report.evictedCount)),
      ("held", .count(report.heldCount)), ("transactions", .count(report.batchCount)),
    ])
    if console.format == .table {
      for (name, count) in report.evictedCounts.sorted(by: { $0.key < $1.key }) {
        console.note("\(name): \(count) removed")
      }
    }
    return .success
  }
}
