import ArgumentParser
import EntityStore

/// `kvdump get`: the records whose attributes have the values given; status 1 when there is none.
struct GetCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "The records with these values; status 1 when there is none.",
    discussion: """
      Examples:
        kvdump get catalog.lodestore Pod name=AFNetworking version=4.0.1
        kvdump get library.lodestore Author name='Ursula K. Le Guin' --related books

      Indexes are used as by 'kvdump query'; where none begins with the attributes and all records \
      are read, a note says which indexes there are. '_id=7' or 7 alone names a record by its id, and so \
      does 'id=7' where no attribute is called id. 'null' is null but for text; 'NaN' finds NaN.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.")
  var entity: String

  @Argument(
    help: ArgumentHelp("The values to find, all of them.", valueName: "attribute=value"))
  var matches: [AttributeMatch]

  @Option(help: "Show the records that these lead to by this relationship, instead of them.")
  var related: String?

  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try ReadStore.read(store.path, checksRecords: true, on: console) { snapshot in
      let entity = try snapshot.entity(entity, in: store.path)
      let search = try RecordSearch(matches, in: entity, store: store.path)
      let relationship = try related.map {
        try snapshot.relationship($0, of: entity, in: store.path)
      }
      let shown = relationship?.target ?? entity
      let columns = try RecordColumns(shown, names: fields.names, store: store.path)
      let writer = console.rows(of: columns.columns)
      var walk = RowWindow(offset: rows.offset, limit: rows.effectiveLimit(on: console.terminal))
      var isFound = false
      func show(_ record: DynamicRecord) throws -> Bool {
        switch walk.next() {
        case .skip: return true
        case .stop: return false
        case .show: break
        }
        try writer.write(try columns.row(record))
        return true
      }
      var ids: [UInt64] = []
      let isScan = try search.forEach(in: snapshot, on: console) { record in
        isFound = true
        guard relationship != nil else { return try show(record) }
        ids.append(record.id)
        return true
      }
      if let relationship { try snapshot.forEachRelated(to: ids, by: relationship, show) }
      try writer.finish()
      if isScan { noteScan(of: entity, on: console) }
      let conditions = matches.map { "\($0.attribute)=\($0.value)" }.joined(separator: " ")
      guard isFound else {
        console.note("\(entity.name) \(conditions): not found")
        return .negative
      }
      console.note(
        RowSummary.text(
          shown: walk.shown, offset: rows.offset, total: nil, hasMore: walk.hasMore))
      return .success
    }
  }

  private func noteScan(of entity: DynamicEntity, on console: Console) {
    let names = matches.map(\.attribute).joined(separator: "+")
    console.note(
      "\(entity.name): no index begins with \(names), so all records were read; indexes: \(entity.indexList)"
    )
  }
}
