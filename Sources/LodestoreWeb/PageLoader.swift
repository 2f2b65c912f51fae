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
  /// The status 404 or 410 shows that the page does not exist; the associated value is the error.
  case absent(WebSourceError)
}

/// Requests one page, and repeats requests that failed in a way that may pass.
struct PageLoader: Sendable {
  let exchange: WebExchange
  let timing: RetryTiming

  private var source: SourceAddress { exchange.source }
  private var options: WebPages.Options { exchange.options }

  private enum Attempt {
    case page(LoadedPage)
    case again(WebSourceError, after: Duration?)
  }

  /// Loads the page at an address.
  ///
  /// - Parameter known: The validators of the remembered content. With them the result may be
  ///   ``LoadedPage/unchanged(_:)``.
  func load(_ page: URL, known: Validators?) async throws -> LoadedPage {
    var attempts = 1
    while true {
      try Task.checkCancellation()
      switch try await attempt(page, known: known, attempts: attempts) {
      case .page(let page): return page
      case .again(let error, let serverWait):
        if let serverWait, serverWait > options.longestWait.bounded {
          throw error.asking(for: serverWait, longest: options.longestWait.bounded)
        }
        guard attempts <= options.retries else {
          throw serverWait.map { error.asking(for: $0) } ?? error
        }
        try await timing.sleep(
          for: timing.wait(
            beforeRetry: attempts, serverWait: serverWait, first: options.firstWait,
            longest: options.longestWait))
        attempts += 1
      }
    }
  }

  /// Makes one request and follows its redirects.
  private func attempt(_ page: URL, known: Validators?, attempts: Int) async throws -> Attempt {
    var fields: [String: String] = [:]
    fields["If-None-Match"] = known?.entityTag
    fields["If-Modified-Since"] = known?.lastModified
    switch try await exchange.run(page, fields: fields, attempts: attempts) {
    case .failed(let error): return .again(error, after: nil)
    case .response(let response): return try answer(response, page, known: known, attempts)
    }
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
      // The answer may contain new validators.
      return .page(
        .unchanged(
          Validators(
            entityTag: response.fields["etag"] ?? known.entityTag,
            lastModified: response.fields["last-modified"] ?? known.lastModified)))
    case let status:
      let error = WebSourceError.badStatus(shown, status, attempts)
      let serverWait = timing.serverWait(response.fields)
      if options.retriedStatuses.contains(status) || (serverWait != nil && Self.isLimit(status)) {
        return .again(error, after: serverWait)
      }
      guard status == 404 || status == 410 else { throw error }
      return .page(.absent(error))
    }
  }

  /// Whether an answer with this status means a temporary limit on requests, provided that the
  /// answer states how long to wait.
  ///
  /// Services use 403 to refuse clients that request too often; 413 is defined so (RFC 9110,
  /// 15.5.14).
  static func isLimit(_ status: Int) -> Bool { status == 403 || status == 413 }
}

extension URLError {
  /// Whether the same request may succeed later.
  ///
  /// No repetition helps if names, certificates or rules of this system are the reason.
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
