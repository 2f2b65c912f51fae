import ArgumentParser
import EntityStore
import Foundation
import KVDumpCommands
import LodestoreReplicas

/// `kvdump replicate`: sends the commits of a store to a replica.
struct ReplicateCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "replicate", abstract: "Send the commits of a store to a replica.",
    discussion: """
      Sends the commits of all programs that write the store, until Control-C. The first command \
      creates the replica and writes a base. A program can do the same by Replica.writer.

      Every entity of the store must keep a history. Programs set StoreOptions.history. \
      --record-history does so for a store without one, such as a store of 'kvdump import'.

      \(ReplicaStorageText.credentials)

      Examples:
        kvdump replicate pods.lodestore https://host/backups/pods
        kvdump replicate pods.lodestore s3://backups/pods --record-history
        kvdump replicate pods.lodestore /mnt/backup/pods --once
      """)

  @Argument(help: "The store.", completion: .file()) var store: String

  @Argument(help: ArgumentHelp(ReplicaStorageText.help)) var replica: String

  @Flag(help: "Send the commits that exist now, and end.") var once = false

  @Flag(name: .shortAndLong, help: "Show what would be sent, or the failure; change nothing.")
  var dryRun = false

  @Flag(help: "Write a new base before anything else.") var base = false

  @Flag(
    help: "Let entities without a history record one with images from now on. Writes the store.")
  var recordHistory = false

  @Flag(help: "Begin a new replica in an empty storage, although the store belongs to another one.")
  var new = false

  @Option(help: .value("Keep every state of this many days; 0 keeps all.", "days")) var keepDays = 7

  @Option(help: .value("Collect commits for this long.", "milliseconds")) var interval = 200

  @Option(help: .value("A name of this machine for people.", "name")) var name: String?

  @OptionGroup var metrics: MetricsOptions

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: !(0...36_500).contains(keepDays), "--keep-days: expected 0 to 36500")
    try refuse(if: !(1...3_600_000).contains(interval), "--interval: expected 1 to 3600000")
    try refuse(if: recordHistory && dryRun, "name one of --record-history and --dry-run")
  }

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: store) }

  func run(on console: Console) async throws -> ExitStatus {
    var storeOptions = StoreOptions()
    storeOptions.access = dryRun ? .readOnly : .existing
    let opened = try Store(at: store, entities: [], options: storeOptions)
    defer { opened.close() }
    let bucket = try ReplicaStorageText.bucket(replica)
    if dryRun { return try await plan(opened, bucket, on: console) }
    try metrics.write([])
    if recordHistory {
      let names = try DynamicStore(opened).beginHistory()
      if !names.isEmpty {
        console.note("\(store): \(names.joined(separator: ", ")): the history begins now")
      }
    }
    var options = ReplicaWriterOptions()
    options.flushInterval = .milliseconds(interval)
    options.retention = keepDays == 0 ? nil : .seconds(keepDays * 86_400)
    options.beginsNewReplica = new
    options.name = name ?? ProcessInfo.processInfo.hostName
    let (chosen, once, base, metrics) = (options, once, base, metrics)
    let status = try await showingProgress(on: console) { report in
      var options = chosen
      options.onProgress = { report($0.text) }
      options.onStatus = { report("slot \($0.slot), \($0.lag) behind") }
      let writer = try await Replica.writer(opened, to: bucket, options: options)
      if base { try await writer.writeBase() }
      if once {
        try await writer.flush()
      } else {
        try await EndSignal.wait {
          let status = writer.status
          if let end = status.end { throw end }
          report.look(at: status.lastFailure)
          try? metrics.write(status.metrics)
        }
      }
      try await writer.stop()
      try? metrics.write(writer.status.metrics)
      return writer.status
    }
    try console.writeObject(Self.members(of: status))
    return .success
  }

  static func members(of status: ReplicaWriterStatus) -> [(column: Column, cell: Cell)] {
    [
      ("slot", .unsigned(status.slot)), ("epoch", .unsigned(status.epoch)),
      (Column("lastWrite", title: "last write"), .unsigned(status.replicatedWrite)),
      (Column("baseSlot", title: "base slot"), status.baseSlot.map(Cell.unsigned) ?? .null),
      ("changes", .unsigned(status.changesSent)), ("requests", .count(status.traffic.requests)),
      ("sent", .byteCount(Int(clamping: status.traffic.bytesSent))),
    ]
  }

  private func plan(
    _ store: Store, _ bucket: ReplicaStorage, on console: Console
  ) async throws -> ExitStatus {
    var options = ReplicaWriterOptions()
    options.openingFailureLimit = 2
    options.beginsNewReplica = new
    let plan = try await Replica.writerPlan(store, to: bucket, options: options)
    let place = try Replica.position(of: store)
    try console.writeObject(
      [
        ("replica", .text(bucket.description)),
        (
          Column("writesSince", title: "writes since"),
          place.map { .unsigned($0.writesSince) } ?? .null
        ),
      ] + plan.members)
    return .success
  }
}
