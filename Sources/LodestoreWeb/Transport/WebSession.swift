internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

#if canImport(Darwin)
  private typealias Transport = SessionTransport
#elseif Web
  private typealias Transport = ClientTransport
#else
  private typealias Transport = MissingTransport
#endif

/// The session that makes the requests of one iteration over a source's pages.
///
/// Their connections close with the last reference.
///
/// Redirects are returned as answers. The session enforces both timeouts itself, whatever the
/// underlying client does: when one expires, the transfer ends and the client is cancelled.
final class WebSession: Sendable {
  private let transport: Transport
  private let options: WebPages.Options

  init(_ options: WebPages.Options, classify: @escaping @Sendable (PeerAddress) -> AddressRange) {
    self.options = options
    transport = Transport(options, classify: classify)
  }

  /// Throws if the package was built without an HTTP client.
  static func checkClient() throws(WebSourceError) {
    #if !canImport(Darwin) && !Web
      throw .noClient
    #endif
  }

  /// Makes a request and returns the answer, without following redirects.
  ///
  /// - Parameters:
  ///   - floor: The narrowest range allowed for the address; `nil` for the source's own range.
  ///   - consumer: Receives the body of a file piece by piece. If `nil`, the answer contains the
  ///     whole page.
  ///   - upload: The content that the request sends.
  /// - Throws: ``TransferFailure``.
  func response(
    to request: URLRequest, at url: URL, floor: AddressRange?, consumer: FileConsumer? = nil,
    upload: WebRequests.Body = .none
  ) async throws -> WebResponse {
    let transfer = WebTransfer(
      url, byteLimit: options.pageByteLimit, headByteLimit: options.headByteLimit,
      consumer: consumer)
    let running = transport.make(request, upload, floor: floor, for: transfer)
    let watch = Task { try await self.watch(transfer) { running.cancel() } }
    defer { watch.cancel() }
    return try await withTaskCancellationHandler {
      try await transfer.response { running.start() }
    } onCancel: {
      transfer.end(with: .failure(.cancelled))
      running.cancel()
    }
  }

  /// Ends a transfer that takes too long.
  private func watch(_ transfer: WebTransfer, _ cancel: () -> Void) async throws {
    let clock = ContinuousClock()
    let last = clock.now + options.transferTimeout.bounded
    while true {
      let idle = transfer.lastActivity + options.requestTimeout.bounded
      if clock.now >= min(idle, last) {
        let received = transfer.received
        transfer.end(
          with: .failure(idle < last ? .idle(received: received) : .slow(received: received)))
        return cancel()
      }
      try await clock.sleep(until: min(idle, last))
    }
  }
}

/// A request that is about to start or is running.
struct RunningRequest: Sendable {
  var start: @Sendable () -> Void
  var cancel: @Sendable () -> Void
}

#if !canImport(Darwin) && !Web
  /// Replaces the client if the package was built for Linux without the trait "Web".
  private struct MissingTransport: Sendable {
    init(_: WebPages.Options, classify _: @escaping @Sendable (PeerAddress) -> AddressRange) {}

    func make(
      _: URLRequest, _: WebRequests.Body, floor _: AddressRange?, for transfer: WebTransfer
    ) -> RunningRequest {
      RunningRequest(
        start: { transfer.complete(URLError(.unsupportedURL)) }, cancel: {})
    }
  }
#endif
