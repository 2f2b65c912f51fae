import ArgumentParser
import EntityStore
import LodestoreFormat

/// `kvdump count`: the number of records, optionally by the values of attributes.
struct CountCommand: EntityCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Count records, optionally by the values of attributes.",
    discussion: """
      Examples:
        kvdump count pods.lodestore Pod 'name BEGINSWITH "AF"'
        kvdump count pods.lodestore Pod --by license.type --limit 10

      With --by there is a row for each value, the most frequent first. The JSON forms have an \
      object with the attribute's name and "count" ("_count" if an attribute is named count). A \
      missing value is null. Each shown row takes some 100 bytes of memory and its values; with \
      --limit the other rows take hardly any.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @OptionGroup(title: "Selection") var condition: ConditionOptions

  @Option(
    help: ArgumentHelp(
      "Count each value of these attributes, paths into JSON or to related records, or "
        + "expressions.",
      valueName: "a,b.c"))
  var by: NameList?

  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func validate() throws {
    try refuse(
      if: by == nil && (rows.limit != nil || rows.offset > 0),
      "--limit and --offset: are for the rows of --by")
  }

  var formatString: String? { condition.text }

  func run(on console: Console) async throws -> ExitStatus {
    try read(on: console) { snapshot, entity in
      let keys = try by?.names.map { try DynamicExpression.checked($0, of: entity, snapshot) }
      let query = try snapshot.query(try condition.request(), of: entity)
      guard let by, let keys else {
        let found = try console.withProgress { try query.count(control: $0?.control) }
        try console.writeObject([("count", .count(found))])
        return .success
      }
      var groups = FrequentGroups(
        most: rows.effectiveLimit(on: console.terminal).map {
          min($0, .max - rows.offset) + rows.offset
        })
      try console.withProgress { progress in
        try query.forEachGroup(by: keys, control: progress?.control) { groups.add($0, $1) }
      }
      try write(groups, names: by.names, on: console)
      return .success
    }
  }

  private func write(
    _ groups: consuming FrequentGroups, names: [String], on console: Console
  ) throws {
    groups.sort()
    let countName = names.contains("count") ? "_count" : "count"
    let shown = ShownRows((names + [countName]).map { Column($0) }, rows, on: console)
    for group in groups.rows {
      guard
        try shown.show({ try group.keys.map { try Cell($0) } + [.count(group.count)] })
      else { break }
    }
    try shown.finish()
    shown.note(total: groups.total, noun: names.count == 1 ? "values" : "combinations")
  }
}

/// Groups, the most frequent first.
///
/// Equally frequent groups stay in the order of their arrival.
private struct FrequentGroups {
  struct Row {
    let place: Int
    let keys: [Value]
    let count: Int
  }

  private(set) var rows: [Row] = []
  /// The number of all groups, including groups beyond the limit, which are not kept.
  private(set) var total = 0
  private let most: Int

  /// - Parameter most: The maximum number of groups to keep; `nil` keeps all.
  init(most: Int?) { self.most = most ?? .max }

  mutating func add(_ keys: [Value], _ count: Int) {
    rows.append(Row(place: total, keys: keys, count: count))
    total += 1
    if rows.count >= 1_024, rows.count / 2 >= most { sort() }
  }

  /// Sorts the rows and removes those beyond the limit.
  mutating func sort() {
    rows.sort { $0.count != $1.count ? $0.count > $1.count : $0.place < $1.place }
    if rows.count > most { rows.removeLast(rows.count - most) }
  }
}
