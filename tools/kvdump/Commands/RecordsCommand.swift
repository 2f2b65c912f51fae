import ArgumentParser
import EntityStore

/// `kvdump records`: the records of an entity in the order of their ids.
struct RecordsCommand: EntityCommand {
  static let configuration = CommandConfiguration(
    commandName: "records", abstract: "Show the records of an entity in the order of their ids.",
    discussion: """
      Examples:
        kvdump records catalog.lodestore Pod --fields name,version --limit 5
        kvdump records catalog.lodestore Pod --format csv > pods.csv
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try read(checksRecords: false, on: console) { snapshot, entity in
      let columns = try RecordColumns(entity, names: fields.names)
      let shown = ShownRows(columns.columns, rows, on: console)
      try snapshot.forEachRecord(of: entity) { record in
        try shown.show { try columns.row(record) }
      }
      try shown.finish(total: try snapshot.count(of: entity))
      return .success
    }
  }
}
