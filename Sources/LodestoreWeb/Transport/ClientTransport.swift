#if Web && !canImport(Darwin)
  internal import AsyncHTTPClient
  internal import Foundation
  internal import FoundationNetworking
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOSSL
  internal import Synchronization

  /// Makes requests through async-http-client.
  ///
  /// The client is used only for connections and for reading HTTP/1.1. This module implements
  /// redirects, decompression, timeouts, bounds and the choice of addresses.
  ///
  /// The lock of `others` guards it. Any task may use a client.
  final class ClientTransport: Sendable {
    private let options: WebPages.Options
    private let classify: @Sendable (PeerAddress) -> AddressRange
    /// The HTTP client with connections to the source's own host.
    private let home: HTTPClient
    /// The clients for other hosts, by the narrowest range of addresses allowed for them.
    private let others = Mutex<[AddressRange: HTTPClient]>([:])

    init(_ options: WebPages.Options, classify: @escaping @Sendable (PeerAddress) -> AddressRange) {
      self.options = options
      self.classify = classify
      home = Self.client(options, classify, options.addresses.floor(nil))
    }

    deinit {
      // A shutdown also closes connections that wait for another request.
      home.shutdown { _ in }
      for client in others.withLock({ $0.values.map(\.self) }) { client.shutdown { _ in } }
    }

    /// Creates a request that reports to a transfer; see
    /// ``WebSession/response(to:at:floor:consumer:upload:)``.
    func make(
      _ request: URLRequest, _ upload: WebRequests.Body, floor: AddressRange?,
      for transfer: WebTransfer
    ) -> RunningRequest {
      let client = client(floor)
      let converted = clientRequest(request, UploadedFile.body(of: upload, for: transfer))
      let deadline = NIODeadline.now() + .nanoseconds(Self.nanoseconds(options.transferTimeout))
      let task = StartedTask {
        await ClientTransfer(transfer: transfer).run(converted, client, deadline: deadline)
      }
      return RunningRequest(start: { task.start() }, cancel: { task.cancel() })
    }

    private func client(_ floor: AddressRange?) -> HTTPClient {
      guard let floor else { return home }
      return others.withLock { others in
        if let client = others[floor] { return client }
        let client = Self.client(options, classify, options.addresses.floor(floor))
        others[floor] = client
        return client
      }
    }

    private static func client(
      _ options: WebPages.Options, _ classify: @escaping @Sendable (PeerAddress) -> AddressRange,
      _ floor: AddressRange?
    ) -> HTTPClient {
      var configuration = HTTPClient.Configuration()
      configuration.redirectConfiguration = .disallow
      configuration.decompression = .disabled
      configuration.httpVersion = .http1Only
      configuration.dnsOverride = options.hostAddresses
      configuration.tracing.tracer = nil
      configuration.timeout.connect = .nanoseconds(nanoseconds(options.requestTimeout))
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
        max(options.pagesInFlight, 1)
      // Retries are made and counted by ``PageLoader``, so the client makes none.
      configuration.connectionPool.retryConnectionEstablishment = false
      var security = TLSConfiguration.makeClientConfiguration()
      security.minimumTLSVersion = .tlsv12
      configuration.tlsConfiguration = security
      let gate = AddressGate(floor: floor)
      let headByteLimit = options.headByteLimit
      configuration.http1_1ConnectionDebugInitializer = { channel in
        channel.eventLoop.submit {
          let range = classify(PeerAddress(channel.remoteAddress))
          try AnswerGuard.add(
            to: channel, headByteLimit: headByteLimit, range: range, isAdmitted: gate.admits(range))
        }
      }
      return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private func clientRequest(
      _ request: URLRequest, _ body: HTTPClientRequest.Body?
    ) -> HTTPClientRequest {
      var converted = HTTPClientRequest(url: request.url?.absoluteString ?? "")
      converted.method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
      converted.body = body
      for (name, value) in request.allHTTPHeaderFields ?? [:] {
        converted.headers.add(name: name, value: value)
      }
      if !converted.headers.contains(name: "Accept-Encoding") {
        converted.headers.add(name: "Accept-Encoding", value: "gzip")
      }
      // Some services refuse requests without this field.
      if !converted.headers.contains(name: "User-Agent") {
        converted.headers.add(name: "User-Agent", value: "Lodestore")
      }
      return converted
    }

    /// The timeout plus a minute in nanoseconds, because the session should end the transfer first.
    private static func nanoseconds(_ timeout: Duration) -> Int64 {
      (timeout.bounded.components.seconds + 60) * 1_000_000_000
    }
  }

  /// A task that starts once, and not after it was cancelled.
  ///
  /// The lock of `state` guards it.
  private final class StartedTask: Sendable {
    private enum State {
      case new
      case running(Task<Void, Never>)
      case cancelled
    }

    private let state = Mutex(State.new)
    private let body: @Sendable () async -> Void

    init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

    func start() {
      state.withLock { state in
        guard case .new = state else { return }
        state = .running(Task(operation: body))
      }
    }

    func cancel() {
      state.withLock { state in
        if case .running(let task) = state { task.cancel() }
        state = .cancelled
      }
    }
  }
#endif
