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
      A missing value is null. The values are in memory, some 100 bytes and their own for each row: \
      2 GiB for ten million pairs.

      \(ConditionOptions.grammar)
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @OptionGroup(title: "Selection") var condition: ConditionOptions

  @Option(
    help: ArgumentHelp(
      "Count each value of these attributes, or of paths into JSON.", valueName: "a,b.c"))
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
        let paths = try by?.names.map { try ValuePath.checked($0, of: entity, in: store.path) }
        let query = try snapshot.query(try condition.request(), of: entity)
        if let by, let paths {
          let groups = try console.withProgress {
            try query.groups(by: paths, control: $0?.control)
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

  /// The most frequent first, and equally frequent ones by value, as they come.
  private func write(
    _ groups: [(keys: [Value], count: Int)], names: [String], on console: Console
  ) throws {
    let order = groups.indices.sorted {
      groups[$0].count != groups[$1].count ? groups[$0].count > groups[$1].count : $0 < $1
    }
    let countName = names.contains("count") ? "_count" : "count"
    let writer = console.rows(of: names.map { Column($0) } + [Column(countName)])
    var window = RowWindow(offset: rows.offset, limit: rows.effectiveLimit(on: console.terminal))
    rows: for index in order {
      switch window.next() {
      case .skip: continue
      case .stop: break rows
      case .show:
        let group = groups[index]
        try writer.write(try group.keys.map { try Cell($0) } + [.count(group.count)])
      }
    }
    try writer.finish()
    console.note(
      RowSummary.text(
        shown: window.shown, offset: rows.offset, total: groups.count,
        noun: names.count == 1 ? "values" : "combinations"))
  }
}
