import ArgumentParser
import EntityStore

/// `kvdump evict`: removes expired records, and those above a limit, from the file.
struct EvictCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "evict",
    abstract: "Remove records that have expired or exceed a limit. Writes.",
    discussion: """
      Example: kvdump evict catalog.lodestore

      If the schema of an entity says 'expires', its records end at the date that they hold. \
      From then on no command and no program shows them. 'evict' removes them from the file, \
      with the records that delete rules remove with them, some thousands in each transaction. \
      The history says that they expired.

      If the schema of an entity says 'limit', 'evict' removes its oldest records until the \
      entity is within the limit.

      'held' counts the records that a rule keeps in the file.

      Programs that write to the store evict records too.
      """)

  @OptionGroup var store: StoreArgument
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    let report = try WriteStore.evict(store.writablePath)
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
