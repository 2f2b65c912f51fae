import ArgumentParser
import EntityStore

/// The forms in which `kvdump schema --diagram` draws the model.
enum DiagramForm: String, CaseIterable, ExpressibleByArgument {
  case text, dot, svg, mermaid
}

/// `kvdump schema`: entities, attributes, indexes, relationships, derived attributes, rules,
/// history.
struct SchemaCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Show the entities, their attributes, indexes and relationships.",
    discussion: """
      Examples:
        kvdump schema catalog.lodestore Pod
        kvdump schema catalog.lodestore Pod --format json > pod.schema.json
        kvdump schema catalog.lodestore --diagram svg > model.svg
        kvdump schema catalog.lodestore --diff next.lodestore

      The JSON forms have one object for each entity, which 'kvdump import --schema' reads. The \
      other forms have one row for each attribute.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "Show only this entity.") var entity: String?

  @Option(help: "Draw entities and relationships: text, dot (Graphviz), mermaid or svg.")
  var diagram: DiagramForm?

  @Option(
    help: .value(
      "Show what changes in STORE when a program declares the schema of the store FILE.",
      "file"), transform: { StorePath($0).file })
  var diff: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    if let diff { return try difference(to: diff, on: console) }
    try ReadStore.read(store.path, on: console) { snapshot in
      let entities = try entity.map { [try snapshot.entity($0)] } ?? snapshot.entities
      if let diagram {
        for line in RelationshipRows.diagram(diagram, snapshot, entities) {
          try console.line(line)
        }
        return
      }
      switch console.format {
      case .json, .jsonl:
        try console.write(
          try entities.map { try SchemaRows.entity($0, snapshot) }, of: SchemaRows.entityColumns)
      case .table, .line, .csv, .markdown, .arrow, .geojson:
        try console.write(
          try entities.flatMap(SchemaRows.attributes), of: SchemaRows.attributeColumns)
        for entity in entities where console.format == .table {
          console.note("\(entity.name): indexes \(entity.indexList)")
          for relationship in snapshot.relationships(of: entity) {
            console.note(RelationshipRows.note(relationship, of: entity))
          }
          for derivation in snapshot.derivations(of: entity) {
            console.note("\(entity.name).\(derivation.attribute): derived, \(derivation.text)")
          }
          for rule in entity.description.rules {
            console.note("\(entity.name): rule '\(rule.name)': \(rule.condition)")
          }
          if let name = entity.description.expiryText {
            console.note("\(entity.name): records expire by '\(name)'")
          }
          if let text = entity.description.limitText {
            console.note("\(entity.name): limited to \(text)")
          }
          if let text = entity.historyText { console.note("\(entity.name): history: \(text)") }
        }
      }
    }
    return .success
  }

  /// Writes the differences; returns status 1 if a change would be refused.
  private func difference(to other: String, on console: Console) throws -> ExitStatus {
    var isRefused = false
    try ReadStore.read(store.path, on: console) { snapshot in
      try ReadStore.withSecondStore(other, on: console) { store in
        try store.read { newer in
          let names = try entity.map { Set([try newer.entity($0).name]) }
          let changes = try snapshot.changes(toward: newer, names: names)
          isRefused = changes.contains { $0.cost == .refused }
          try console.write(
            changes.map { [.text($0.entity), .text($0.text), .text($0.cost.description)] },
            of: ["entity", "change", "cost"].map(Column.capital))
          if console.format == .table, changes.isEmpty {
            console.note("nothing would change")
          }
        }
      }
    }
    return isRefused ? .negative : .success
  }
}
