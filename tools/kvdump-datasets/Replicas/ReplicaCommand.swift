import ArgumentParser
import EntityStore
import Foundation
import KVDumpCommands
import LodestoreReplicas

/// `kvdump replica`: the state and the writes of a replica, takeovers, and writes that no replica
/// has.
struct ReplicaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replica",
    abstract: "Show a replica and its writes, take over its writing, export lost writes.",
    subcommands: [
      ReplicaStatusCommand.self, ReplicaLogCommand.self, TakeoverCommand.self, StandbyCommand.self,
      ExportDivergedCommand.self,
    ])
}

struct ReplicaStatusCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the log, the bases and the followers of a replica.",
    discussion: """
      Reads the storage and changes nothing.

      \(ReplicaStorageText.credentials)

      Example: kvdump replica status https://s3.eu-central-1.amazonaws.com/backups/pods
      """)

  @Argument(help: ArgumentHelp(ReplicaStorageText.help)) var replica: String

  @Flag(help: "List the bases.") var bases = false

  @Flag(help: "List the registered followers.") var followers = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: bases && followers, "name one of --bases and --followers")
  }

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: replica) }

  func run(on console: Console) async throws -> ExitStatus {
    let summary = try await Replica.summary(of: try ReplicaStorageText.bucket(replica))
    if bases {
      try console.write(
        summary.bases.map { base in
          [
            .unsigned(base.slot), .unsigned(base.lastWrite), dateCell(base.time),
            .byteCount(Int(clamping: base.byteCount)),
            .byteCount(Int(clamping: base.packedByteCount)),
          ]
        },
        of: [
          "slot", Column("lastWrite", title: "last write"), Column("time", title: "data as of"),
          Column("byteCount", title: "size"), Column("packedByteCount", title: "packed"),
        ])
      return .success
    }
    if followers {
      try console.write(
        summary.followers.map { follower in
          [
            .text(follower.id), .unsigned(follower.slot), .unsigned(follower.lastWrite),
            dateCell(follower.time),
          ]
        }, of: ["id", "slot", Column("lastWrite", title: "last write"), "reported"])
      return .success
    }
    try console.writeObject([
      (Column("replicaID", title: "replica"), .text(summary.replicaID)),
      (Column("createdAt", title: "created"), dateCell(summary.createdAt)),
      (
        Column("firstSlot", title: "first slot"),
        summary.slots.map { .unsigned($0.lowerBound) } ?? .null
      ),
      (
        Column("lastSlot", title: "last slot"),
        summary.slots.map { .unsigned($0.upperBound) } ?? .null
      ),
      (Column("logBytes", title: "log"), .byteCount(Int(clamping: summary.logBytes))),
      ("epoch", .unsigned(summary.epoch)),
      (Column("lastWrite", title: "last write"), .unsigned(summary.lastWrite)),
      (Column("lastWriteAt", title: "data as of"), dateCell(summary.lastWriteAt)),
      ("writer", summary.writer.map(Cell.text) ?? .null), ("bases", .count(summary.bases.count)),
      (
        Column("baseSlot", title: "newest base"),
        summary.bases.last.map { .unsigned($0.slot) } ?? .null
      ),
      ("followers", .count(summary.followers.count)),
      (Column("leaseHolder", title: "lease of"), summary.leaseHolder.map(Cell.text) ?? .null),
      (Column("leaseUntil", title: "lease until"), dateCell(summary.leaseUntil)),
    ])
    return .success
  }
}

struct ExportDivergedCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "export-diverged",
    abstract: "Write the writes of a store that no replica has, as lines of JSON.",
    discussion: """
      After a takeover the former writer's store may have writes that were never sent. Each line \
      has one write with the values of its records.

      Example: kvdump replica export-diverged old.lodestore lost.jsonl
      """)

  @Argument(help: "The store of the former writer.", completion: .file()) var store: String

  @Argument(help: "The path of the new file.", completion: .file()) var file: String

  @Option(help: .value("The first write, as the failure of 'replicate' names it.", "n"))
  var from: UInt64?

  @OptionGroup(title: "Output") var output: OutputOptions

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: store) }

  func run(on console: Console) async throws -> ExitStatus {
    let opened = try Store(at: store, entities: [], options: .readOnly)
    defer { opened.close() }
    let count = try Replica.exportDiverged(opened, to: file, from: from)
    try console.writeObject([("file", .text(file)), ("writes", .count(count))])
    return count > 0 ? .success : .negative
  }
}
