package import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Fetches files from one place on the web, one request for each call.
///
/// Requests use the client of ``WebPages``, with its checks of answers, addresses and redirects.
/// Requests ask for uncompressed bytes (`Accept-Encoding: identity`). If a server sends a
/// compressed answer anyway, it is decompressed, unless it is a part of a file. Nothing is cached
/// and nothing is retried, because the caller knows which file to request next.
package struct WebFiles: Sendable {
  /// The limits of requests for files.
  package struct Options: Sendable {
    /// The maximum time until the end of the answer's head, and then without a byte.
    package var requestTimeout = Duration.seconds(30)
    /// The maximum time for one file, from the request to the last byte.
    package var transferTimeout = Duration.seconds(6 * 3600)
    /// The maximum number of redirects for a file.
    package var redirects = 5
    /// The ranges of addresses that requests may go to.
    package var addresses = WebPages.Addresses.sourceRange
    /// See ``WebPages/Options/hostAddresses``.
    package var hostAddresses: [String: String] = [:]
    /// Header fields for requests to the host of the files, such as `Authorization`.
    package var fields: [String: String] = [:]

    /// Creates options with the default values.
    package init() {}
  }

  /// A request for one file.
  package struct Request: Sendable {
    /// The path of the file, relative to ``WebFiles/place``.
    package var path: String
    /// The maximum number of bytes of the answer's body after decompression.
    package var byteLimit: Int
    /// The position of the first requested byte.
    package var start = 0
    /// The entity tag that the file must still have (`If-Match`).
    ///
    /// A weak tag is not sent.
    package var expectedTag: String?
    /// The entity tag of the copy that the caller has (`If-None-Match`).
    package var knownTag: String?
    /// The date of the copy that the caller has (`If-Modified-Since`).
    package var knownDate: String?

    /// Creates a request for a whole file.
    package init(_ path: String, byteLimit: Int) {
      self.path = path
      self.byteLimit = byteLimit
    }
  }

  /// The result of a request.
  package enum Answer: Sendable {
    /// The file has not changed since the caller's copy.
    case unchanged
    /// All bytes of the answer have been consumed.
    case content(FileHead)
  }

  private let exchange: WebExchange
  private let timing = RetryTiming()

  /// - Parameter base: The address that paths are relative to. As with links, a last path component
  ///   without `/` at its end is dropped.
  /// - Throws: ``WebSourceError/Code/badRequest`` for an address or header fields that cannot be
  ///   used.
  package init(_ base: URL, options: Options = Options()) throws(WebSourceError) {
    try WebSession.checkClient()
    var request = URLRequest(url: base)
    for (name, value) in options.fields { request.setValue(value, forHTTPHeaderField: name) }
    try WebExchange.check(request)
    var limits = WebPages.Options()
    limits.requestTimeout = options.requestTimeout
    limits.transferTimeout = options.transferTimeout
    limits.redirects = options.redirects
    limits.addresses = options.addresses
    limits.hostAddresses = options.hostAddresses
    limits.pagesInFlight = 1
    exchange = WebExchange(
      source: try SourceAddress(base, secretParameters: limits.secretParameters), request: request,
      accept: WebExchange.acceptsFiles, options: limits, session: WebSession(limits) { $0.range })
  }

  /// The place of the files, without user information and secrets.
  package var place: URL { exchange.source.shown(exchange.source.url) }

  /// Requests a file and passes its bytes to `take`, piece by piece and in order.
  ///
  /// Even if ``Request/start`` is not 0, the answer may be the whole file. `begin` receives the
  /// answer's ``FileHead/start`` before the first piece.
  ///
  /// - Parameters:
  ///   - begin: Called once before the first piece.
  ///   - take: Called with each piece, at most some hundred kilobytes, on the thread that receives
  ///     it. The next piece is received after the call returns.
  /// - Throws: ``WebSourceError``, with ``WebSourceError/retryAfter`` if the server states a time;
  ///   errors of the closures; `CancellationError`. Bytes received before the error were passed to
  ///   `take`.
  package func get(
    _ request: Request, begin: @escaping @Sendable (FileHead) throws -> Void = { _ in },
    take: @escaping @Sendable (Data) throws -> Void
  ) async throws -> Answer {
    guard let url = exchange.source.page(linked: request.path, from: exchange.source.url) else {
      throw WebSourceError.unusableLink(
        exchange.source.url, target: nil, home: exchange.source.url)
    }
    let consumer = FileConsumer(
      byteLimit: request.byteLimit, start: max(request.start, 0), begin: begin, take: take)
    let outcome = try await exchange.run(
      url, fields: Self.fields(of: request), consumer: consumer, attempts: 1)
    switch outcome {
    case .failed(let error): throw error
    case .response(let response): return try answer(response, url, request, consumer)
    }
  }

  private func answer(
    _ response: WebResponse, _ url: URL, _ request: Request, _ consumer: FileConsumer
  ) throws -> Answer {
    let shown = exchange.source.shown(url)
    switch response.status {
    case 200, 203, 206: return .content(try consumer.head(of: response))
    case 304:
      guard request.knownTag != nil || request.knownDate != nil else {
        throw WebSourceError.unaskedNotModified(shown, 1)
      }
      return .unchanged
    case let status:
      let error = WebSourceError.badStatus(shown, status, 1)
      throw timing.serverWait(response.fields).map { error.asking(for: $0) } ?? error
    }
  }

  private static func fields(of request: Request) -> [String: String] {
    var fields = ["Accept-Encoding": "identity"]
    let known = Validators(entityTag: request.knownTag, lastModified: request.knownDate)
    fields["If-None-Match"] = known.entityTag
    fields["If-Modified-Since"] = known.lastModified
    if request.start > 0 { fields["Range"] = "bytes=\(request.start)-" }
    // `If-Match` never matches a weak tag (RFC 9110, 13.1.1), so such a tag is not sent.
    let expected = Validators(entityTag: request.expectedTag, lastModified: nil).entityTag
    if let expected, !expected.hasPrefix("W/") { fields["If-Match"] = expected }
    return fields
  }
}
