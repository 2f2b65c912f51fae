import ArgumentParser
import EntityStore
import Foundation
import KVDumpCommands
import LodestoreReplicas

/// `kvdump restore`: restores a state of a replica into a new store.
struct RestoreCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore a state of a replica into a new store.",
    discussion: """
      Downloads a base and applies the log up to the wanted state, by default the newest. The \
      content is compared with the digests of the log. The store has no part in the replica. \
      'kvdump replica log' lists the writes with their times.

      \(ReplicaStorageText.credentials)

      Examples:
        kvdump restore https://host/backups/pods pods.lodestore
        kvdump restore /mnt/backup/pods before.lodestore \\
          --to-time 2026-11-28T09:00:00Z
      """)

  @Argument(help: ArgumentHelp(ReplicaStorageText.help)) var replica: String

  @Argument(help: "The path of the new store.", completion: .file()) var path: String

  @Option(help: .value("Restore the state after this write.", "n")) var toWrite: UInt64?

  @Option(help: .value("Restore the state at this time by the writer's clock.", "date"))
  var toTime: String?

  @Option(help: .value("Restore the state after this slot of the log.", "n")) var toSlot: UInt64?

  @Flag(help: "Make a sealed file, which nobody can change.") var seal = false

  @Flag(name: .shortAndLong, help: "Show the report that the restore would have; change nothing.")
  var dryRun = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    let count = [toWrite != nil, toTime != nil, toSlot != nil].filter { $0 }.count
    try refuse(if: count > 1, "name one of --to-write, --to-time and --to-slot")
  }

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: replica) }

  func run(on console: Console) async throws -> ExitStatus {
    let bucket = try ReplicaStorageText.bucket(replica)
    let target = try target
    if dryRun {
      let plan = try await Replica.restorePlan(bucket, to: target, at: path)
      try console.writeObject(Self.members(of: plan))
      console.note(plan.incompleteReason)
      return .success
    }
    var options = ReplicaRestoreOptions()
    options.seals = seal
    let (chosen, path) = (options, path)
    let report = try await showingProgress(on: console) { show in
      var options = chosen
      options.onProgress = { show($0.text) }
      return try await Replica.restore(bucket, to: target, at: path, options: options)
    }
    var members = Self.members(of: report)
    members.insert((column: "store", cell: .text(path)), at: 0)
    try console.writeObject(members)
    console.note(report.incompleteReason)
    return .success
  }

  private var target: ReplicaRestoreTarget {
    get throws {
      if let toWrite { return .write(toWrite) }
      if let toSlot { return .slot(toSlot) }
      guard let toTime else { return .latest }
      return .time(try ReplicaLogCommand.date(toTime, "to-time"))
    }
  }

  static func members(of report: ReplicaRestoreReport) -> [(column: Column, cell: Cell)] {
    [
      (Column("baseSlot", title: "base slot"), .unsigned(report.baseSlot)),
      ("slot", .unsigned(report.slot)),
      (Column("lastWrite", title: "last write"), .unsigned(report.lastWrite)),
      (Column("time", title: "data as of"), dateCell(report.time)),
      ("entries", .count(report.entryCount)),
      ("bytes", .byteCount(Int(clamping: report.byteCount))),
    ]
  }
}
