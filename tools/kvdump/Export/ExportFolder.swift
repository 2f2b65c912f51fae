import EntityStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// All entities of a store as files in a folder, of one commit.
struct ExportFolder {
  /// The file with the schema of all, which no entity has the name of.
  static let schemaName = "all.schema.jsonl"

  let path: String
  let format: ExportFormat
  let replaces: Bool
  let tellsLinks: Bool
  let store: String

  /// Makes the folder if need be, and writes the files one after the other: after a failure, those
  /// that are there are whole.
  func write(_ snapshot: DynamicSnapshot, on console: Console) throws {
    if mkdir(path, 0o777) != 0, errno != EEXIST {
      throw CommandFailure.system(errno, thing: path, creating: true)
    }
    try writeSchema(snapshot)
    var rows: [[Cell]] = []
    for entity in snapshot.entities {
      let links = tellsLinks ? try LinkOptions.links(of: entity, snapshot, on: console) : []
      let export = try EntityExport(
        .all, of: entity, links: links, format, snapshot: snapshot, store: store)
      let name = "\(path)/\(entity.name).\(format.rawValue)"
      let (count, size) = try export.write(
        to: try OutputFile(name, replaces: replaces, store: store), on: console)
      rows.append([.text(entity.name), .count(count), .text(name), .byteCount(size)])
    }
    let writer = console.rows(
      of: [Column("entity"), Column("records"), Column("file"), Column("size")])
    for row in rows { try writer.write(row) }
    try writer.finish()
  }

  private func writeSchema(_ snapshot: DynamicSnapshot) throws {
    let file = try OutputFile("\(path)/\(Self.schemaName)", replaces: replaces, store: store)
    let text = TextOutput(file)
    let writer = JSONRowWriter(SchemaRows.entityColumns, to: text, layout: .lines)
    for entity in snapshot.entities {
      try writer.write(
        try SchemaRows.entity(
          entity, relationships: snapshot.relationships(of: entity),
          derivations: snapshot.derivations(of: entity)))
    }
    try writer.finish()
    try text.flush()
    try file.commit()
  }
}
