import ArgumentParser
import EntityStore

/// `kvdump get`: the records whose attributes have the given values; status 1 if there are none.
struct GetCommand: EntityCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Show the records with these values; status 1 if there are none.",
    discussion: """
      Examples:
        kvdump get catalog.lodestore Pod name=AFNetworking version=4.0.1
        kvdump get library.lodestore Author name='Ursula K. Le Guin' --related books

      Indexes are used as by 'kvdump query'. If no index begins with the attributes, all records \
      are read, and a note lists the indexes. '_id=7', or 7 alone, is a record's id, and so is \
      'id=7' if no attribute is named id. 'null' means null except for text; 'NaN' finds NaN.
      """)

  @OptionGroup var store: StoreArgument

  @Argument(help: "The entity.") var entity: String

  @Argument(help: .value("The values to find; a record must have all of them.", "attribute=value"))
  var matches: [AttributeMatch]

  @Option(help: "Show the records related to these by this relationship, and not these.")
  var related: String?

  @OptionGroup(title: "Selection") var fields: FieldOptions
  @OptionGroup(title: "Selection") var rows: RowOptions
  @OptionGroup(title: "Output") var output: OutputOptions

  func run(on console: Console) async throws -> ExitStatus {
    try read(on: console) { snapshot, entity in
      let search = try RecordSearch(matches, in: entity)
      let relationship = try related.map { try snapshot.relationship($0, of: entity) }
      let columns = try RecordColumns(relationship?.target ?? entity, names: fields.names)
      let shown = ShownRows(columns.columns, rows, on: console)
      func show(_ record: DynamicRecord) throws -> Bool {
        try shown.show { try columns.row(record) }
      }
      var isFound = false
      var ids: [UInt64] = []
      let isScan = try search.forEach(in: snapshot, on: console) { record in
        isFound = true
        guard relationship != nil else { return try show(record) }
        ids.append(record.id)
        return true
      }
      if let relationship { try snapshot.forEachRelated(to: ids, by: relationship, show) }
      if isScan { noteScan(of: entity, on: console) }
      try shown.finish(total: isFound ? nil : 0)
      guard isFound else {
        let conditions = matches.map { "\($0.attribute)=\($0.value)" }.joined(separator: " ")
        console.note("\(entity.name) \(conditions): not found")
        return .negative
      }
      return .success
    }
  }

  private func noteScan(of entity: DynamicEntity, on console: Console) {
    let names = matches.map(\.attribute).joined(separator: "+")
    console.note(
      "\(entity.name): no index begins with \(names), so all records were read; indexes: "
        + "\(entity.indexList)")
  }
}
