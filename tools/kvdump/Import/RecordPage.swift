import EntityStore

/// A page of a file, parsed.
struct RecordPage: Sendable {
  /// The page's number, from 1, over all files.
  let number: Int
  let file: String
  let content: DynamicPage

  /// The readable records.
  var records: [JSONRecord] { content.records.filter { $0.node.fault == nil } }

  /// The error of the first unreadable record.
  var error: (any Error)? {
    content.places.error ?? content.records.lazy.compactMap { $0.node.faultError }.first
  }
}

/// Finds the records within a JSON value.
enum RecordPath {
  /// The records of a page.
  ///
  /// - Parameter form: The place of the records. Without a path the records are the elements of an
  ///   array, the rows after a row with column names, or the rows of a table of `fields` and
  ///   `data`. Any other object is one record. With a name for keys the records are the members of
  ///   an object.
  /// - Returns: `nil` if there are no records at that place.
  static func records(of root: JSONNode, _ form: InputForm) -> [JSONRecord]? {
    let path = form.records ?? ""
    if let keyName = form.keyName {
      guard let node = root[path: path], node.kind == .object else { return nil }
      return node.memberValues.map { .member(keyName: keyName, value: $0) }
    }
    if path.isEmpty {
      if root.kind == .array { return root.arrayRecords }
      if let rows = rows(of: root, member: "data") { return rows }
      return [.object(root)]
    }
    guard let node = root[path: path], node.kind == .array else { return nil }
    let parts = path.split(separator: ".")
    let parent = root[path: parts.dropLast().joined(separator: ".")]
    if let last = parts.last, let rows = parent.flatMap({ rows(of: $0, member: String(last)) }) {
      return rows
    }
    return node.arrayRecords
  }

  /// The records of a page whose text was incomplete and was closed after a complete element.
  ///
  /// `nil` for an object that is itself a record, which may lack members, and for rows whose column
  /// names may be incomplete.
  static func wholeRecords(of root: JSONNode, _ form: InputForm) -> [JSONRecord]? {
    if form.keyName == nil, form.records == nil, root.kind == .object {
      return rows(of: root, member: "data")
    }
    guard let records = records(of: root, form) else { return nil }
    if form.records != nil, let first = records.first, first.node.kind == .array,
      root["fields"] == nil
    {
      return nil
    }
    return records
  }

  /// The rows of a table that names its columns once: an object with `fields`, an array of texts,
  /// and with an array of arrays.
  private static func rows(of table: JSONNode, member: String) -> [JSONRecord]? {
    guard table.kind == .object, let names = table["fields"]?.namesOfColumns,
      let data = table[member], data.kind == .array,
      data.elements.allSatisfy({ $0.kind == .array })
    else { return nil }
    return data.elements.map { .row(names: names, values: $0) }
  }

  /// The paths of arrays of objects in `root`, at most two members deep, as suggestions.
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
