internal import EntityStore
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

// Each function here makes one message. Wording: cannot + verb + thing: the fact found and the fact
// expected; the next step. Addresses passed here have no user information and no secrets.

extension WebSourceError {
  // MARK: The source

  static func unusableAddress(_ scheme: String?) -> WebSourceError {
    let found = scheme.map { "the scheme '\(visible($0))'" } ?? "no scheme"
    return WebSourceError(
      .badRequest,
      "cannot read the source: its address has \(found), no host, no port from 1 to 65535, or more "
        + "than \(SourceAddress.byteLimit) bytes; use http or https, a host and such a port"
    )
  }

  static var unusableMethod: WebSourceError {
    WebSourceError(
      .badRequest,
      "cannot read the source: its request has a method other than GET or a body; use GET")
  }

  static func unusableField(_ name: String?) -> WebSourceError {
    let field = name.map { "the value of '\(visible($0))'" } ?? "a name"
    return WebSourceError(
      .badRequest,
      "cannot read the source: \(field) in its header fields has a character that cannot stand "
        + "there; leave out line ends and control characters")
  }

  static var noClient: WebSourceError {
    WebSourceError(
      .badRequest,
      "cannot read the source: the package 'lodestore' was built for Linux without the trait 'Web', "
        + "which brings the client; enable it where the package is named")
  }

  static func forbiddenAddress(
    _ url: URL, _ range: AddressRange, _ attempts: Int
  ) -> WebSourceError {
    WebSourceError(
      .forbiddenAddress, url: url, attempts: attempts,
      "cannot fetch '\(url)': its host has an address of \(range.words), which is not allowed; "
        + "check the host's name, or allow the range by addresses")
  }

  static func badPosition(_ position: String, source: URL) -> WebSourceError {
    WebSourceError(
      .badPosition, url: source,
      "cannot go on with '\(source)': the position \(position.utf8.count) bytes long is not one "
        + "that this source gives; import from the start, or with the address and paging that gave it"
    )
  }

  // MARK: Transfers

  static func noConnection(_ url: URL, _ cause: URLError, _ attempts: Int) -> WebSourceError {
    let known: [URLError.Code: String] = [
      .cannotFindHost: "the host's name is not known",
      .dnsLookupFailed: "the host's name is not known",
      .cannotConnectToHost: "the host takes no connection",
      .networkConnectionLost: "the connection broke",
      .notConnectedToInternet: "this device is not connected",
      .badServerResponse: "what came is no answer of HTTP", .timedOut: "no answer came in time",
      .serverCertificateUntrusted: "the host's certificate is not trusted",
      .serverCertificateHasBadDate: "the host's certificate is not valid today",
    ]
    let system = visible(cause.userInfo[NSLocalizedDescriptionKey] as? String ?? "no reason given")
    let words = known[cause.code] ?? "the system says '\(system)'"
    return WebSourceError(
      .noConnection, url: url, attempts: attempts, cause: cause,
      "cannot fetch '\(url)': \(words) (URLError \(cause.code.rawValue)), \(asked(attempts)); "
        + "check the address and the network")
  }

  static func truncated(
    _ url: URL, received: Int, expected: Int?, _ attempts: Int, cause: URLError?
  ) -> WebSourceError {
    let whole = expected.map { " of \($0)" } ?? ""
    return WebSourceError(
      .truncated, url: url, attempts: attempts, cause: cause,
      "cannot fetch '\(url)': the answer broke off, or could not be decompressed, behind "
        + "\(received)\(whole) bytes, \(asked(attempts)); try again later")
  }

  static func idle(
    _ url: URL, _ timeout: Duration, received: Int, _ attempts: Int
  ) -> WebSourceError {
    WebSourceError(
      .timedOut, url: url, attempts: attempts,
      "cannot fetch '\(url)': no byte came for \(timeout) behind \(received) bytes, "
        + "\(asked(attempts)); try again later or raise requestTimeout")
  }

  static func slow(
    _ url: URL, _ timeout: Duration, received: Int, _ attempts: Int
  ) -> WebSourceError {
    WebSourceError(
      .timedOut, url: url, attempts: attempts,
      "cannot fetch '\(url)': after \(timeout) only \(received) bytes had come, "
        + "\(asked(attempts)); raise transferTimeout or ask for smaller pages")
  }

  static func pageTooLarge(_ url: URL, limit: Int, _ attempts: Int) -> WebSourceError {
    WebSourceError(
      .pageTooLarge, url: url, attempts: attempts,
      "cannot fetch '\(url)': the page has more than \(limit) bytes; ask for smaller pages or "
        + "raise pageByteLimit")
  }

  static func headTooLarge(_ url: URL, limit: Int, _ attempts: Int) -> WebSourceError {
    WebSourceError(
      .pageTooLarge, url: url, attempts: attempts,
      "cannot fetch '\(url)': the answer has more than \(limit) bytes besides its content; report it "
        + "to the service, or raise headByteLimit")
  }

  // MARK: Answers

  static func badStatus(_ url: URL, _ status: Int, _ attempts: Int) -> WebSourceError {
    let advice =
      switch status {
      case 401, 403, 407: "check the credentials"
      case 404, 410: "check the address"
      case 429: "ask less often"
      case 500...: "try again later"
      default: "check the request"
      }
    return WebSourceError(
      .badStatus, url: url, status: status, attempts: attempts,
      "cannot fetch '\(url)': found status \(status), expected 200, \(asked(attempts)); \(advice)")
  }

  /// A copy of the error for a missing page to which the page before it refers, with the code
  /// `pageVanished`.
  var vanished: WebSourceError {
    var error = self
    error.code = .pageVanished
    let page = url.map { "'\($0)'" } ?? "a page"
    error.message =
      "cannot fetch \(page): found status \(status ?? 404) though the page before it names it; "
      + "import from the start"
    return error
  }

  /// A copy of the error with the wait that the service asks for.
  ///
  /// - Parameter longest: The maximum wait that the options allow, if the service asks for a longer
  ///   one.
  func asking(for wait: Duration, longest: Duration? = nil) -> WebSourceError {
    var error = self
    error.retryAfter = wait
    if let longest {
      error.message =
        "cannot fetch '\(url?.absoluteString ?? "")': found status \(status ?? 0), and the service asks "
        + "to wait \(wait), longer than the longest wait of \(longest); try again after that time, or "
        + "raise longestWait"
    }
    return error
  }

  static func unaskedNotModified(_ url: URL, _ attempts: Int) -> WebSourceError {
    WebSourceError(
      .badStatus, url: url, status: 304, attempts: attempts,
      "cannot fetch '\(url)': found status 304, not modified, though nothing is remembered of the "
        + "page; look for a cache on the way")
  }

  static func badContentType(
    _ url: URL, found: String, status: Int, _ attempts: Int
  ) -> WebSourceError {
    WebSourceError(
      .badContentType, url: url, status: status, attempts: attempts,
      "cannot take '\(url)': found the type '\(visible(found))', expected JSON; check the "
        + "address, or allow the type by otherContentTypes")
  }

  static func badEncoding(_ url: URL, found: String, _ attempts: Int) -> WebSourceError {
    WebSourceError(
      .badEncoding, url: url, attempts: attempts,
      "cannot take '\(url)': found the content encoding '\(visible(found))', expected gzip, deflate "
        + "or none; have the service send what is asked for")
  }

  // MARK: Files

  static func fileTooLarge(_ url: URL, limit: Int, _ attempts: Int) -> WebSourceError {
    WebSourceError(
      .pageTooLarge, url: url, attempts: attempts,
      "cannot fetch '\(url)': the file has more than the \(limit) bytes expected; check that the "
        + "server has the file that belongs there")
  }

  static func badRange(
    _ url: URL, found: String, expected: String, _ attempts: Int
  ) -> WebSourceError {
    WebSourceError(
      .badRange, url: url, attempts: attempts,
      "cannot fetch '\(url)': the answer has \(visible(found)), expected \(expected); fetch the whole "
        + "file, or use a server that answers requests for ranges")
  }

  // MARK: Redirects

  static func forbiddenRedirect(
    _ url: URL, to target: URL, _ range: AddressRange, _ attempts: Int
  ) -> WebSourceError {
    WebSourceError(
      .badRedirect, url: url, attempts: attempts,
      "cannot fetch '\(url)': it leads to '\(target)', whose address is of \(range.words), which is "
        + "not allowed; use the address that it leads to, or allow the range by addresses")
  }

  static func unusableRedirect(_ url: URL, status: Int, _ attempts: Int) -> WebSourceError {
    WebSourceError(
      .badRedirect, url: url, status: status, attempts: attempts,
      "cannot fetch '\(url)': status \(status) leads to no address of the web; check the address")
  }

  static func downgradingRedirect(
    _ url: URL, to target: URL, status: Int, _ attempts: Int
  ) -> WebSourceError {
    WebSourceError(
      .badRedirect, url: url, status: status, attempts: attempts,
      "cannot fetch '\(url)': status \(status) leads from https to '\(target)'; have the service "
        + "redirect to https")
  }

  static func endlessRedirect(
    _ url: URL, limit: Int, isLoop: Bool, _ attempts: Int
  ) -> WebSourceError {
    let fact = isLoop ? "redirects lead in a circle" : "found more than \(limit) redirects"
    return WebSourceError(
      .badRedirect, url: url, attempts: attempts,
      "cannot fetch '\(url)': \(fact); use the address that they end at")
  }

  // MARK: The next page

  static func notJSON(_ url: URL, path: String, _ cause: JSONError) -> WebSourceError {
    WebSourceError(
      .unreadablePage, url: url, attempts: 1, cause: cause,
      "cannot find the page behind '\(url)' at '\(path)': \(cause); check that the page is JSON")
  }

  static func unfitValue(
    _ url: URL, path: String, found: JSONNode?, expected: String
  ) -> WebSourceError {
    let what = found.map { "\($0.kindName) at \($0.position)" } ?? "nothing"
    return WebSourceError(
      .unreadablePage, url: url, attempts: 1,
      "cannot find the page behind '\(url)': at '\(path)' is \(what), expected \(expected); "
        + "correct the path in the paging")
  }

  static func unusableLink(_ url: URL, target: URL?, home: URL) -> WebSourceError {
    let scheme = home.scheme ?? ""
    let port = home.port.map { ":\($0)" } ?? ""
    let fact = target.map { "to '\($0)'" } ?? "to no address of the web"
    return WebSourceError(
      .badLink, url: url, attempts: 1,
      "cannot follow the link behind '\(url)': it leads \(fact), expected a page of "
        + "'\(scheme)://\(home.host() ?? "")\(port)'; if it is right, use its host in the source's "
        + "address")
  }

  static func linkedAgain(_ url: URL) -> WebSourceError {
    WebSourceError(
      .repeatedPage, url: url,
      "cannot go on to '\(url)': the page came already, and its pages would come forever; report "
        + "it to the service")
  }

  static func sameContent(_ url: URL) -> WebSourceError {
    WebSourceError(
      .repeatedPage, url: url, attempts: 1,
      "cannot take '\(url)': it has the content of the page before it; check the parameter of the "
        + "page's number")
  }

  static func tooManyPages(_ url: URL, limit: Int) -> WebSourceError {
    WebSourceError(
      .tooManyPages, url: url,
      "cannot go on to '\(url)': \(limit) pages have come, and that is the limit; raise pageLimit, "
        + "or go on from this page")
  }

  // MARK: Words

  private static func asked(_ attempts: Int) -> String {
    attempts == 1 ? "asked once" : "asked \(attempts) times"
  }

  /// Text of a server or a caller, shortened and without invisible characters.
  private static func visible(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(64).map { scalar in
      (0x20...0x7E).contains(scalar.value) ? Character(scalar) : "?"
    }
    return String(scalars)
  }
}
