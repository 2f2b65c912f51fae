internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Requests of one iteration, over one `URLSession`; the session ends with the last reference.
///
/// Redirects are answers here, and both timeouts are kept here: the session's own are different on
/// each system.
final class WebSession: Sendable {
  private let session: URLSession
  private let transfers: TransferRegistry
  private let options: WebPages.Options
  /// Seconds, behind the timeouts kept here: the session must not end a request before them.
  let systemTimeout: Double

  init(_ options: WebPages.Options) {
    self.options = options
    transfers = TransferRegistry()
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCredentialStorage = nil
    configuration.httpMaximumConnectionsPerHost = max(options.pagesInFlight, 1)
    let limit = max(options.requestTimeout, options.transferTimeout).bounded
    systemTimeout = Double(limit.components.seconds) + 60
    configuration.timeoutIntervalForRequest = systemTimeout
    configuration.timeoutIntervalForResource = systemTimeout
    session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  /// The answer to a request, redirects not followed.
  ///
  /// - Throws: ``TransferFailure``.
  func response(to request: URLRequest, at url: URL) async throws -> WebResponse {
    let transfer = WebTransfer(url, byteLimit: options.pageByteLimit)
    let task = session.dataTask(with: request)
    transfers.add(transfer, as: task.taskIdentifier)
    let watch = Task { try await self.watch(transfer) { task.cancel() } }
    defer {
      watch.cancel()
      transfers.remove(task.taskIdentifier)
    }
    return try await withTaskCancellationHandler {
      try await transfer.response { task.resume() }
    } onCancel: {
      transfer.end(with: .failure(.cancelled))
      task.cancel()
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

/// Gives what the session reports to the transfers.
private final class TransferRegistry: NSObject, URLSessionDataDelegate {
  private let transfers = Mutex<[Int: WebTransfer]>([:])

  func add(_ transfer: WebTransfer, as identifier: Int) {
    transfers.withLock { $0[identifier] = transfer }
  }

  func remove(_ identifier: Int) {
    transfers.withLock { _ = $0.removeValue(forKey: identifier) }
  }

  private func transfer(_ task: URLSessionTask) -> WebTransfer? {
    transfers.withLock { $0[task.taskIdentifier] }
  }

  func urlSession(
    _: URLSession, task: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
    newRequest _: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    // On Linux the answer has come by now, and every other disposition hangs or traps.
    if transfer(task)?.endWithHead() == true {
      completionHandler(.cancelAuthenticationChallenge, nil)
    } else {
      completionHandler(.performDefaultHandling, nil)
    }
  }

  func urlSession(
    _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let isWanted =
      (response as? HTTPURLResponse).map { transfer(dataTask)?.receive($0) ?? false } ?? false
    // Linux does not look at the disposition.
    if !isWanted { dataTask.cancel() }
    completionHandler(isWanted ? .allow : .cancel)
  }

  func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if transfer(dataTask)?.receive(data) != true { dataTask.cancel() }
  }

  func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let transfer = transfer(task)
    // Linux does not report the head of a redirect that leads nowhere.
    if error == nil, transfer?.hasHead == false, let response = task.response as? HTTPURLResponse {
      _ = transfer?.receive(response)
    }
    transfer?.complete(error)
  }
}
