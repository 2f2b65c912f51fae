#if canImport(Darwin)
  internal import Darwin
  internal import Foundation
  internal import Synchronization

  /// Makes requests through one `URLSession`, which ends with the last reference.
  ///
  /// Redirects are returned as answers. The session's own timeouts are longer than the timeouts
  /// that ``WebSession`` enforces.
  final class SessionTransport: Sendable {
    private let session: URLSession
    private let transfers: TransferRegistry
    private let options: WebPages.Options
    private let classify: @Sendable (PeerAddress) -> AddressRange
    /// The session's timeout in seconds.
    private let systemTimeout: Double

    init(_ options: WebPages.Options, classify: @escaping @Sendable (PeerAddress) -> AddressRange) {
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

    /// Creates a request that reports to a transfer; see
    /// ``WebSession/response(to:at:floor:consumer:upload:)``.
    func make(
      _ request: URLRequest, _ upload: WebRequests.Body, floor: AddressRange?,
      for transfer: WebTransfer
    ) -> RunningRequest {
      let range = AddressRange.ofText(transfer.url, classify)
      let least = options.addresses.floor(floor)
      if let least, range < least {
        return RunningRequest(
          start: { transfer.end(with: .failure(.address(range))) }, cancel: {})
      }
      var request = request
      request.timeoutInterval = systemTimeout
      let task =
        switch upload {
        case .none: session.dataTask(with: request)
        case .bytes(let bytes): session.uploadTask(with: request, from: Data(bytes))
        case .file(let path, _):
          session.uploadTask(with: request, fromFile: URL(fileURLWithPath: path))
        case .part(let path, let offset, let count):
          session.uploadTask(with: request, from: Self.part(path, offset, count))
        }
      let identifier = task.taskIdentifier
      transfers.add(transfer, range, as: identifier)
      return RunningRequest(
        start: { [classify] in Self.start(task, transfer, least, classify) },
        cancel: { task.cancel() })
    }

    /// The bytes of a part of a file, which may be copied to memory.
    ///
    /// The bytes are missing if the file cannot be read. The service then refuses the request,
    /// because the bytes do not have the signed hash.
    private static func part(_ path: String, _ offset: Int, _ count: Int) -> Data {
      let url = URL(fileURLWithPath: path)
      guard let bytes = try? Data(contentsOf: url, options: .alwaysMapped) else { return Data() }
      let start = min(offset, bytes.count)
      return bytes[start..<min(start + count, bytes.count)]
    }

    /// Starts a task, unless one of its host's addresses is in a narrower range than `least`.
    ///
    /// The session does not report an address before it connects, so the system's resolver is asked
    /// first. The resolver may give the session other addresses.
    private static func start(
      _ task: URLSessionDataTask, _ transfer: WebTransfer, _ least: AddressRange?,
      _ classify: @escaping @Sendable (PeerAddress) -> AddressRange
    ) {
      guard let least, least > .loopback else { return task.resume() }
      let url = transfer.url
      DispatchQueue.global(qos: .utility).async {
        if let range = AddressRange.ofResolved(url, classify), range < least {
          transfer.end(with: .failure(.address(range)))
          task.cancel()
        } else {
          task.resume()
        }
      }
    }
  }

  /// Passes the session's reports to the transfers.
  ///
  /// A lock guards `transfers`, because the session calls on its own queue.
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

    func urlSession(
      _: URLSession, task: URLSessionTask, didSendBodyData _: Int64, totalBytesSent _: Int64,
      totalBytesExpectedToSend _: Int64
    ) {
      entry(task)?.transfer.noteActivity()
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
    /// A copy of the error without the address, which may contain secrets.
    fileprivate var withoutAddress: URLError {
      let words = userInfo[NSLocalizedDescriptionKey] as? String
      return URLError(code, userInfo: words.map { [NSLocalizedDescriptionKey: $0] } ?? [:])
    }
  }
#endif
