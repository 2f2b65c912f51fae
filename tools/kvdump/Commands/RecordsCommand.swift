import ArgumentParser
import EntityStore

/// `kvdump records`: the records of an entity in the order of their ids.
struct RecordsCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "records", abstract: "The records of an entity, in the order of their ids.",
    discussion: """
      Examples:
        kvdump records catalog.lodestore Pod --fields name,version --limit 5
        kvdump records catalog.lodestore Pod --format csv > pods.csv
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.read(store.path, on: console) { snapshot in
      let entity = try snapshot.entity(entity, in: store.path)
      let columns = try RecordColumns(entity, names: fields.names, store: store.path)
      let writer = console.rows(of: columns.columns)
      var walk = RowWindow(offset: rows.offset, limit: rows.effectiveLimit(on: console.terminal))
      try snapshot.forEachRecord(of: entity) { record in
        switch walk.next() {
        case .skip: break
        case .stop: return false
        case .show: try writer.write(try columns.row(record))
        }
        return true
      }
      try writer.finish()
      console.note(
        RowSummary.text(
          shown: walk.shown, offset: rows.offset, total: try snapshot.count(of: entity)))
    }
    return .success
  }
}
