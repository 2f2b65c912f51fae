import EntityStore

/// A page of a file, parsed.
struct RecordPage: Sendable {
  /// From 1, over all files.
  let number: Int
  let file: String
  let content: DynamicPage

  var records: [JSONRecord] { content.records }
}

/// Where in a JSON value the records are.
enum RecordPath {
  /// The records of a page.
  ///
  /// - Parameter path: dotted; nil takes an array as its elements, a table of `fields` and `data` as
  ///   its rows, and any other object as one record.
  /// - Returns: nil when there are no records at `path`.
  static func records(of root: JSONNode, path: String?) -> [JSONRecord]? {
    guard let path, !path.isEmpty else {
      if root.kind == .array { return root.elements.map(JSONRecord.object) }
      if let rows = rows(of: root, member: "data") { return rows }
      return [.object(root)]
    }
    guard let node = root[path: path], node.kind == .array else { return nil }
    let parts = path.split(separator: ".")
    let parent = root[path: parts.dropLast().joined(separator: ".")]
    if let last = parts.last, let rows = parent.flatMap({ rows(of: $0, member: String(last)) }) {
      return rows
    }
    return node.elements.map(JSONRecord.object)
  }

  /// The rows of a table in the form of a service that names its columns once: an object with
  /// `fields`, an array of texts, and an array of arrays.
  private static func rows(of table: JSONNode, member: String) -> [JSONRecord]? {
    guard table.kind == .object, let fields = table["fields"], fields.kind == .array,
      let data = table[member], data.kind == .array
    else { return nil }
    var names: [String] = []
    for field in fields.elements {
      guard let name = field.string, !names.contains(name) else { return nil }
      names.append(name)
    }
    guard !names.isEmpty, data.elements.allSatisfy({ $0.kind == .array }) else { return nil }
    return data.elements.map { .row(names: names, values: $0) }
  }

  /// The paths of arrays of objects in `root`, at most two members deep: what may have been meant.
  static func candidates(in root: JSONNode) -> [String] {
    var paths: [String] = []
    for (name, value) in root.members {
      if isRecordArray(value) { paths.append(name) }
      for (inner, value) in value.kind == .object ? Array(value.members) : []
      where isRecordArray(value) {
        paths.append("\(name).\(inner)")
      }
    }
    return paths
  }

  private static func isRecordArray(_ node: JSONNode) -> Bool {
    node.kind == .array && node[0]?.kind == .object
  }
}
