import Hummingbird
import Lodestore

/// The client's request for a part of the list of podspecs.
///
/// A client can use only the parameters declared here. A parameter is used only as a value, never
/// as a part of the query's text.
struct PodListing: Sendable {
  /// The supported parameters.
  enum Parameter: String, CaseIterable {
    case name, search, license, platform, version, needs, sort, limit, after
  }

  /// The supported orders.
  enum Order: String, CaseIterable {
    case name
    case nameDescending = "-name"
    case changed
    case changedDescending = "-changed"
  }

  static let limits = 1...200

  private var values: [Parameter: String] = [:]
  /// The largest number of podspecs on a page.
  private(set) var limit = 50
  private var order = Order.name

  init(_ request: Request) throws(Problem) {
    for (name, value) in request.uri.queryParameters {
      guard let parameter = Parameter(rawValue: String(name)) else {
        let names = Parameter.allCases.map(\.rawValue).sorted()
        throw .unknownParameter(String(name), allowed: names)
      }
      if values.updateValue(String(value), forKey: parameter) != nil {
        throw .badParameter(
          parameter.rawValue, "The parameter \"\(name)\" is there twice. Send it once.")
      }
      if value.isEmpty {
        throw .badParameter(
          parameter.rawValue, "The parameter \"\(name)\" is empty. Send a value, or leave it out.")
      }
    }
    if let text = values[.limit] {
      guard let number = Int(text), Self.limits.contains(number) else {
        throw .badParameter(
          "limit",
          "The limit \"\(text)\" is no number from \(Self.limits.lowerBound) to "
            + "\(Self.limits.upperBound).")
      }
      limit = number
    }
    if let text = values[.sort] {
      guard let order = Order(rawValue: text) else {
        let names = Order.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badParameter("sort", "There is no order \"\(text)\". Use one of: \(names).")
      }
      self.order = order
    }
  }

  /// The query for the podspecs of the page.
  var query: Query<Podspec> {
    get throws {
      let matching = try matching
      let sorted =
        switch order {
        case .name: matching.sorted(by: \.sortName, \.versionOrder)
        case .nameDescending:
          matching.sorted(by: \.sortName.descending, \.versionOrder.descending)
        case .changed: matching.sorted(by: \.changedAt)
        case .changedDescending: matching.sorted(by: \.changedAt.descending)
        }
      return sorted.limit(limit).continuing(after: values[.after].map { ContinuationToken($0) })
    }
  }

  private var matching: Query<Podspec> {
    get throws {
      let conditions = Podspec.where {
        if let license = values[.license] { $0.license == license }
        if let platform = values[.platform] { $0.platformNames.contains(platform) }
        if let version = values[.version] { $0.version == version }
        if let needs = values[.needs] { $0.dependencies.any { $0.name == needs } }
        for word in (values[.search] ?? "").split(separator: " ").map(String.init) {
          anyOf(
            $0.name.contains(word, [.caseInsensitive, .diacriticInsensitive]),
            $0.summary.contains(word, [.caseInsensitive, .diacriticInsensitive]),
            $0.authorNames.contains(word, [.caseInsensitive, .diacriticInsensitive]))
        }
      }
      guard let name = values[.name] else { return conditions }
      // The name is folded in the way of `sortName`, because the condition uses the index of
      // `sortName`.
      return try conditions.where(format: "sortName BEGINSWITH canonical:(%@)", name)
    }
  }

  /// Returns the path of the next page.
  func next(_ token: ContinuationToken?, _ request: Request) -> String? {
    guard let token else { return nil }
    let others = (request.uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix("after=") }
    return "/pods?" + (others + ["after=\(token.text)"]).joined(separator: "&")
  }
}
