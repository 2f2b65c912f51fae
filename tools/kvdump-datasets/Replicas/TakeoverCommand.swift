import ArgumentParser
import Foundation
import KVDumpCommands
import LodestoreReplicas

/// `kvdump replica takeover`: makes a store on this machine the replica's writer.
struct TakeoverCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "takeover", abstract: "Make a store on this machine the replica's writer.",
    discussion: """
      Restores the newest state to a new path, or uses the folder of a stopped follower. A fence \
      in the log stops the former writer for ever. Then replicate the store that the output names.

      Example: kvdump replica takeover https://host/backups/pods pods.lodestore
      """)

  @Argument(help: ArgumentHelp(ReplicaStorageText.help)) var replica: String

  @Argument(help: "The path of the new store, or a follower's folder.", completion: .file())
  var path: String

  @Flag(help: "Take over even if the lease says that the writer is alive.") var ignoreLease = false

  @Flag(help: "Wait until nobody has renewed the lease for its duration.") var wait = false

  @Flag(
    name: .shortAndLong,
    help: "Show the state that would be taken over, or the failure; change nothing.")
  var dryRun = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: ignoreLease && wait, "name one of --ignore-lease and --wait")
  }

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: replica) }

  func run(on console: Console) async throws -> ExitStatus {
    let bucket = try ReplicaStorageText.bucket(replica)
    if dryRun {
      var options = ReplicaRestoreOptions()
      options.ignoresLease = ignoreLease
      let plan = try await Replica.takeOverPlan(bucket, at: path, options: options)
      try console.writeObject(plan.members)
      return .success
    }
    var options = ReplicaRestoreOptions()
    options.ignoresLease = ignoreLease
    options.waitsForLease = wait
    options.name = ProcessInfo.processInfo.hostName
    let (chosen, path) = (options, path)
    let report = try await showingProgress(on: console) { show in
      var options = chosen
      options.onProgress = { show($0.text) }
      return try await Replica.takeOver(bucket, at: path, options: options)
    }
    try console.writeObject(report.members)
    return .success
  }
}

extension ReplicaTakeoverReport {
  /// The members of an output object.
  var members: [(column: Column, cell: Cell)] {
    [
      ("store", .text(path)), ("slot", .unsigned(slot)), ("epoch", .unsigned(epoch)),
      (Column("lastWrite", title: "last write"), .unsigned(lastWrite)),
    ]
  }
}

extension ReplicaPlan {
  /// The members of an output object.
  var members: [(column: Column, cell: Cell)] {
    [
      ("action", .text(CommandFailure.kebab(action.rawValue))), ("slot", .unsigned(slot)),
      (Column("lastSlot", title: "last slot"), .unsigned(lastSlot)),
      (Column("lastWrite", title: "last write"), .unsigned(lastWrite)),
      (Column("baseSlot", title: "base slot"), baseSlot.map(Cell.unsigned) ?? .null),
      ("entries", .count(entryCount)),
      ("bytes", byteCount.map { .byteCount(Int(clamping: $0)) } ?? .null),
    ]
  }
}
