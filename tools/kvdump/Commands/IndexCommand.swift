import ArgumentParser
import EntityStore

/// `kvdump index`: the records of an entity in the order of an index.
struct IndexCommand: EntityCommand {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "Show the records of an entity in the order of an index.",
    discussion: """
      Examples:
        kvdump index catalog.lodestore Fireball date --reverse --limit 3
        kvdump index catalog.lodestore Pod name,version --from AFNetworking \\
          --to AFNetworking,3
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @Argument(help: "The index: its attributes separated by commas, or its number.")
  var index: NameList

  // A value may be a negative number.
  @Option(
    parsing: .unconditional,
    help: .value(
      "The low end: values of the first attributes separated by commas, or as a JSON array if a "
        + "value has a comma.", "values"))
  var from: String?

  @Option(
    parsing: .unconditional,
    help: .value("The high end. Keys that start with these values are still shown.", "values"))
  var to: String?

  @Flag(help: "Show records from the high end to the low end.") var reverse = false

  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try read(checksRecords: false, on: console) { snapshot, entity in
      let index = try entity.index(named: index.names)
      let attributes = index.description.attributes.compactMap {
        entity.description.attribute(number: $0)
      }
      let lower = try from.map { try TypedValue.bound($0, attributes) }
      let upper = try to.map { try TypedValue.bound($0, attributes) }
      let columns = try RecordColumns(entity, names: fields.names)
      let shown = ShownRows(columns.columns, rows, on: console)
      let total = from == nil && to == nil ? try snapshot.count(of: entity) : nil
      try snapshot.forEachID(
        of: entity, in: index, from: lower, through: upper, isReversed: reverse
      ) { id in
        try shown.show {
          guard let record = try snapshot.record(id, of: entity) else {
            throw CommandFailure.danglingIndexEntry(index.name, entity.name, id)
          }
          return try columns.row(record)
        }
      }
      try shown.finish(total: total)
      return .success
    }
  }
}
