package import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Fetches files from one place of the web, one request a call.
///
/// Requests go over the client that ``WebPages`` has, with its checks of answers, addresses and
/// redirects. They ask for bytes as they are (`Accept-Encoding: identity`). An answer that comes
/// compressed all the same is decompressed, unless it is a part. Nothing is cached and nothing is
/// retried: the caller knows which file to ask next.
package struct WebFiles: Sendable {
  /// The limits of requests for files.
  package struct Options: Sendable {
    /// The longest time to the end of the answer's head, and then without a byte.
    package var requestTimeout = Duration.seconds(30)
    /// The longest time for one file, from the request to the last byte.
    package var transferTimeout = Duration.seconds(6 * 3600)
    /// How many redirects a file may take.
    package var redirects = 5
    /// The ranges of addresses that requests may go to.
    package var addresses = WebPages.Addresses.sourceRange
    /// See ``WebPages/Options/hostAddresses``.
    package var hostAddresses: [String: String] = [:]
    /// Header fields for requests to the host of the files, such as `Authorization`.
    package var fields: [String: String] = [:]

    /// The defaults.
    package init() {}
  }

  /// One file to be fetched.
  package struct Request: Sendable {
    /// The path of the file, relative to the place.
    package var path: String
    /// The most bytes of the answer's body, after decompression.
    package var byteLimit: Int
    /// The position of the first byte that is wanted.
    package var start = 0
    /// The entity tag that the file has to have still (`If-Match`); a weak one is not sent.
    package var expectedTag: String?
    /// The entity tag of the copy that the caller has (`If-None-Match`).
    package var knownTag: String?
    /// The date of the copy that the caller has (`If-Modified-Since`).
    package var knownDate: String?

    /// A whole file.
    package init(_ path: String, byteLimit: Int) {
      self.path = path
      self.byteLimit = byteLimit
    }
  }

  /// What came of a request.
  package enum Answer: Sendable {
    /// The file has not changed since the copy that the caller has.
    case unchanged
    /// All bytes of the answer have been consumed.
    case content(FileHead)
  }

  private let exchange: WebExchange
  private let timing = RetryTiming()

  /// - Parameter base: the address that paths are relative to; its last part counts when it ends in
  ///   `/`.
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
      accept: WebExchange.acceptsFiles, options: limits,
      session: WebSession(limits) { $0.range })
  }

  /// Where the files are, without user information and secrets.
  package var place: URL { exchange.source.shown(exchange.source.url) }

  /// Requests a file and gives its bytes to `take`, piece by piece and in their order.
  ///
  /// Where ``Request/start`` is not 0 the answer may be the whole file all the same: `begin` tells
  /// by its ``FileHead/start``, before the first piece.
  ///
  /// - Parameters:
  ///   - begin: called once before the first piece.
  ///   - take: called with each piece, at most some hundred kilobytes, on the thread that receives it. The next
  ///     piece is received when the call has returned.
  /// - Throws: ``WebSourceError``, with ``WebSourceError/retryAfter`` when the server names a time;
  ///   what the closures throw; `CancellationError`. The bytes that came before the error have been
  ///   given to `take`.
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
      throw timing.asked(response.fields).map { error.asking(for: $0) } ?? error
    }
  }

  private static func fields(of request: Request) -> [String: String] {
    var fields = ["Accept-Encoding": "identity"]
    let known = Validators(entityTag: request.knownTag, lastModified: request.knownDate)
    fields["If-None-Match"] = known.entityTag
    fields["If-Modified-Since"] = known.lastModified
    if request.start > 0 { fields["Range"] = "bytes=\(request.start)-" }
    // A weak tag never matches here: RFC 9110, 13.1.1.
    let expected = Validators(entityTag: request.expectedTag, lastModified: nil).entityTag
    if let expected, !expected.hasPrefix("W/") { fields["If-Match"] = expected }
    return fields
  }
}
