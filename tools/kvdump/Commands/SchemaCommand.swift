import ArgumentParser
import EntityStore

/// `kvdump schema`: entities, attributes and indexes.
struct SchemaCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "The entities, their attributes and indexes.",
    discussion: """
      Examples:
        kvdump schema catalog.lodestore Pod
        kvdump schema catalog.lodestore Pod --format json > pod.schema.json

      The JSON forms have one object an entity, and are what 'kvdump import --schema' reads. The \
      others have one row an attribute.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "Only this entity.")
  var entity: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.read(store.path, on: console) { snapshot in
      let entities =
        try entity.map { [try snapshot.entity($0, in: store.path)] } ?? snapshot.entities
      switch console.format {
      case .json, .jsonl:
        let writer = console.rows(of: SchemaRows.entityColumns)
        for entity in entities { try writer.write(try SchemaRows.entity(entity)) }
        try writer.finish()
      case .table, .line, .csv, .markdown:
        let writer = console.rows(of: SchemaRows.attributeColumns)
        for entity in entities {
          for row in try SchemaRows.attributes(entity) { try writer.write(row) }
        }
        try writer.finish()
        for entity in entities where console.format == .table {
          let indexes = entity.indexes.isEmpty ? "none" : entity.indexList
          console.note("\(entity.name): indexes \(indexes)")
        }
      }
    }
    return .success
  }
}
