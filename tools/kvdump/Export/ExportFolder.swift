import EntityStore
import LodestoreSystem
import LodestoreVerifier

/// An export of all entities of a store into files of a folder, from one commit.
struct ExportFolder {
  /// The name of the file with the schema of all entities.
  ///
  /// No entity can have this name.
  static let schemaName = "all.schema.jsonl"

  let path: String
  let format: OutputFormat
  let replaces: Bool
  let announcesLinks: Bool
  /// Whether values have the names of the members that they were imported from.
  let bySources: Bool
  let store: String

  /// The files that a failure must remove or report.
  private struct Made {
    var hasFolder = false
    var files: [String] = []
    var replacements: [String] = []

    mutating func note(_ file: OutputFile) {
      if file.isReplacement { replacements.append(file.path) } else { files.append(file.path) }
    }
  }

  /// Creates the folder if it is missing, and writes one file after the other.
  ///
  /// After a failure only files that replaced others are left.
  func write(_ snapshot: DynamicSnapshot, on console: Console) throws {
    var made = Made()
    do {
      try write(snapshot, on: console, noting: &made)
    } catch {
      for file in made.files { unlink(file) }
      if made.hasFolder { rmdir(path) }
      if made.replacements.isEmpty { throw error }
      throw CommandFailure.translated(error, store: store).afterReplacing(made.replacements)
    }
  }

  private func write(
    _ snapshot: DynamicSnapshot, on console: Console, noting made: inout Made
  ) throws {
    if mkdir(path, 0o777) == 0 {
      made.hasFolder = true
    } else if errno != EEXIST {
      throw CommandFailure.system(errno, thing: path, creating: true)
    }
    try writeSchema(snapshot, noting: &made)
    var rows: [[Cell]] = []
    for entity in snapshot.entities {
      let links = announcesLinks ? try LinkOptions.links(of: entity, snapshot, on: console) : []
      let export = try EntityExport(
        .all, of: entity, links: links, bySources: bySources, format, snapshot: snapshot)
      let name = "\(path)/\(entity.name).\(format.rawValue)"
      let file = try OutputFile(name, replaces: replaces, store: store)
      let (count, size) = try export.write(to: file, on: console)
      made.note(file)
      rows.append([.text(entity.name), .count(count), .text(name), .byteCount(size)])
    }
    try Self.check(store, links: announcesLinks, on: console)
    try console.write(rows, of: ["entity", "records", "file", "size"])
  }

  /// Throws the verifier's first finding about the exported trees.
  ///
  /// The files contain every record, so all of these trees must be sound. The export of one entity
  /// compares numbers and sums of entries; the verifier compares each entry with its record.
  static func check(_ store: String, links: Bool, on console: Console) throws {
    let report = try ReadStore.withEnvironment(store, warns: false, on: console) {
      try Verifier.verify(environment: $0)
    }
    var trees = ["catalogue", "records.", "index.", "elements."]
    if links { trees += ["links.", "order.", "relationship "] }
    if let finding = report.findings.first(where: { finding in
      trees.contains { finding.tree?.hasPrefix($0) ?? true }
    }) {
      throw CommandFailure.damagedContent("\(finding)")
    }
  }

  private func writeSchema(_ snapshot: DynamicSnapshot, noting made: inout Made) throws {
    let file = try OutputFile("\(path)/\(Self.schemaName)", replaces: replaces, store: store)
    let text = TextOutput(file)
    let writer = JSONRowWriter(SchemaRows.entityColumns, to: text, layout: .lines)
    for entity in snapshot.entities { try writer.write(try SchemaRows.entity(entity, snapshot)) }
    try writer.finish()
    try text.flush()
    try file.commit()
    made.note(file)
  }
}
