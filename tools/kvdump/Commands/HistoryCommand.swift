import ArgumentParser
import EntityStore
import LodestoreFormat

/// `kvdump history`: shows and purges the history.
struct HistoryCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "What writes have changed. Writes with --purge alone.",
    discussion: """
      Examples:
        kvdump history pods.lodestore --limit 10
        kvdump history pods.lodestore --after 118 --author import --entity Pod \\
          --changes
        kvdump history pods.lodestore --consumers
        kvdump history pods.lodestore --purge --before 2026-01-01T00:00:00Z

      A row a write, oldest first, with how many records it inserted, updated and deleted; with \
      --changes a row a record. Entities keep a history where a program has asked for it; an entity \
      that keeps none is marked where a write changed it too. --purge removes whole writes, from the \
      first one on, and prints how many; what is asked for after an older write fails from then on.
      """)

  @OptionGroup var store: StoreArgument

  @Option(help: ArgumentHelp("Only writes after the one with this number.", valueName: "number"))
  var after: UInt64?

  @Option(
    help: ArgumentHelp(
      "Only writes since this time; with --purge, before is what counts.", valueName: "date"))
  var since: String?

  @Option(help: ArgumentHelp("Only writes of this author; may be repeated.", valueName: "name"))
  var author: [String] = []

  @Option(help: ArgumentHelp("No writes of this author; may be repeated.", valueName: "name"))
  var notAuthor: [String] = []

  @Option(help: ArgumentHelp("Only changes of this entity; may be repeated.", valueName: "name"))
  var entity: [String] = []

  @Option(help: ArgumentHelp("Only these changes: inserted, updated, deleted.", valueName: "kind"))
  var kind: [HistoryChange.Kind] = []

  @Option(help: ArgumentHelp("At most so many writes.", valueName: "n"))
  var limit: Int?

  @Flag(help: "A row for each record.")
  var changes = false

  @Flag(help: "The consumers that the store knows, and how far they are, instead.")
  var consumers = false

  @Flag(help: "Remove a part of the history. Writes.")
  var purge = false

  @Option(help: ArgumentHelp("With --purge: up to this write.", valueName: "number"))
  var through: UInt64?

  @Option(help: ArgumentHelp("With --purge: what was written before this time.", valueName: "date"))
  var before: String?

  @Flag(help: "With --purge: what all consumers have read.")
  var consumed = false

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    let bounds = [through != nil, before != nil, consumed].filter { $0 }.count
    if purge, bounds != 1 {
      throw ValidationError("--purge takes one of --through, --before and --consumed")
    }
    if !purge, bounds > 0 {
      throw ValidationError("--through, --before and --consumed go with --purge")
    }
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
      try snapshot.forEachTransaction(query) { transaction in
        isEmpty = false
        if changes {
          for change in transaction.changes {
            let kind = change.isExpired ? "expired" : change.kind.rawValue
            try rows.write(ChangeRow(change, of: transaction, as: kind).cells)
          }
        } else {
          try rows.write(transaction.cells)
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
    let count = try WriteStore.write(store.path) { transaction in
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
        option, reason: "'\(text)' is no date",
        nextStep: "write it as 2026-01-31 or 2026-01-31T12:00:00Z")
    }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }
}

extension HistoryTransaction {
  fileprivate var cells: [Cell] {
    let names =
      changes.entities + restartedEntities.map { "\($0) (begins)" }
      + untoldEntities.map { "\($0) (not told)" }
    return [
      .unsigned(id), HistoryDate.cell(time), author.map(Cell.text) ?? .null,
      contextName.map(Cell.text) ?? .null, .integer(Int64(process)),
      .count(changes.count(of: .inserted)), .count(changes.count(of: .updated)),
      .count(changes.count(of: .deleted)), .count(links.reduce(0) { $0 + $1.links.count }),
      .text(names.joined(separator: ", ")),
    ]
  }
}
