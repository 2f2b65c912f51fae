import ArgumentParser
import EntityStore

/// `kvdump watch`: shows changes as any process commits them.
struct WatchCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print changes as any process commits them.",
    discussion: """
      Examples:
        kvdump watch pods.lodestore
        kvdump watch pods.lodestore Pod 'stars > 100' --format jsonl

      Shows a row for each changed record: of all entities, of one, or of one entity's records \
      that meet a condition. A record that no longer meets the condition is shown as deleted. \
      The author and the changed attributes are shown for entities with a history; the others \
      are read again and compared after each commit. Ends at the terminal's interrupt, or after \
      --limit rows, which also closes the array of --format json.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity; without it, all entities.") var entity: String?

  @Argument(help: .value("The condition as a predicate format string.", "format string"))
  var condition: String?

  @Option(help: .value("End after this many rows.", "n")) var limit: Int?

  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws { try RowOptions.checkLimit(limit) }

  var formatString: String? { condition }

  func run(on console: Console) async throws -> ExitStatus {
    console.showAtOnce()
    try ReadStore.withStore(store.path, on: console) { store in
      let watch = try store.read { snapshot in
        try StoreWatch(snapshot, entity: entity, condition: condition)
      }
      let rows = WatchedRows(console, limit: limit)
      try store.forEachCommit {
        for row in try store.read({ try watch.news($0) }) {
          guard try rows.write(row) else { return false }
        }
        return true
      }
      try rows.finish()
    }
    return .success
  }
}

/// Rows that are printed as they arrive: JSON Lines, or columns of a fixed width.
private final class WatchedRows {
  private let console: Console
  private let lines: (any RowWriter)?
  private var left: Int

  init(_ console: Console, limit: Int?) {
    self.console = console
    left = limit ?? .max
    let isForPeople = console.format == .table || console.format == .markdown
    lines = isForPeople ? nil : console.rows(of: ChangeRow.columns)
  }

  /// Writes a row; returns false once the limit is reached.
  func write(_ row: ChangeRow) throws -> Bool {
    guard left > 0 else { return false }
    left -= 1
    if let lines {
      try lines.write(row.cells)
    } else {
      try console.line(row.line)
    }
    try console.flush()
    return left > 0
  }

  func finish() throws { try lines?.finish() }
}

/// Determines the changes since the last call.
final class StoreWatch {
  private var token: HistoryToken
  private let reported: [String]
  private var compared: [(entity: String, condition: String?, known: KnownRecords)]

  /// Records by ascending ids with their checksums.
  ///
  /// Each record takes only twelve bytes, because there may be many records.
  private struct KnownRecords {
    var ids: [UInt64] = []
    var checksums: [UInt32] = []

    mutating func append(_ id: UInt64, _ checksum: UInt32) {
      ids.append(id)
      checksums.append(checksum)
    }
  }

  init(_ snapshot: DynamicSnapshot, entity: String?, condition: String?) throws {
    token = try snapshot.historyToken()
    let entities = try entity.map { [try snapshot.entity($0)] } ?? snapshot.entities
    let isReported = { (entity: DynamicEntity) in entity.keepsHistory && condition == nil }
    reported = entities.filter(isReported).map(\.name)
    compared = try entities.filter { !isReported($0) }.map { entity in
      var known = KnownRecords()
      try snapshot.forEachChecksum(of: Self.request(condition), entity) { known.append($0, $1) }
      return (entity.name, condition, known)
    }
  }

  private static func request(_ condition: String?) throws -> QueryRequest {
    try QueryRequest(format: condition ?? "TRUEPREDICATE")
  }

  func news(_ snapshot: DynamicSnapshot) throws -> [ChangeRow] {
    var news: [ChangeRow] = []
    if !reported.isEmpty {
      try snapshot.forEachWrite(.after(token).of(entitiesNamed: reported)) { write in
        news += write.changes.map { ChangeRow($0, of: write, as: $0.kind.rawValue) }
        return true
      }
      token = try snapshot.historyToken()
    }
    for index in compared.indices {
      guard let entity = snapshot.entity(named: compared[index].entity) else { continue }
      let known = compared[index].known
      var fresh = KnownRecords()
      var (inserted, updated, deleted): ([UInt64], [UInt64], [UInt64]) = ([], [], [])
      var position = 0
      try snapshot.forEachChecksum(of: Self.request(compared[index].condition), entity) {
        id, checksum in
        while position < known.ids.count, known.ids[position] < id {
          deleted.append(known.ids[position])
          position += 1
        }
        if position == known.ids.count || known.ids[position] != id {
          inserted.append(id)
        } else {
          if known.checksums[position] != checksum { updated.append(id) }
          position += 1
        }
        fresh.append(id, checksum)
      }
      deleted += known.ids[position...]
      for (kind, ids) in [
        (HistoryChange.Kind.inserted, inserted), (.updated, updated), (.deleted, deleted),
      ] {
        news += ids.map {
          ChangeRow(time: Date(), change: kind.rawValue, entity: entity.name, record: $0)
        }
      }
      compared[index].known = fresh
    }
    return news
  }
}
