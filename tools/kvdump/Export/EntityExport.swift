import EntityStore
import LodestoreFormat

/// The export of the records that a request finds into a file or a stream.
struct EntityExport {
  private let query: DynamicQuery
  private let snapshot: DynamicSnapshot
  private var columns: RecordColumns
  private let format: OutputFormat
  private let entity: DynamicEntity
  private let links: [DynamicLink]
  /// Notes about attributes that an import would put into other attributes.
  private let notes: [String]

  /// Checks the request and the fields.
  ///
  /// Without fields, exports all attributes but not the id, because the importing store assigns its
  /// own.
  init(
    _ request: QueryRequest, of entity: DynamicEntity, fields: [String]? = nil,
    links: [DynamicLink] = [], bySources: Bool = false,
    places: (latitude: String, longitude: String)? = nil, _ format: OutputFormat,
    snapshot: DynamicSnapshot
  ) throws {
    query = try snapshot.query(request, of: entity)
    self.snapshot = snapshot
    let names = fields ?? entity.description.declaredAttributes.map(\.name)
    columns = try RecordColumns(entity, names: names, isExact: format == .json || format == .jsonl)
    notes = bySources ? [] : Self.notes(of: entity, names)
    columns.add(links, snapshot)
    try columns.addPlace(for: format, by: places)
    if bySources { try columns.nameBySources() }
    self.format = format
    self.entity = entity
    self.links = links
  }

  /// A note for each exported attribute whose name is the source name of another attribute.
  private static func notes(of entity: DynamicEntity, _ names: [String]) -> [String] {
    let attributes = entity.description.declaredAttributes
    return attributes.compactMap { attribute in
      guard let source = attribute.source, source != attribute.name, names.contains(source),
        attributes.contains(where: { $0.name == source })
      else { return nil }
      return
        "\(entity.name): an import takes '\(source)' into '\(attribute.name)', whose member has "
        + "that name; export with --source-names, or import with --map \(source)=\(source)"
    }
  }

  /// Writes the records and returns their number.
  ///
  /// Rows are checked after they are written, so that they appear at once. After a failure some may
  /// be missing.
  func write(to output: TextOutput, on console: Console) throws -> Int {
    for note in notes { console.note(note) }
    let writer = console.rows(of: columns.columns, as: format, to: output)
    var count = 0
    try console.withProgress { progress in
      try query.forEach(control: progress?.control) { record in
        if output === console.output { console.endProgress() }
        try writer.write(try columns.row(record))
        count += 1
        return true
      }
    }
    try writer.finish()
    try check()
    return count
  }

  /// Throws if a record is lost, if an index lacks an entry, or if the two sides of an exported
  /// relationship differ.
  private func check() throws {
    for lookup in query.lookups {
      let check = try EntityCheck(lookup.entity, snapshot)
      try check.checkIndexes()
      if lookup.isByElements { try check.checkElements() }
    }
    for link in links { try snapshot.checkSides(of: link, of: entity) }
  }

  /// Writes the records and names the file.
  ///
  /// Returns the number of records and the size of the file.
  func write(to file: OutputFile, on console: Console) throws -> (count: Int, size: Int) {
    let text = TextOutput(file)
    let count = try write(to: text, on: console)
    try text.flush()
    try file.commit()
    return (count, file.size)
  }
}
