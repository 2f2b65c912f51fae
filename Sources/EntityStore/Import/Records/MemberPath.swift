/// Names of members that are paths into them, as `properties.mag` or `coordinates.0`.
enum MemberPath {
  /// Whether a name can be a path: it has parts.
  ///
  /// A member of just that name is taken before what the path leads to.
  static func isPath(_ name: String) -> Bool {
    name.contains(".") && !name.split(separator: ".", omittingEmptySubsequences: false).contains("")
  }

  /// The member that a path begins with.
  static func root(_ path: String) -> String {
    String(path.prefix { $0 != "." })
  }
}
