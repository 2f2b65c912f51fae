import ArgumentParser
import EntityStore
import Foundation
import KVDumpCommands
import LodestoreReplicas

/// `kvdump follow`: keeps a copy of a replica's store up to date.
struct FollowCommand: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Keep a copy of a replica's store up to date.",
    discussion: """
      Downloads the newest base into the folder, and applies the log until Control-C. A later \
      command continues. The store is the file that the output names, and that \
      FOLDER/follower.json names meanwhile. Any program may read it; only this command may write it.

      \(ReplicaStorageText.credentials)

      Examples:
        kvdump follow https://host/backups/pods copy
        kvdump follow /mnt/backup/pods copy --once
        kvdump follow /mnt/backup/pods copy --where 'Pod=stars > 100' \\
          --where 'License=name == "MIT"'
      """)

  @Argument(help: ArgumentHelp(ReplicaStorageText.help)) var replica: String

  @Argument(help: "The folder of the copy.", completion: .directory) var folder: String

  @Flag(help: "Apply the log as it is now, and end.") var once = false

  @Flag(
    name: .shortAndLong,
    help: "Show the entries and the base that would be read; change nothing.")
  var dryRun = false

  @Option(help: .value("Ask for new entries this often.", "seconds")) var interval = 1.0

  @Option(help: .value("Register under this name, so that the log is kept.", "id")) var id: String?

  @Option(help: .value("Follow only this entity; may be repeated.", "name"))
  var entity: [String] = []

  @Option(
    name: .customLong("where"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Follow only this entity's records that fulfil the format string; may be repeated.",
      discussion: """
        A link to a record that is left out is left out, too. Other conditions than before begin \
        the copy again.
        """, valueName: "entity=format string"))
  var conditions: [String] = []

  @Option(help: .value("Keep the copy's history of this many days; 0 keeps all.", "days"))
  var keepDays = 7

  @OptionGroup var metrics: MetricsOptions

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: !(0...36_500).contains(keepDays), "--keep-days: expected 0 to 36500")
    try refuse(if: !(0.01...86_400).contains(interval), "--interval: expected 0.01 to 86400")
    _ = try conditionsByEntity()
  }

  /// The conditions by the names of their entities.
  private func conditionsByEntity() throws -> [String: String] {
    var found: [String: String] = [:]
    for text in conditions {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      // A condition without its entity often has '==', or a space before '='.
      try refuse(
        if: parts.count < 2 || found[parts[0]] != nil || parts[1].hasPrefix("=")
          || parts[0].contains(where: \.isWhitespace),
        "--where: expected ENTITY=CONDITION, once for each entity, such as 'Pod=stars > 100', "
          + "found '\(text)'")
      found[parts[0]] = parts[1]
    }
    return found
  }

  func failure(for error: any Error) -> CommandFailure { .replica(error, at: folder) }

  func run(on console: Console) async throws -> ExitStatus {
    let bucket = try ReplicaStorageText.bucket(replica)
    var options = ReplicaFollowerOptions()
    options.pollInterval = .seconds(interval)
    options.id = id
    options.followedEntities = entity.isEmpty ? nil : entity
    options.conditions = try conditionsByEntity()
    options.historyRetention = keepDays == 0 ? nil : .seconds(keepDays * 86_400)
    if dryRun {
      let plan = try await Replica.followerPlan(at: folder, of: bucket, options: options)
      try console.writeObject(plan.members)
      return .success
    }
    try metrics.write([])
    let (chosen, once, folder, metrics) = (options, once, folder, metrics)
    let (status, path) = try await showingProgress(on: console) { report in
      var options = chosen
      options.onProgress = { report($0.text) }
      let follower = try await Replica.follower(
        at: folder, of: bucket, entities: [], options: options)
      if once {
        try await follower.catchUp()
      } else {
        try await EndSignal.wait {
          let status = follower.status
          if let end = status.end { throw end }
          report(status.text)
          report.look(at: status.lastFailure)
          try? metrics.write(status.metrics())
        }
      }
      await follower.stop()
      try? metrics.write(follower.status.metrics())
      return (follower.status, follower.store.path)
    }
    try console.writeObject([
      ("store", .text(path)), ("slot", .unsigned(status.slot)),
      (Column("lastWrite", title: "last write"), .unsigned(status.lastWrite)),
      (Column("dataTime", title: "data as of"), dateCell(status.dataTime)),
      (Column("caughtUpAt", title: "up to date at"), dateCell(status.caughtUpAt)),
      ("changes", .unsigned(status.changesApplied)), ("replacements", .count(status.replacements)),
      ("requests", .count(status.traffic.requests)),
      ("received", .byteCount(Int(clamping: status.traffic.bytesReceived))),
    ])
    console.note(status.newCopyReason)
    if !status.unverifiedContent.isEmpty {
      let names = status.unverifiedContent.joined(separator: ", ")
      console.note(
        "not compared with the digests of the writer, because the copy has a part: \(names)")
    }
    return .success
  }
}
