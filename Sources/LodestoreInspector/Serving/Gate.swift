/// The check of each request before a page is made.
///
/// Another program of this machine, or a page that a browser shows meanwhile, can send requests to
/// the server's port. Such a request lacks the key, names another host, or comes from another
/// origin.
struct Gate: Sendable {
  let key: AccessKey
  let port: UInt16
  /// Whether requests may change the store.
  var allowsWrites = false

  /// The name of the query's item that holds the key in the first address.
  static let parameter = "key"

  /// Cookies of one host are common to its ports, so the name has the port.
  var cookieName: String { "lodestore-\(port)" }

  private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

  enum Decision {
    case admitted(Address)
    case refused(Response)
  }

  func decide(_ request: Request) -> Decision {
    guard let host = request.host, hosts.contains(host.lowercased()) else {
      return .refused(Response(421, "This server answers only as \(hosts[0])."))
    }
    if let origin = request.origin, origin != "http://\(host.lowercased())" {
      return .refused(Response(403, "Pages of another origin may not read this server."))
    }
    if let refusal = refusalOfMethod(request) { return .refused(refusal) }
    guard var address = Address(request.target) else {
      return .refused(Response(400, "\(AddressError.malformed.message)."))
    }
    let keys = address.query.filter { $0.name == Self.parameter }.map(\.value)
    address.query.removeAll { $0.name == Self.parameter }
    if let candidate = keys.first {
      guard key.matches(candidate) else { return .refused(Self.locked) }
      return .refused(opened(address))
    }
    guard hasCookie(request.cookie) || hasAuthorization(request.authorization) else {
      return .refused(Self.locked)
    }
    // A browser sends the cookie only for requests of this server's pages. Browsers without
    // SameSite still report that another site made the request.
    if let site = request.fetchSite, site == "cross-site" || site == "same-site" {
      return .refused(Response(403, "Pages of another site may not read this server."))
    }
    return .admitted(address)
  }

  /// The refusal of a request that may not change the store, or does not say who sent it.
  ///
  /// A page of another origin can send a form with the user's cookies. A browser then names that
  /// origin, and asks this server before it sends JSON, which the server never allows.
  private func refusalOfMethod(_ request: Request) -> Response? {
    switch request.method {
    case "GET", "HEAD":
      return request.hasBody ? Response(413, "A request here has no body.") : nil
    case "POST" where allowsWrites:
      if let site = request.fetchSite, site != "same-origin" {
        return Response(403, "Only a page of this server may change the store.")
      }
      switch request.bodyForm {
      case .json: return nil
      case .form where request.origin != nil: return nil
      case .form: return Response(403, "A form must name its origin, which browsers do.")
      case nil: return Response(415, "A change is sent as a form or as application/json.")
      }
    default:
      var response = Response(
        405,
        allowsWrites
          ? "This server knows no such method; use GET or POST."
          : "This server is read-only; 'kvdump serve --write' starts one that changes records.")
      response.fields = [("Allow", allowsWrites ? "GET, HEAD, POST" : "GET, HEAD")]
      return response
    }
  }

  private func hasAuthorization(_ field: String?) -> Bool {
    guard let field, field.hasPrefix("Bearer ") else { return false }
    return key.matches(field.dropFirst("Bearer ".count))
  }

  private static let locked = Response(
    403, "This page needs the key. Open the address that the program printed at its start.")

  /// Stores the key as a cookie, and continues at the address without the key.
  private func opened(_ address: Address) -> Response {
    var response = Response(303, "The key is stored.")
    response.fields = [
      ("Location", address.text),
      ("Set-Cookie", "\(cookieName)=\(key.text); Path=/; HttpOnly; SameSite=Strict"),
    ]
    return response
  }

  private func hasCookie(_ field: String?) -> Bool {
    guard let field else { return false }
    return field.split(separator: ";").contains { part in
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return sides.count == 2 && sides[0].drop { $0 == " " } == cookieName
        && key.matches(sides[1])
    }
  }
}
