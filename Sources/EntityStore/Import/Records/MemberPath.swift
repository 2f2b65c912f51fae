/// Member names that are paths to nested values, as `properties.mag` or `coordinates.0`.
enum MemberPath {
  /// Returns whether a name can be a path: it has several parts and none is empty.
  ///
  /// A member with exactly this name takes precedence over the value at the path.
  static func isPath(_ name: String) -> Bool {
    name.contains(".") && !name.split(separator: ".", omittingEmptySubsequences: false).contains("")
  }

  /// The first part of a path.
  static func root(_ path: String) -> String { String(path.prefix { $0 != "." }) }
}
