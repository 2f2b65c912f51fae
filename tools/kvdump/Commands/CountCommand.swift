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
    help: .value(
      "Count each value of these attributes, paths into JSON or to related records, or "
        + "expressions.", "a,b.c"))
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
      let limit = rows.effectiveLimit(on: console.terminal)
      var groups = TopGroups(most: limit.map { min($0, .max - rows.offset) + rows.offset })
      try console.withProgress { progress in
        try query.forEachGroup(by: keys, control: progress?.control) { groups.add($0, $1) }
      }
      groups.sort()
      let countName = by.names.contains("count") ? "_count" : "count"
      let shown = ShownRows((by.names + [countName]).map { Column($0) }, rows, on: console)
      for group in groups.rows {
        let isLast = try !shown.show { try group.keys.map { try Cell($0) } + [.count(group.count)] }
        if isLast { break }
      }
      try shown.finish(total: groups.total, noun: keys.count == 1 ? "values" : "combinations")
      return .success
    }
  }
}
