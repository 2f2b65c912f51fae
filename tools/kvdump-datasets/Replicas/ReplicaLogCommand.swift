import ArgumentParser
import Foundation
import KVDumpCommands
import LodestoreJSON
import LodestoreReplicas

/// `kvdump replica log`: the writes of a replica, whose states can be restored.
struct ReplicaLogCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Show the writes of a replica, whose states can be restored.",
    discussion: """
      Shows a row for each write, newest first, down to the oldest base. The changes are the \
      numbers of records that the write inserted, updated and deleted. To undo a mistake, restore \
      the state after the write before it. Times are those of the writer's clock.

      A row of several writes has the number of the first one, too. Only the state after the last \
      one can be restored. The row of a base has no changes.

      The status is 1 if there is no such write.

      \(ReplicaStorageText.credentials)

      Examples:
        kvdump replica log https://host/backups/pods --limit 10
        kvdump replica log /mnt/backup/pods --since 2026-11-28 --format jsonl
        kvdump restore /mnt/backup/pods before.lodestore --to-write 118
      """)

  @Argument(help: ArgumentHelp(ReplicaStorageText.help)) var replica: String

  @Option(help: .value("Show only writes since this time.", "date")) var since: String?

  @Option(help: .value("Show only writes up to this time.", "date")) var until: String?

  @Option(help: .value("Show at most this many writes; 0 shows all.", "n")) var limit = 50

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws { try refuse(if: limit < 0, "--limit: \(limit) is below 0") }

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: replica) }

  func run(on console: Console) async throws -> ExitStatus {
    var options = ReplicaLogOptions()
    options.since = try since.map { try Self.date($0, "since") }
    options.until = try until.map { try Self.date($0, "until") }
    // One write more tells whether the list is complete.
    options.limit = limit == 0 ? nil : limit + 1
    let rows = console.rows(of: Self.columns)
    var count = 0
    for try await write in Replica.writes(
      of: try ReplicaStorageText.bucket(replica), options: options)
    {
      count += 1
      if limit > 0, count > limit { break }
      try rows.write(write.cells(asJSON: console.format == .json || console.format == .jsonl))
    }
    try rows.finish()
    if limit > 0, count > limit {
      console.note("there are older writes; --limit shows more")
    }
    if count == 0 { console.note("\(replica): no such writes") }
    return count == 0 ? .negative : .success
  }

  /// Reads the date of an option.
  static func date(_ text: String, _ option: String) throws -> Date {
    guard let date = ISO8601Text.date(text) else {
      throw CommandFailure.badOption(
        option, "'\(text)' is not a date; write it as 2026-01-31 or 2026-01-31T12:00:00Z")
    }
    return date
  }

  private static let columns: [Column] = [
    "write", Column("firstWrite", title: "from write"), "time", "slot", "epoch", "writer",
    "author", "context", "changes", "links",
  ]
}

extension ReplicaWrite {
  /// - Parameter asJSON: Whether the changes are an array and not a text.
  fileprivate func cells(asJSON: Bool) -> [Cell] {
    let list: Cell =
      if asJSON {
        isBase
          ? .null
          : .array(
            changes.map { changes in
              .object([
                ("entity", .text(changes.entity)), ("inserted", .unsigned(changes.insertedCount)),
                ("updated", .unsigned(changes.updatedCount)),
                ("deleted", .unsigned(changes.deletedCount)), ("whole", .bool(changes.isWhole)),
              ])
            })
      } else {
        .text(isBase ? "base" : changes.map(\.text).joined(separator: "; "))
      }
    return [
      .unsigned(number), firstNumber < number ? .unsigned(firstNumber) : .null, dateCell(time),
      .unsigned(slot), .unsigned(epoch), writer.map(Cell.text) ?? .null,
      author.map(Cell.text) ?? .null, context.map(Cell.text) ?? .null, list,
      .unsigned(linkCount),
    ]
  }
}

extension ReplicaWrite.Changes {
  fileprivate var text: String {
    let counts = [
      (insertedCount, "inserted"), (updatedCount, "updated"), (deletedCount, "deleted"),
    ]
    let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return "\(entity): " + (words + (isWhole ? ["all written anew"] : [])).joined(separator: ", ")
  }
}
