#if canImport(Darwin)
  internal import Darwin
  internal import Foundation
  internal import Synchronization

  /// Requests over one `URLSession`; the session ends with the last reference.
  ///
  /// Redirects are answers, and the session's own timeouts are behind those that ``WebSession`` keeps.
  final class SessionTransport: Sendable {
    private let session: URLSession
    private let transfers: TransferRegistry
    private let options: WebPages.Options
    private let classify: @Sendable (PeerAddress) -> AddressRange
    /// Seconds.
    private let systemTimeout: Double

    init(
      _ options: WebPages.Options, classify: @escaping @Sendable (PeerAddress) -> AddressRange
    ) {
      self.options = options
      self.classify = classify
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

    /// A request that reports to a transfer; see ``WebSession/response(to:at:floor:)``.
    func make(
      _ request: URLRequest, floor: AddressRange?, for transfer: WebTransfer
    ) -> RunningRequest {
      let range = range(of: transfer.url)
      if let least = options.addresses.floor(floor), range < least {
        return RunningRequest(
          start: { transfer.end(with: .failure(.address(range))) }, cancel: {})
      }
      var request = request
      request.timeoutInterval = systemTimeout
      let task = session.dataTask(with: request)
      let identifier = task.taskIdentifier
      transfers.add(transfer, range, as: identifier)
      return RunningRequest(start: { task.resume() }, cancel: { task.cancel() })
    }

    /// By the address alone: the session does not tell where a name leads before it has asked there.
    private func range(of url: URL) -> AddressRange {
      let host = url.host()?.lowercased() ?? ""
      if host == "localhost" || host.hasSuffix(".localhost") { return .loopback }
      var address4 = in_addr()
      if inet_aton(host, &address4) != 0 {
        return classify(
          PeerAddress(bytes: withUnsafeBytes(of: address4) { Array($0) }, port: url.port ?? 0))
      }
      var address6 = in6_addr()
      let bare = host.trimmingCharacters(in: ["[", "]"]).prefix { $0 != "%" }
      if inet_pton(AF_INET6, String(bare), &address6) == 1 {
        return classify(
          PeerAddress(bytes: withUnsafeBytes(of: address6) { Array($0) }, port: url.port ?? 0))
      }
      return .everywhere
    }
  }

  /// Gives what the session reports to the transfers.
  ///
  /// `transfers` is guarded by its lock: the session calls on a queue of its own.
  private final class TransferRegistry: NSObject, URLSessionDataDelegate {
    private struct Entry {
      var transfer: WebTransfer
      var range: AddressRange
    }

    private let transfers = Mutex<[Int: Entry]>([:])

    func add(_ transfer: WebTransfer, _ range: AddressRange, as identifier: Int) {
      transfers.withLock { $0[identifier] = Entry(transfer: transfer, range: range) }
    }

    private func entry(_ task: URLSessionTask) -> Entry? {
      transfers.withLock { $0[task.taskIdentifier] }
    }

    private func receive(_ response: HTTPURLResponse, _ task: URLSessionTask) -> Bool {
      guard let entry = entry(task) else { return false }
      let fields = response.allHeaderFields.compactMap { name, value in
        (name as? String).flatMap { name in (value as? String).map { (name: name, value: $0) } }
      }
      var head = WebResponse(
        url: entry.transfer.url, status: response.statusCode, fields: fields)
      head.range = entry.range
      return entry.transfer.receive(head)
    }

    func urlSession(
      _: URLSession, task: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
      newRequest _: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(
      _: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      let isWanted = (response as? HTTPURLResponse).map { receive($0, dataTask) } ?? false
      completionHandler(isWanted ? .allow : .cancel)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      if entry(dataTask)?.transfer.receive(data) != true { dataTask.cancel() }
    }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let entry = transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
      entry?.transfer.complete(
        error.map { ($0 as? URLError)?.withoutAddress ?? URLError(.unknown) })
    }
  }

  extension URLError {
    /// The same without the address, which may have secrets in it.
    fileprivate var withoutAddress: URLError {
      let words = userInfo[NSLocalizedDescriptionKey] as? String
      return URLError(code, userInfo: words.map { [NSLocalizedDescriptionKey: $0] } ?? [:])
    }
  }
#endif
