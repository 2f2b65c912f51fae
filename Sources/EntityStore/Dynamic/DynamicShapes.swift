extension JSONNode {
  /// The names of columns, which an array of texts has that are all different.
  package var namesOfColumns: [String]? { columnNames }

  /// The records that an array has: its elements, or rows where its first element has the names of
  /// columns.
  package var arrayRecords: [JSONRecord] {
    guard let names = self[0]?.columnNames else { return elements.map(JSONRecord.object) }
    return elements.dropFirst().map { .row(names: names, values: $0) }
  }
}

/// Names of members that lead into other members.
package enum DynamicPath {
  /// The member that the path `name` begins with; `nil` for the name of a member itself.
  package static func root(of name: String) -> String? {
    MemberPath.isPath(name) ? MemberPath.root(name) : nil
  }
}
