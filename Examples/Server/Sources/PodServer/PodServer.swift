public import Hummingbird
public import Lodestore
public import Logging
public import ServiceLifecycle

/// The podspecs of a store as a JSON API.
public struct PodServer {
  /// The settings of the server.
  public struct Options: Sendable {
    /// The address on which the server listens.
    public var host = "127.0.0.1"
    /// The port on which the server listens; 0 is any free port.
    public var port = 8080
    /// The longest time without an event or a comment on a stream of changes.
    public var heartbeat: Duration = .seconds(15)
    /// The time that running requests have to finish when the server is asked to stop.
    public var shutdownDuration: Duration = .seconds(10)
    /// The time for which the history is kept.
    ///
    /// A client can be disconnected for this long.
    public var historyAge: Duration = .seconds(7 * 86_400)

    /// The default options.
    public init() {}
  }

  private let store: Store
  private let options: Options
  private let logger: Logger

  /// Makes a server for a store.
  public init(_ store: Store, options: Options = Options(), logger: Logger) {
    (self.store, self.options, self.logger) = (store, options, logger)
  }

  /// Returns the services of the server, which the caller runs.
  ///
  /// SIGTERM and SIGINT stop them gracefully.
  ///
  /// The services stop in the reverse order of their start. First the server refuses new
  /// connections, finishes its requests and ends streams. Then the store is closed.
  ///
  /// - Parameter onRunning: The closure that is called with the port once the server listens.
  public func services(onRunning: @escaping @Sendable (Int) async -> Void) -> ServiceGroup {
    var configuration = ServiceGroupConfiguration(
      services: [
        StoreService(store: store, historyAge: options.historyAge, logger: logger),
        application(onRunning: onRunning),
      ],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    configuration.maximumGracefulShutdownDuration = options.shutdownDuration
    return ServiceGroup(configuration: configuration)
  }

  /// Makes a router without routes that counts and logs requests, and answers errors as problems.
  public static func router() -> Router<BasicRequestContext> {
    PrometheusMetrics.bootstrap()
    let router = Router(options: [.autoGenerateHeadEndpoints])
    router.add(middleware: MetricsMiddleware())
    router.add(middleware: LogRequestsMiddleware(.debug))
    router.add(middleware: ProblemMiddleware())
    return router
  }

  private func application(
    onRunning: @escaping @Sendable (Int) async -> Void
  ) -> some ApplicationProtocol {
    let router = Self.router()
    PodRoutes(store: store).add(to: router)
    ChangeStream(store: store, heartbeat: options.heartbeat).add(to: router)
    StatusRoutes(store: store).add(to: router)
    return Application(
      router: router, server: .http1(configuration: .init(idleTimeout: .seconds(60))),
      configuration: .init(address: .hostname(options.host, port: options.port)),
      onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) },
      logger: logger)
  }
}
