import ArgumentParser
import EntityStore
import LodestoreFormat

/// `kvdump count`: how many records there are, also by the values of attributes.
struct CountCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "How many records there are, also by value.",
    discussion: """
      Examples:
        kvdump count pods.lodestore Pod 'name BEGINSWITH "AF"'
        kvdump count pods.lodestore Pod --by license.type --limit 10

      With --by there is one row for each value, the most frequent first; in the JSON forms an \
      object with the attribute's name and "count" ("_count" where a value is called count itself). \
      A missing value is null. Each row that is shown takes some 100 bytes of memory and its \
      values; with --limit the others take hardly any.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @OptionGroup(title: "Selection") var condition: ConditionOptions

  @Option(
    help: ArgumentHelp(
      "Count each value of these attributes, of paths into JSON or to related records, or of expressions.",
      valueName: "a,b.c"))
  var by: NameList?

  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    if by == nil, rows.limit != nil || rows.offset > 0 {
      throw ValidationError("--limit and --offset: are for the rows of --by")
    }
  }

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.read(store.path, checksRecords: true, on: console) { snapshot in
      try QueryFault.locating(in: condition.text, store.path) {
        let entity = try snapshot.entity(entity, in: store.path)
        let keys = try by?.names.map {
          try DynamicExpression.checked($0, of: entity, snapshot, in: store.path)
        }
        let query = try snapshot.query(try condition.request(), of: entity)
        if let by, let keys {
          var groups = FrequentGroups(
            most: rows.effectiveLimit(on: console.terminal).map {
              min($0, .max - rows.offset) + rows.offset
            })
          try console.withProgress { progress in
            try query.forEachGroup(by: keys, control: progress?.control) { groups.add($0, $1) }
          }
          try write(groups, names: by.names, on: console)
        } else {
          let count = try console.withProgress {
            try query.count(control: $0?.control)
          }
          try console.writeObject([(Column("count"), .count(count))])
        }
        return .success
      }
    }
  }

  private func write(
    _ groups: consuming FrequentGroups, names: [String], on console: Console
  ) throws {
    groups.sort()
    let countName = names.contains("count") ? "_count" : "count"
    let writer = console.rows(of: names.map { Column($0) } + [Column(countName)])
    var window = RowWindow(offset: rows.offset, limit: rows.effectiveLimit(on: console.terminal))
    rows: for group in groups.rows {
      switch window.next() {
      case .skip: continue
      case .stop: break rows
      case .show:
        try writer.write(try group.keys.map { try Cell($0) } + [.count(group.count)])
      }
    }
    try writer.finish()
    console.note(
      RowSummary.text(
        shown: window.shown, offset: rows.offset, total: groups.total,
        noun: names.count == 1 ? "values" : "combinations"))
  }
}

/// Groups with the most frequent first, and equally frequent ones as they came.
private struct FrequentGroups {
  struct Row {
    let place: Int
    let keys: [Value]
    let count: Int
  }

  private(set) var rows: [Row] = []
  /// How many groups there are, those that are not kept included.
  private(set) var total = 0
  private let most: Int

  /// - Parameter most: how many are kept; all without it.
  init(most: Int?) { self.most = most ?? .max }

  mutating func add(_ keys: [Value], _ count: Int) {
    rows.append(Row(place: total, keys: keys, count: count))
    total += 1
    if rows.count >= 1_024, rows.count / 2 >= most { sort() }
  }

  /// Sorts the rows, and drops those that are too many.
  mutating func sort() {
    rows.sort { $0.count != $1.count ? $0.count > $1.count : $0.place < $1.place }
    if rows.count > most { rows.removeLast(rows.count - most) }
  }
}
