import EntityStore

/// A page of a file, parsed.
struct RecordPage: Sendable {
  /// From 1, over all files.
  let number: Int
  let file: String
  let content: DynamicPage

  /// The records that could be read.
  var records: [JSONRecord] { content.records.filter { $0.node.fault == nil } }

  /// The error of the first record that could not.
  var error: (any Error)? {
    content.places.error
      ?? content.records.lazy.compactMap { $0.node.faultError }.first
  }
}

/// Where in a JSON value the records are.
enum RecordPath {
  /// The records of a page.
  ///
  /// - Parameter form: where they are. Without a path an array has them as its elements, or as rows
  ///   after one with the names of columns; a table of `fields` and `data` has rows, and any other
  ///   object is one record. With a name for keys they are the members of an object.
  /// - Returns: nil when there are no records there.
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

  /// The records of a page whose text was cut and closed after a whole element.
  ///
  /// `nil` for an object that is a record itself, which may lack members, and for rows whose names
  /// may have been cut off.
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

  /// The rows of a table in the form of a service that names its columns once: an object with
  /// `fields`, an array of texts, and an array of arrays.
  private static func rows(of table: JSONNode, member: String) -> [JSONRecord]? {
    guard table.kind == .object, let names = table["fields"]?.namesOfColumns,
      let data = table[member], data.kind == .array,
      data.elements.allSatisfy({ $0.kind == .array })
    else { return nil }
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
