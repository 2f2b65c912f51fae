internal import Foundation

/// The address of a source, and the rules for which addresses belong to it.
///
/// Positions and names of pages are addresses without the secrets of the source's own address, so
/// the store never contains a secret.
struct SourceAddress: Sendable {
  /// The maximum length of an address.
  ///
  /// No server accepts longer addresses.
  static let byteLimit = 8192

  /// The address without user information and fragment.
  let url: URL
  /// `Basic` credentials, from user information in the address.
  let credentials: String?
  private let secretNames: Set<String>

  init(_ url: URL?, secretParameters: Set<String>) throws(WebSourceError) {
    guard let url, let plain = Self.plain(url.absoluteURL) else {
      throw .unusableAddress(url?.scheme)
    }
    self.url = plain
    secretNames = Set(secretParameters.map { $0.lowercased() })
    let user = url.user(percentEncoded: false) ?? ""
    let password = url.password(percentEncoded: false) ?? ""
    credentials =
      user.isEmpty && password.isEmpty
      ? nil : "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// The address without user information and fragment; `nil` if it is not a web address.
  ///
  /// A port outside 1 to 65,535 makes an address unusable. Sockets have no such port, and the HTTP
  /// client's library would end the process when it converts the number.
  static func plain(_ url: URL) -> URL? {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
      parts.host?.isEmpty == false, hasUsablePort(parts)
    else { return nil }
    parts.user = nil
    parts.password = nil
    parts.fragment = nil
    guard let url = parts.url, url.host()?.isEmpty == false,
      url.absoluteString.utf8.count <= byteLimit
    else { return nil }
    return url
  }

  /// Whether the port is absent or valid for a socket.
  private static func hasUsablePort(_ parts: URLComponents) -> Bool {
    if let port = parts.port { return (1...65_535).contains(port) }
    guard let text = parts.string, let range = parts.rangeOfPort else { return true }
    return text[range].isEmpty
  }

  /// Whether the source's own header fields, such as `Authorization`, may be sent to an address.
  ///
  /// The address must have the same scheme, host and port, or the same host with HTTPS.
  func isHome(_ other: URL) -> Bool {
    guard let host = url.host()?.lowercased(), host == other.host()?.lowercased() else {
      return false
    }
    let own = (url.scheme?.lowercased(), Self.port(url))
    let others = (other.scheme?.lowercased(), Self.port(other))
    return own == others || (own == ("http", 80) && others == ("https", 443))
  }

  private static func port(_ url: URL) -> Int {
    url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
  }

  // MARK: Names

  /// The name of a page: its address without the secrets of the source's own address.
  func name(of page: URL) -> String {
    // Secret values are compared after percent-decoding, because a service may encode a secret
    // differently in its links.
    let own = Set(secrets.map(QueryText.value))
    return Self.replacingQuery(of: page) { pairs in
      pairs.filter { !isSecret($0) || !own.contains(QueryText.value($0)) }
    }.absoluteString
  }

  /// The page with a name; `nil` if the name cannot belong to this source.
  func page(named name: String) -> URL? {
    guard name.utf8.count <= Self.byteLimit, let url = URL(string: name),
      let plain = Self.plain(url), isHome(plain)
    else { return nil }
    let page = addingSecrets(plain)
    return self.name(of: page) == name ? page : nil
  }

  /// The page that a link on another page refers to; `nil` if it does not belong to this source.
  func page(linked link: String, from base: URL) -> URL? {
    guard link.utf8.count <= Self.byteLimit, let url = URL(string: link, relativeTo: base),
      let plain = Self.plain(url.absoluteURL), isHome(plain)
    else { return nil }
    return addingSecrets(plain)
  }

  /// The source's address with other values in its query.
  func page(with values: [(name: String, value: String)]) -> URL {
    Self.replacingQuery(of: url) { pairs in
      values.reduce(pairs) { QueryText.setting($1.name, $1.value, in: $0) }
    }
  }

  private var secrets: [String] { QueryText.pairs(url).filter(isSecret) }

  private func isSecret(_ pair: String) -> Bool {
    secretNames.contains(QueryText.name(pair).lowercased())
  }

  private func addingSecrets(_ page: URL) -> URL {
    Self.replacingQuery(of: page) { pairs in
      let names = Set(pairs.map(QueryText.name))
      return pairs + secrets.filter { !names.contains(QueryText.name($0)) }
    }
  }

  /// An address for messages: without user information and values of secret parameters.
  func shown(_ page: URL) -> URL {
    Self.replacingQuery(of: Self.plain(page) ?? url) { pairs in
      pairs.map { pair in
        isSecret(pair) ? "\(pair.prefix { $0 != "=" })=***" : pair
      }
    }
  }

  private static func replacingQuery(
    of page: URL, _ change: (_ pairs: [String]) -> [String]
  ) -> URL {
    let pairs = QueryText.pairs(page)
    let changed = change(pairs)
    guard changed != pairs, var parts = URLComponents(url: page, resolvingAgainstBaseURL: true)
    else { return page }
    // Setting this property traps for text that is not percent-encoded. All text here comes from an
    // address or was encoded.
    parts.percentEncodedQuery = changed.isEmpty ? nil : changed.joined(separator: "&")
    return parts.url ?? page
  }
}
