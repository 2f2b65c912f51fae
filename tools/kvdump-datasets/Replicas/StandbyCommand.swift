import ArgumentParser
import EntityStore
import Foundation
import KVDumpCommands
import LodestoreReplicas

/// `kvdump replica standby`: follows a replica, and takes over when its writer has ended.
struct StandbyCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "standby", abstract: "Follow a replica, and take over when its writer has ended.",
    discussion: """
      Keeps a copy up to date as 'kvdump follow' does. The writer counts as ended when it has not \
      renewed its lease and has not written for the duration of the lease. A fence in the log then \
      stops it for ever, also if it was only slow. The command prints the store and ends, so that a \
      program can begin to write. With --replicate it sends the commits of programs until Control-C.

      The status is 130 if a signal ends the command before the takeover.

      \(ReplicaStorageText.credentials)

      Examples:
        kvdump replica standby https://host/backups/pods copy && ./server
        kvdump replica standby /mnt/backup/pods copy --replicate
      """)

  @Argument(help: ArgumentHelp(ReplicaStorageText.help)) var replica: String

  @Argument(help: "The folder of the copy.", completion: .directory) var folder: String

  @Flag(help: "Send the commits of the store after the takeover.") var replicate = false

  @Flag(name: .shortAndLong, help: "Show the state of the copy and of the lease; change nothing.")
  var dryRun = false

  @Option(help: .value("Read the lease at least this often.", "seconds")) var interval = 5.0

  @Option(
    help: .value(
      "If the replica has no lease, take over after this time without a sign of a writer.",
      discussion: "Without this option the command waits for a lease. Its duration then counts.",
      "seconds"))
  var assumedLease: Double?

  @Option(help: .value("A name of this machine for people.", "name")) var name: String?

  @OptionGroup var metrics: MetricsOptions

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: !(0.01...3_600).contains(interval), "--interval: expected 0.01 to 3600")
    try refuse(
      if: assumedLease.map { !(0.1...86_400).contains($0) } ?? false,
      "--assumed-lease: expected 0.1 to 86400")
  }

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: folder) }

  func run(on console: Console) async throws -> ExitStatus {
    let bucket = try ReplicaStorageText.bucket(replica)
    if dryRun { return try await plan(bucket, on: console) }
    try metrics.write([])
    let chosen = options
    let (folder, replicate, metrics) = (folder, replicate, metrics)
    let end = try await showingProgress(on: console) { show in
      var options = chosen
      options.follower.onProgress = { show($0.text) }
      options.onStatus = { show($0.text) }
      let standby = try await Replica.standby(
        at: folder, of: bucket, entities: [], options: options)
      guard let store = try await Self.takenOver(standby, metrics, show) else {
        await standby.stop()
        return End()
      }
      var end = End(
        report: standby.status.takeover, path: store.path)
      if replicate {
        var options = ReplicaWriterOptions()
        options.name = chosen.name
        options.onStatus = { show("slot \($0.slot), \($0.lag) behind") }
        let writer = try await Replica.writer(store, to: bucket, options: options)
        try await EndSignal.wait {
          let status = writer.status
          if let end = status.end { throw end }
          show.look(at: status.lastFailure)
          try? metrics.write(status.metrics)
        }
        try await writer.stop()
        end.writer = writer.status
      }
      store.close()
      return end
    }
    guard let path = end.path else { return .interrupted }
    let members =
      end.writer.map { ReplicateCommand.members(of: $0) }
      ?? end.report.map { Array($0.members.dropFirst()) } ?? []
    try console.writeObject([("store", .text(path))] + members)
    return .success
  }

  private struct End: Sendable {
    var report: ReplicaTakeoverReport?
    /// The store's path; `nil` if a signal has ended the command before the takeover.
    var path: String?
    var writer: ReplicaWriterStatus?
  }

  private var options: ReplicaStandbyOptions {
    var options = ReplicaStandbyOptions()
    options.leasePollInterval = .seconds(interval)
    options.assumedLease = assumedLease.map { .seconds($0) }
    options.name = name ?? ProcessInfo.processInfo.hostName
    return options
  }

  /// Waits for the takeover; returns `nil` after a signal.
  private static func takenOver(
    _ standby: ReplicaStandby, _ metrics: MetricsOptions, _ show: ProgressReport
  ) async throws -> Store? {
    try await withThrowingTaskGroup(of: Store?.self) { group in
      group.addTask { try await standby.waitToTakeOver() }
      group.addTask {
        try await EndSignal.wait {
          let status = standby.status
          show.look(at: status.lastFailure ?? status.follower.lastFailure)
          try? metrics.write(status.metrics())
        }
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }

  private func plan(_ bucket: ReplicaStorage, on console: Console) async throws -> ExitStatus {
    let plan = try await Replica.followerPlan(at: folder, of: bucket)
    let summary = try await Replica.summary(of: bucket)
    try console.writeObject(
      plan.members + [
        (Column("leaseHolder", title: "lease of"), summary.leaseHolder.map(Cell.text) ?? .null),
        (Column("leaseUntil", title: "lease until"), dateCell(summary.leaseUntil)),
      ])
    return .success
  }
}

extension ReplicaFollowerStatus {
  /// The state as a line of progress shows it.
  var text: String {
    "slot \(slot)" + (lag().map { ", \($0.components.seconds) s behind" } ?? "")
      + (lastFailure == nil ? "" : ", failing")
  }
}

extension ReplicaStandbyStatus {
  /// The state as a line of progress shows it.
  var text: String {
    let lease =
      timeUntilTakeover.map { "takes over in \($0.components.seconds) s" }
      ?? "waits for the first lease"
    return "\(follower.text); \(lease)" + (leaseHolder.map { ", lease of \($0)" } ?? "")
  }
}
