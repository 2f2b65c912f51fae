extension JSONNode {
  /// The column names, if the value is an array of texts that are all different; otherwise `nil`.
  package var namesOfColumns: [String]? { columnNames }

  /// The records of an array.
  ///
  /// Each element is a record. If the first element contains column names, the other elements are
  /// rows.
  package var arrayRecords: [JSONRecord] {
    guard let names = self[0]?.columnNames else { return elements.map(JSONRecord.object) }
    return elements.dropFirst().map { .row(names: names, values: $0) }
  }
}

/// Member names that are paths into other members.
package enum DynamicPath {
  /// The first part of the path `name`; `nil` when `name` is the name of a member itself.
  package static func root(of name: String) -> String? {
    MemberPath.isPath(name) ? MemberPath.root(name) : nil
  }
}
