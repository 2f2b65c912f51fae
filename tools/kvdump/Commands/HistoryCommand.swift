import ArgumentParser
import EntityStore
import LodestoreFormat

/// `kvdump history`: shows and purges the history.
struct HistoryCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Show the changes of each write. Writes only with --purge.",
    discussion: """
      Examples:
        kvdump history pods.lodestore --limit 10
        kvdump history pods.lodestore --after 118 --author import --entity Pod \\
          --changes
        kvdump history pods.lodestore --consumers
        kvdump history pods.lodestore --purge --before 2026-01-01T00:00:00Z

      Shows a row for each write, oldest first, with the numbers of records that it inserted, \
      updated and deleted. With --changes, shows a row for each record. Entities have a history \
      if a program has asked for it. A write that also changed an entity without a history is \
      marked. --purge removes whole writes, starting with the first, and prints their number. \
      Requests for changes after a removed write fail from then on.
      """)

  @OptionGroup var store: StoreArgument

  @Option(help: .value("Show only writes after the one with this number.", "number"))
  var after: UInt64?

  @Option(help: .value("Show only writes since this time; with --purge, use --before.", "date"))
  var since: String?

  @Option(help: .value("Show only writes of this author; may be repeated.", "name"))
  var author: [String] = []

  @Option(help: .value("Leave out writes of this author; may be repeated.", "name"))
  var notAuthor: [String] = []

  @Option(help: .value("Show only changes of this entity; may be repeated.", "name"))
  var entity: [String] = []

  @Option(help: .value("Show only these changes: inserted, updated, deleted.", "kind"))
  var kind: [HistoryChange.Kind] = []

  @Option(help: .value("Show at most this many writes.", "n")) var limit: Int?

  @Flag(help: "Show a row for each record.") var changes = false

  @Flag(help: "Show the known consumers and their positions, and not the writes.")
  var consumers = false

  @Flag(help: "Remove a part of the history. Writes.") var purge = false

  @Option(help: .value("With --purge: remove writes up to this one.", "number"))
  var through: UInt64?

  @Option(help: .value("With --purge: remove writes before this time.", "date")) var before: String?

  @Flag(help: "With --purge: remove writes that all consumers have read.") var consumed = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    let bounds = [through != nil, before != nil, consumed].filter { $0 }.count
    try refuse(if: purge && bounds != 1, "--purge needs one of --through, --before and --consumed")
    try refuse(if: !purge && bounds > 0, "--through, --before and --consumed go with --purge")
    if let limit, limit < 0 { throw ValidationError("--limit: \(limit) is below 0") }
  }

  func run(on console: Console) async throws -> ExitStatus {
    if purge { return try runPurge(on: console) }
    try ReadStore.read(store.path, on: console) { snapshot in
      if consumers { return try list(snapshot.historyConsumers(), on: console) }
      for name in entity { _ = try snapshot.entity(name) }
      let query = try query(snapshot)
      let rows = console.rows(of: changes ? ChangeRow.columns : Self.columns)
      var isEmpty = true
      try snapshot.forEachWrite(query) { write in
        isEmpty = false
        if changes {
          for change in write.changes {
            let kind = change.isExpired ? "expired" : change.kind.rawValue
            try rows.write(ChangeRow(change, of: write, as: kind).cells)
          }
        } else {
          try rows.write(write.cells)
        }
        return true
      }
      try rows.finish()
      if isEmpty { console.note(Self.emptyNote(snapshot, store.path)) }
    }
    return .success
  }

  private static func emptyNote(_ snapshot: DynamicSnapshot, _ path: String) -> String {
    snapshot.entities.contains(where: \.keepsHistory)
      ? "\(path): no such writes" : "\(path): no entity keeps a history"
  }

  private func query(_ snapshot: DynamicSnapshot) throws -> HistoryQuery {
    var query =
      try after.map { .after(try snapshot.historyToken(number: $0)) }
      ?? since.map { .since(try HistoryDate.parse($0, "--since")) } ?? HistoryQuery.all
    if !author.isEmpty { query = query.by(author) }
    if !notAuthor.isEmpty { query = query.excluding(notAuthor) }
    if !entity.isEmpty { query = query.of(entitiesNamed: entity) }
    if !kind.isEmpty { query = query.only(kind) }
    if let limit { query = query.limit(limit) }
    return query
  }

  private func list(_ consumers: [HistoryConsumer], on console: Console) throws {
    let rows = consumers.map { consumer -> [Cell] in
      [
        .text(consumer.name), .unsigned(consumer.token.number),
        HistoryDate.cell(consumer.updatedAt),
      ]
    }
    try console.write(rows, of: ["consumer", "write", "updated"])
  }

  private func runPurge(on console: Console) throws -> ExitStatus {
    let time = try before.map { try HistoryDate.parse($0, "--before") }
    let count = try WriteStore.write(store.writablePath) { transaction in
      if let through { return try transaction.purgeHistory(through: through) }
      if let time {
        return try transaction.purgeHistory(before: time.timeIntervalSinceReferenceDate)
      }
      return try transaction.purgeConsumedHistory()
    }
    try console.writeObject([("purged", .count(count))])
    return .success
  }

  private static let columns: [Column] = [
    "write", "time", "author", "context", "process", "inserted", "updated", "deleted", "links",
    "entities",
  ]
}

extension HistoryChange.Kind: ExpressibleByArgument {}

/// Converts times of the history from and to text.
enum HistoryDate {
  static func cell(_ date: Date) -> Cell {
    .date(KeyText.text(of: .date(date.timeIntervalSinceReferenceDate)))
  }

  static func parse(_ text: String, _ option: String) throws -> Date {
    guard case .date(let seconds)? = Value(text: text, as: .date) else {
      throw CommandFailure.badArgument(
        option, reason: "'\(text)' is not a date",
        nextStep: "write it as 2026-01-31 or 2026-01-31T12:00:00Z")
    }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }
}

extension HistoryWrite {
  fileprivate var cells: [Cell] {
    let names =
      changes.entities + restartedEntities.map { "\($0) (begins)" }
      + unrecordedEntities.map { "\($0) (not recorded)" }
    return [
      .unsigned(id), HistoryDate.cell(time), author.map(Cell.text) ?? .null,
      contextName.map(Cell.text) ?? .null, .integer(Int64(process)),
      .count(changes.count(of: .inserted)), .count(changes.count(of: .updated)),
      .count(changes.count(of: .deleted)), .count(links.reduce(0) { $0 + $1.links.count }),
      .text(names.joined(separator: ", ")),
    ]
  }
}
