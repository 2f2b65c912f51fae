public import Hummingbird
public import Lodestore
public import Logging
public import ServiceLifecycle

/// The podspecs of a store as a JSON API.
public struct PodServer {
  /// How the server is set up.
  public struct Options: Sendable {
    /// The address on which the server listens.
    public var host = "127.0.0.1"
    /// The port on which the server listens; 0 is any free port.
    public var port = 8080
    /// How long a stream of changes may be silent.
    public var heartbeat: Duration = .seconds(15)
    /// How long requests may take to finish when the server is asked to stop.
    public var shutdownDuration: Duration = .seconds(10)
    /// How long the history is kept, so that clients can come back.
    public var historyAge: Duration = .seconds(7 * 86_400)

    /// The usual ones.
    public init() {}
  }

  private let store: Store
  private let options: Options
  private let logger: Logger

  /// A server of a store.
  public init(_ store: Store, options: Options = Options(), logger: Logger) {
    (self.store, self.options, self.logger) = (store, options, logger)
  }

  /// All services, to be run by their owner: SIGTERM and SIGINT stop them gracefully.
  ///
  /// The services stop in the opposite order of their start. The server takes no new connections,
  /// answers its requests, and ends streams; then the store is closed.
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

  /// A router that counts, logs, and answers errors as problems, and has no routes yet.
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
