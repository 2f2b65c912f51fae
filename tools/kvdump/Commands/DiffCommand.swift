import ArgumentParser
import EntityStore

/// `kvdump diff`: the differences between two stores, or of a store since a write.
struct DiffCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show the differences of two stores, or since a write; status 1 if there are any.",
    discussion: """
      Examples:
        kvdump diff old.lodestore new.lodestore
        kvdump diff old.lodestore new.lodestore --entity Pod --stat
        kvdump diff mine.lodestore theirs.lodestore --key name,version
        kvdump diff pods.lodestore --since 118

      Status 0 means no difference, 1 a difference, and 64 or above an error, as in all \
      commands. The first store is the older one. Differences of the schema come first, then \
      records by entity, links, orders and buckets. Values are compared as stored; a record that \
      was only written in another form is not a difference. A table has a row for each changed \
      attribute. The JSON forms have an object for each record, with the old and new values of \
      changed attributes, or with all values of an inserted or deleted record.

      Records are matched by id. --by-key matches them by the unique index of each entity, for \
      stores whose ids are unrelated; links that no attribute holds are then not compared. \
      --since takes the number of a write from 'kvdump history', or a token. It shows old values \
      if the history keeps them.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(
    help: .value(
      "The newer store's file; not together with --since.",
      "newer store"), completion: .file(), transform: { StorePath($0).file })
  var other: String?

  @Option(help: .value("Compare only this entity and its links; may be repeated.", "name"))
  var entity: [String] = []

  @Flag(help: "Match records by the unique index of each entity and not by id.") var byKey = false

  @Option(help: .value("Match records by the unique index over these attributes.", "a,b"))
  var key: NameList?

  @Option(
    help: .value("Compare the store with itself after this write, by number or token.", "write"))
  var since: String?

  @Flag(help: "Show only the number of differences of each entity.") var stat = false

  @Option(help: .value("Stop after this many differences.", "n")) var limit: Int?

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(if: (other == nil) == (since == nil), "name two stores, or one store and --since")
    try refuse(if: since != nil && (byKey || key != nil), "--by-key and --key are for two stores")
    try RowOptions.checkLimit(limit)
    try refuse(if: stat && limit != nil, "--limit is for rows, and --stat counts all")
  }

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.withStore(store.path, on: console) { store -> ExitStatus in
      guard let other else {
        let place = try store.read { try token(since ?? "", $0) }
        return try write(DynamicDifferences(of: store, since: place, entities: names), on: console)
      }
      return try ReadStore.withSecondStore(other, on: console) { other in
        try write(
          DynamicDifferences(from: store, to: other, matchingBy: matching, entities: names),
          on: console)
      }
    }
  }

  private var names: [String]? { entity.isEmpty ? nil : entity }

  private var matching: DifferenceMatching {
    key.map { .uniqueKey(named: $0.names) } ?? (byKey ? .uniqueKey : .id)
  }

  private func token(_ text: String, _ snapshot: DynamicSnapshot) throws -> HistoryToken {
    if let number = UInt64(text) { return try snapshot.historyToken(number: number) }
    guard let token = HistoryToken(text) else {
      throw CommandFailure.badArgument(
        "--since", reason: "'\(text)' is neither a write's number nor a token",
        nextStep: "'kvdump history \(ShellWord.path(store.path))' lists the writes")
    }
    return token
  }

  private func write(_ differences: DynamicDifferences, on console: Console) throws -> ExitStatus {
    let isEqual =
      stat
      ? try DifferenceCounts.write(differences, on: console)
      : try DifferenceRows(console, isByKey: matching != .id, limit: limit).write(differences)
    if isEqual { console.note("no differences") }
    if !differences.uncompared.isEmpty {
      console.note("not compared: \(differences.uncompared.joined(separator: ", "))")
    }
    return isEqual ? .success : .negative
  }
}
