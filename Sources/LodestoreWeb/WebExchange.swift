internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Makes one request of a source and follows its redirects.
struct WebExchange: Sendable {
  static let acceptsPages = "application/json, */*;q=0.5"
  static let acceptsFiles = "*/*"

  /// The result of a request.
  enum Outcome: Sendable {
    /// An answer that is not a redirect.
    case response(WebResponse)
    /// A failure after which the same request may succeed.
    case failed(WebSourceError)
  }

  let source: SourceAddress
  let request: URLRequest
  /// The value of the field `Accept`.
  let accept: String
  let options: WebPages.Options
  let session: WebSession

  /// Requests `page` with `fields` in addition to the fields of the source.
  ///
  /// - Parameters:
  ///   - consumer: Receives the body of a file piece by piece; `nil` for a page, which is kept
  ///     whole.
  ///   - attempts: The number of requests for the page, including this one.
  /// - Throws: ``WebSourceError`` for a failure that would happen again; `CancellationError`; the
  ///   error of the consumer.
  func run(
    _ page: URL, fields: [String: String], consumer: FileConsumer? = nil, attempts: Int
  ) async throws -> Outcome {
    var url = page
    var visited: Set<URL> = [page]
    // The address range of the answer that redirected to `url`; `nil` for the first request.
    var range: AddressRange?
    while true {
      let response: WebResponse
      do {
        response = try await session.response(
          to: made(url, fields), at: url, floor: source.isHome(url) ? nil : range ?? .everywhere,
          consumer: consumer)
      } catch let failure as TransferFailure {
        return try .failed(self.failure(failure, page, at: url, consumer, attempts))
      }
      range = response.range
      guard let target = try redirect(response, page, attempts) else { return .response(response) }
      let isLoop = !visited.insert(target).inserted
      guard !isLoop, visited.count - 1 <= options.redirects else {
        throw WebSourceError.endlessRedirect(
          source.shown(page), limit: options.redirects, isLoop: isLoop, attempts)
      }
      url = target
    }
  }

  /// The error of a failure after which the same request may succeed.
  ///
  /// Throws the error of any other failure.
  private func failure(
    _ failure: TransferFailure, _ page: URL, at url: URL, _ consumer: FileConsumer?, _ attempts: Int
  ) throws -> WebSourceError {
    let shown = source.shown(page)
    switch failure {
    case .cancelled: throw CancellationError()
    case .headTooLarge:
      throw WebSourceError.headTooLarge(shown, limit: options.headByteLimit, attempts)
    case .status(let status): throw WebSourceError.badStatus(shown, status, attempts)
    case .coding(let coding): throw WebSourceError.badEncoding(shown, found: coding, attempts)
    case .range(let found, let expected):
      throw WebSourceError.badRange(shown, found: found, expected: expected, attempts)
    case .consumer(let error): throw error
    case .address(let range):
      throw url == page
        ? WebSourceError.forbiddenAddress(shown, range, attempts)
        : .forbiddenRedirect(shown, to: source.shown(url), range, attempts)
    case .tooLarge:
      throw consumer.map { WebSourceError.fileTooLarge(shown, limit: $0.byteLimit, attempts) }
        ?? .pageTooLarge(shown, limit: options.pageByteLimit, attempts)
    case .idle(let received):
      return .idle(shown, options.requestTimeout, received: received, attempts)
    case .slow(let received):
      return .slow(shown, options.transferTimeout, received: received, attempts)
    case .truncated(let received, let expected, let cause):
      return .truncated(shown, received: received, expected: expected, attempts, cause: cause)
    case .transport(let cause):
      let error = WebSourceError.noConnection(shown, cause, attempts)
      guard cause.isWorthRetrying else { throw error }
      return error
    }
  }

  /// The target of a redirect; `nil` if the response is not a redirect.
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

  /// Whether a redirect may be followed.
  ///
  /// Redirects from HTTPS to HTTP are not followed, because others could read or change the answer.
  static func isFollowed(from: URL, to: URL) -> Bool {
    from.scheme?.lowercased() != "https" || to.scheme?.lowercased() == "https"
  }

  // MARK: Requests

  /// Header fields of the source's request that are ignored, because this module or the HTTP client
  /// sets them.
  private static let ownFields: Set<String> = [
    "accept-encoding", "connection", "content-length", "host", "if-match", "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "range", "te", "transfer-encoding",
  ]
  /// Header fields that may be sent to another host.
  private static let plainFields: Set<String> = ["accept", "accept-language", "user-agent"]

  private func made(_ url: URL, _ fields: [String: String]) -> URLRequest {
    var made = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    made.httpShouldHandleCookies = false
    let isHome = source.isHome(url)
    made.setValue(accept, forHTTPHeaderField: "Accept")
    if isHome, let credentials = source.credentials {
      made.setValue(credentials, forHTTPHeaderField: "Authorization")
    }
    for (name, value) in request.allHTTPHeaderFields ?? [:] {
      let key = name.lowercased()
      if !Self.ownFields.contains(key), isHome || Self.plainFields.contains(key) {
        made.setValue(value, forHTTPHeaderField: name)
      }
    }
    for (name, value) in fields { made.setValue(value, forHTTPHeaderField: name) }
    return made
  }

  /// Throws if a request cannot be made as given.
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
