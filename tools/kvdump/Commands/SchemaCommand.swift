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
    commandName: "schema", abstract: "The entities, their attributes, indexes and relationships.",
    discussion: """
      Examples:
        kvdump schema catalog.lodestore Pod
        kvdump schema catalog.lodestore Pod --format json > pod.schema.json
        kvdump schema catalog.lodestore --diagram svg > model.svg

        kvdump schema catalog.lodestore --diff next.lodestore

      The JSON forms have one object an entity, and are what 'kvdump import --schema' reads. The \
      others have one row an attribute.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "Only this entity.")
  var entity: String?

  @Option(help: "Draw entities and relationships instead: text, dot (Graphviz) or mermaid.")
  var diagram: DiagramForm?

  @Option(
    help: ArgumentHelp(
      "Say what a program would change in STORE that declares what the store FILE has.",
      valueName: "file"))
  var diff: String?

  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    if let diff { return try difference(to: diff, on: console) }
    try ReadStore.read(store.path, on: console) { snapshot in
      let entities =
        try entity.map { [try snapshot.entity($0, in: store.path)] } ?? snapshot.entities
      if let diagram {
        for line in RelationshipRows.diagram(diagram, snapshot, entities) {
          try console.line(line)
        }
        return
      }
      switch console.format {
      case .json, .jsonl:
        let writer = console.rows(of: SchemaRows.entityColumns)
        for entity in entities {
          try writer.write(
            try SchemaRows.entity(
              entity, relationships: snapshot.relationships(of: entity),
              derivations: snapshot.derivations(of: entity)))
        }
        try writer.finish()
      case .table, .line, .csv, .markdown:
        let writer = console.rows(of: SchemaRows.attributeColumns)
        for entity in entities {
          for row in try SchemaRows.attributes(entity) { try writer.write(row) }
        }
        try writer.finish()
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

  private static let changeColumns = [
    Column("entity", title: "ENTITY"), Column("change", title: "CHANGE"),
    Column("cost", title: "COST"),
  ]

  /// Answers with status 1 where a change would be refused.
  private func difference(to other: String, on console: Console) throws -> ExitStatus {
    var isRefused = false
    try ReadStore.read(store.path, on: console) { snapshot in
      try ReadStore.read(other, on: console) { newer in
        let names = try entity.map { [try newer.entity($0, in: other).name] }.map(Set.init)
        let changes = try snapshot.changes(toward: newer, names: names)
        let writer = console.rows(of: Self.changeColumns)
        for change in changes {
          isRefused = isRefused || change.cost == .refused
          try writer.write(
            [.text(change.entity), .text(change.text), .text(change.cost.description)])
        }
        try writer.finish()
        if console.format == .table, changes.isEmpty {
          console.note("nothing would change")
        }
      }
    }
    return isRefused ? .negative : .success
  }
}
