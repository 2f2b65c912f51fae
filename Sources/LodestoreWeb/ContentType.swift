/// The type of a page, from its header field `Content-Type`: RFC 9110, 8.3.
enum ContentType {
  /// Whether a page with this `Content-Type` is accepted: JSON, or one of the types `others`.
  ///
  /// A page that does not name its type is accepted too.
  static func isTaken(_ field: String?, others: [String]) -> Bool {
    guard let type = essence(field) else { return true }
    if type == "application/json" || type == "text/json" || type.hasSuffix("+json") { return true }
    return others.contains { other in
      let other = essence(other)
      return other == "*/*" || other == type
    }
  }

  /// Type and subtype in lower case; `nil` if the field has none.
  private static func essence(_ field: String?) -> String? {
    guard let part = field?.split(separator: ";", omittingEmptySubsequences: false).first else {
      return nil
    }
    let type = part.filter { $0 != " " && $0 != "\t" }.lowercased()
    return type.isEmpty ? nil : type
  }
}
