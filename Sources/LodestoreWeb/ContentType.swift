/// What a page is, by its header field `Content-Type`: RFC 9110, 8.3.
enum ContentType {
  /// Whether a page may be of a type; one that is not named may.
  static func isTaken(_ field: String?, others: [String]) -> Bool {
    guard let type = essence(field) else { return true }
    if type == "application/json" || type == "text/json" || type.hasSuffix("+json") { return true }
    return others.contains { other in
      let other = essence(other)
      return other == "*/*" || other == type
    }
  }

  /// Type and subtype in small letters; nil when there are none.
  private static func essence(_ field: String?) -> String? {
    guard let part = field?.split(separator: ";", omittingEmptySubsequences: false).first else {
      return nil
    }
    let type = part.filter { $0 != " " && $0 != "\t" }.lowercased()
    return type.isEmpty ? nil : type
  }
}
