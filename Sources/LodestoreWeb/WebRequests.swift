package import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Makes single requests of any method to services that the user has configured.
///
/// Requests use the client of ``WebPages``, with its checks of answers. Redirects are returned as
/// answers, nothing is retried, and every address is allowed. Answers of every status are returned
/// with the beginning of their body.
///
/// Connections stay open between requests, and close with the last reference.
package struct WebRequests: Sendable {
  /// The limits of requests.
  package struct Options: Sendable {
    /// The maximum time until the end of the answer's head, and then without a byte in either
    /// direction.
    package var requestTimeout = Duration.seconds(30)
    /// The maximum time for one request, from its start to the last byte of the answer.
    package var transferTimeout = Duration.seconds(6 * 3600)
    /// The maximum number of connections to a host at once.
    package var connections = 8
    /// See ``WebPages/Options/hostAddresses``.
    package var hostAddresses: [String: String] = [:]

    /// Creates options with the default values.
    package init() {}
  }

  /// The content that a request sends.
  package enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// The first `count` bytes of a file, which is read while it is sent.
    case file(path: String, count: Int)
    /// The `count` bytes of a file from `offset` on, which are read while they are sent.
    case part(path: String, offset: Int, count: Int)
  }

  package struct Request: Sendable {
    package var method: String
    package var url: URL
    package var fields: [(name: String, value: String)] = []
    package var body = Body.none
    /// The maximum number of bytes of the content of an answer with status 200, 203 or 206.
    package var byteLimit: Int
    /// The positions that the request's field `Range` asks for; `nil` for the whole.
    package var range: ClosedRange<Int>?

    package init(_ method: String, _ url: URL, byteLimit: Int) {
      self.method = method
      self.url = url
      self.byteLimit = byteLimit
    }
  }

  /// An answer, whatever its status.
  package struct Answer: Sendable {
    package var status: Int
    /// The header fields this client reads, keyed by lowercase name.
    package var fields: [String: String]
    /// The content, if no closure took it.
    ///
    /// For other statuses than 200, 203 and 206 at most its first 64 KiB, and less if the
    /// connection broke.
    package var body: [UInt8]
    /// The facts of a part or of a whole; `nil` for other statuses.
    package var head: FileHead?
    /// The wait that the answer asks for.
    package var retryAfter: Duration?
    /// The service's time in seconds since 1970.
    package var date: Int?
  }

  /// The reason why a request has no complete answer.
  package enum Failure: Error {
    /// No byte of the request reached the service.
    case notSent(String)
    /// The request may have reached the service, and its answer is lost.
    case lost(String)
    /// The answer breaks the rules of HTTP, or has another part than the requested one.
    case badAnswer(String)
    /// The content is larger than the limit.
    case tooLarge
    /// The closure that takes the content threw.
    case taker(any Error)
    /// The task was cancelled. The request may have reached the service.
    case cancelled
  }

  private let session: WebSession
  private let timing = RetryTiming()

  /// - Throws: ``WebSourceError`` if the package was built without an HTTP client.
  package init(_ options: Options = Options()) throws(WebSourceError) {
    try WebSession.checkClient()
    var limits = WebPages.Options()
    limits.requestTimeout = options.requestTimeout
    limits.transferTimeout = options.transferTimeout
    limits.addresses = .any
    limits.hostAddresses = options.hostAddresses
    limits.pagesInFlight = max(options.connections, 1)
    session = WebSession(limits) { $0.range }
  }

  /// Makes a request.
  ///
  /// - Parameter take: Receives the content of an answer with status 200, 203 or 206 piece by
  ///   piece, on the thread that receives it. If `nil`, ``Answer/body`` has the content.
  package func answer(
    to request: Request, take: (@Sendable (Data) throws -> Void)? = nil
  ) async throws(Failure) -> Answer {
    guard let url = SourceAddress.plain(request.url) else {
      throw .notSent("the address cannot be used")
    }
    var asked = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    asked.httpMethod = request.method
    asked.httpShouldHandleCookies = false
    asked.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    for (name, value) in request.fields { asked.setValue(value, forHTTPHeaderField: name) }
    let kept = KeptBytes()
    let consumer = FileConsumer(
      byteLimit: request.byteLimit, start: request.range?.lowerBound ?? 0,
      last: request.range?.upperBound, hasBody: request.method != "HEAD", keepsOtherBodies: true,
      begin: { _ in }, take: take ?? { kept.append($0) })
    do {
      let response = try await session.response(
        to: asked, at: url, floor: nil, consumer: consumer, upload: request.body)
      let isContent = response.isPage || response.status == 206
      return Answer(
        status: response.status, fields: response.fields,
        body: isContent ? kept.bytes : Array(response.body),
        head: isContent ? try consumer.head(of: response) : nil,
        retryAfter: timing.serverWait(response.fields),
        date: response.fields["date"].flatMap { HTTPDate.seconds($0) })
    } catch let failure as TransferFailure {
      throw Failure(failure)
    } catch {
      throw .lost("\(error)")
    }
  }
}

extension WebRequests.Failure {
  fileprivate init(_ failure: TransferFailure) {
    switch failure {
    case .cancelled: self = .cancelled
    case .idle(let received): self = .lost("no byte came in time, after \(received) bytes")
    case .slow(let received): self = .lost("the time was over after \(received) bytes")
    case .tooLarge: self = .tooLarge
    case .headTooLarge: self = .badAnswer("the head of the answer is too large")
    case .status(let status): self = .badAnswer("the status \(status)")
    case .coding(let coding): self = .badAnswer("the content coding '\(coding)'")
    case .range(let found, let expected): self = .badAnswer("\(found), expected \(expected)")
    case .consumer(let error): self = .taker(error)
    case .address(let range): self = .notSent("the address is in \(range.words)")
    case .truncated(let received, let expected, _):
      let whole = expected.map { " of \($0)" } ?? ""
      self = .lost("the connection ended after \(received)\(whole) bytes")
    case .transport(let cause):
      let words = Self.words[cause.code] ?? cause.localizedDescription
      switch cause.code {
      case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .badURL, .unsupportedURL,
        .notConnectedToInternet, .serverCertificateUntrusted, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid,
        .serverCertificateHasUnknownRoot:
        self = .notSent(words)
      default: self = .lost(words)
      }
    }
  }

  /// The reasons in words, where those of the system name its own functions.
  private static let words: [URLError.Code: String] = [
    .cannotFindHost: "the host's name is not known",
    .dnsLookupFailed: "the host's name is not known",
    .cannotConnectToHost: "the host takes no connection at this port",
    .notConnectedToInternet: "this machine is not connected",
    .secureConnectionFailed: "the host makes no TLS connection at this port",
    .serverCertificateUntrusted: "the host's certificate is not trusted",
    .serverCertificateHasUnknownRoot: "the host's certificate is not trusted",
    .serverCertificateHasBadDate: "the host's certificate is not valid today",
    .serverCertificateNotYetValid: "the host's certificate is not valid today",
  ]
}

/// The content of an answer, collected piece by piece.
///
/// The client's calls come one after another, and the request's task reads after the last one. The
/// lock makes that visible to the compiler.
private final class KeptBytes: Sendable {
  private let kept = Mutex([UInt8]())

  var bytes: [UInt8] { kept.withLock { $0 } }

  func append(_ bytes: Data) { kept.withLock { $0.append(contentsOf: bytes) } }
}
