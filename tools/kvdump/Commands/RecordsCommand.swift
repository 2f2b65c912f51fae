import ArgumentParser
import EntityStore
import LMDB

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
    try ReadStore.read(store.path, on: console) { core in
      let entity = try core.entity(entity, in: store.path)
      let columns = try RecordColumns(entity, names: fields.names, store: store.path)
      let writer = console.rows(of: columns.columns)
      var walk = RowWindow(offset: rows.offset, limit: rows.effectiveLimit(on: console.terminal))
      let cursor = try Cursor(entity.records, in: core.transaction)
      var found = try cursor.first()
      scan: while found {
        switch walk.next() {
        case .skip: break
        case .stop: break scan
        case .show: try writer.write(try columns.row(cursor.integerKey, cursor.value))
        }
        found = try cursor.next()
      }
      try writer.finish()
      console.note(
        RowSummary.text(shown: walk.shown, offset: rows.offset, total: try core.count(of: entity)))
    }
    return .success
  }
}
