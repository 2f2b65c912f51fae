internal import EntityStore
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The answer of a source for one page.
enum LoadedPage: Sendable {
  case content(WebResponse)
  /// The page has not changed since it was remembered.
  case unchanged(Validators)
  /// The status 404 or 410 says that no page is there; the error has it.
  case absent(WebSourceError)
}

/// Requests one page, with retries.
struct PageLoader: Sendable {
  let source: SourceAddress
  let request: URLRequest
  let options: WebPages.Options
  let timing: RetryTiming
  let session: WebSession

  private enum Attempt {
    case page(LoadedPage)
    case again(WebSourceError, after: Duration?)
  }

  /// The page at an address.
  ///
  /// - Parameter known: the validators of its remembered content; with them the page may come as unchanged.
  func load(_ page: URL, known: Validators?) async throws -> LoadedPage {
    var attempts = 1
    while true {
      try Task.checkCancellation()
      switch try await attempt(page, known: known, attempts: attempts) {
      case .page(let page): return page
      case .again(let error, let asked):
        if let asked, asked > options.longestWait.bounded {
          throw error.asking(for: asked, longest: options.longestWait.bounded)
        }
        guard attempts <= options.retries else {
          throw asked.map { error.asking(for: $0) } ?? error
        }
        try await timing.sleep(
          for: timing.wait(
            beforeRetry: attempts, asked: asked, first: options.firstWait,
            longest: options.longestWait))
        attempts += 1
      }
    }
  }

  /// One request, and those that redirects lead to.
  private func attempt(_ page: URL, known: Validators?, attempts: Int) async throws -> Attempt {
    var url = page
    var visited: Set<URL> = [page]
    // Of the answer that led to the address.
    var range: AddressRange?
    while true {
      let response: WebResponse
      do {
        response = try await session.response(
          to: request(url, known: known), at: url,
          floor: source.isHome(url) ? nil : range ?? .everywhere)
      } catch let failure as TransferFailure {
        return try self.failure(failure, page, at: url, attempts)
      }
      range = response.range
      guard let target = try redirect(response, page, attempts) else {
        return try answer(response, page, known: known, attempts)
      }
      let isLoop = !visited.insert(target).inserted
      guard !isLoop, visited.count - 1 <= options.redirects else {
        throw WebSourceError.endlessRedirect(
          source.shown(page), limit: options.redirects, isLoop: isLoop, attempts)
      }
      url = target
    }
  }

  private func failure(
    _ failure: TransferFailure, _ page: URL, at url: URL, _ attempts: Int
  ) throws -> Attempt {
    let shown = source.shown(page)
    switch failure {
    case .cancelled: throw CancellationError()
    case .headTooLarge:
      throw WebSourceError.headTooLarge(shown, limit: options.headByteLimit, attempts)
    case .status(let status): throw WebSourceError.badStatus(shown, status, attempts)
    case .coding(let coding): throw WebSourceError.badEncoding(shown, found: coding, attempts)
    case .address(let range):
      throw url == page
        ? WebSourceError.forbiddenAddress(shown, range, attempts)
        : .forbiddenRedirect(shown, to: source.shown(url), range, attempts)
    case .tooLarge:
      throw WebSourceError.pageTooLarge(shown, limit: options.pageByteLimit, attempts)
    case .idle(let received):
      return .again(
        .idle(shown, options.requestTimeout, received: received, attempts), after: nil)
    case .slow(let received):
      return .again(
        .slow(shown, options.transferTimeout, received: received, attempts), after: nil)
    case .truncated(let received, let expected, let cause):
      return .again(
        .truncated(shown, received: received, expected: expected, attempts, cause: cause),
        after: nil)
    case .transport(let cause):
      let error = WebSourceError.noConnection(shown, cause, attempts)
      guard cause.isWorthRetrying else { throw error }
      return .again(error, after: nil)
    }
  }

  /// Where a response leads; nil when it is no redirect.
  private func redirect(
    _ response: WebResponse, _ page: URL, _ attempts: Int
  ) throws(WebSourceError) -> URL? {
    guard [301, 302, 303, 307, 308].contains(response.status),
      let location = response.fields["location"], !location.isEmpty
    else { return nil }
    guard location.utf8.count <= SourceAddress.byteLimit,
      let url = URL(string: location, relativeTo: response.url).flatMap({
        SourceAddress.plain($0.absoluteURL)
      })
    else { throw .unusableRedirect(source.shown(page), status: response.status, attempts) }
    guard Self.isFollowed(from: response.url, to: url) else {
      throw .downgradingRedirect(
        source.shown(page), to: source.shown(url), status: response.status, attempts)
    }
    return url
  }

  /// Whether a redirect may be followed: not from HTTPS to HTTP.
  static func isFollowed(from: URL, to: URL) -> Bool {
    from.scheme?.lowercased() != "https" || to.scheme?.lowercased() == "https"
  }

  private func answer(
    _ response: WebResponse, _ page: URL, known: Validators?, _ attempts: Int
  ) throws(WebSourceError) -> Attempt {
    let shown = source.shown(page)
    switch response.status {
    case 200, 203:
      let type = response.fields["content-type"]
      guard ContentType.isTaken(type, others: options.otherContentTypes) else {
        throw .badContentType(shown, found: type ?? "", status: response.status, attempts)
      }
      return .page(.content(response))
    case 304:
      guard let known else { throw .unaskedNotModified(shown, attempts) }
      // New ones may come with it.
      return .page(
        .unchanged(
          Validators(
            entityTag: response.fields["etag"] ?? known.entityTag,
            lastModified: response.fields["last-modified"] ?? known.lastModified)))
    case let status:
      let error = WebSourceError.badStatus(shown, status, attempts)
      let asked = timing.asked(response.fields)
      if options.retriedStatuses.contains(status) || (asked != nil && Self.isLimit(status)) {
        return .again(error, after: asked)
      }
      guard status == 404 || status == 410 else { throw error }
      return .page(.absent(error))
    }
  }

  /// Whether a status is a limit that passes when the answer says when: 403, by which services
  /// refuse clients that ask too often, and 413 (RFC 9110, 15.5.14).
  private static func isLimit(_ status: Int) -> Bool { status == 403 || status == 413 }

  // MARK: Requests

  /// Header fields that are set here or by the session.
  private static let ownFields: Set<String> = [
    "accept-encoding", "connection", "content-length", "host", "if-match", "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "range", "te", "transfer-encoding",
  ]
  /// Header fields that may go to another host.
  private static let plainFields: Set<String> = ["accept", "accept-language", "user-agent"]

  private func request(_ url: URL, known: Validators?) -> URLRequest {
    var made = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    made.httpShouldHandleCookies = false
    let isHome = source.isHome(url)
    made.setValue("application/json, */*;q=0.5", forHTTPHeaderField: "Accept")
    if isHome, let credentials = source.credentials {
      made.setValue(credentials, forHTTPHeaderField: "Authorization")
    }
    for (name, value) in request.allHTTPHeaderFields ?? [:] {
      let key = name.lowercased()
      if !Self.ownFields.contains(key), isHome || Self.plainFields.contains(key) {
        made.setValue(value, forHTTPHeaderField: name)
      }
    }
    if let tag = known?.entityTag { made.setValue(tag, forHTTPHeaderField: "If-None-Match") }
    if let date = known?.lastModified {
      made.setValue(date, forHTTPHeaderField: "If-Modified-Since")
    }
    return made
  }

  /// Refuses a request that cannot be made as it is.
  static func check(_ request: URLRequest) throws(WebSourceError) {
    guard (request.httpMethod ?? "GET").uppercased() == "GET", request.httpBody == nil,
      request.httpBodyStream == nil
    else { throw .unusableMethod }
    for (name, value) in request.allHTTPHeaderFields ?? [:] {
      let isName = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
      guard isName, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw .unusableField(isName ? name : nil)
      }
    }
  }
}

extension URLError {
  /// Whether the same request may succeed the next time: not where names, certificates or rules of
  /// this system are the reason.
  var isWorthRetrying: Bool {
    switch code {
    case .badURL, .unsupportedURL, .userAuthenticationRequired, .userCancelledAuthentication,
      .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired, .dataNotAllowed, .fileDoesNotExist, .noPermissionsToReadFile:
      false
    default: true
    }
  }
}
