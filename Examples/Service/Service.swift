import FlyingFox
import FlyingSocks
public import Foundation

/// A small web service on this machine, for examples and tests.
///
///     let service = try await Service.start(try .standard())
///     print(service.url)  // http://127.0.0.1:40213
///     await service.stop()
///
/// The service answers like three services of the web:
///
/// | path | answer |
/// | --- | --- |
/// | `/api/films/?page=1`; also people, planets, species, starships, vehicles | as the Star Wars API |
/// | `/pods?page=0` | pages of podspecs, the first of which is 0 |
/// | `/fireballs?snapshot=2024&limit=20` | as NASA/JPL's fireball service, at one of two dates |
///
/// Each page has an entity tag. A client that already has the page gets status 304 and no content.
/// ``faults`` sets delays, failures and interrupted answers.
public final class Service: Sendable {
  /// The address of the service.
  public let url: URL
  private let server: HTTPServer
  private let log: RequestLog

  /// The simulated delays and failures, from the next request on.
  public var faults: Faults {
    get { log.faults }
    set { log.faults = newValue }
  }

  /// The requests that were answered, in their order.
  public var requests: [Request] { log.requests }

  private init(url: URL, server: HTTPServer, log: RequestLog) {
    self.url = url
    self.server = server
    self.log = log
  }

  /// Starts a service on the loopback interface.
  ///
  /// - Parameters:
  ///   - content: The pages that the service sends.
  ///   - port: The port on which it listens; 0 is any free port.
  ///   - faults: The simulated delays and failures.
  /// - Throws: ``ServiceError/cannotListen(port:reason:)``.
  public static func start(
    _ content: Content, port: UInt16 = 0, faults: Faults = Faults()
  ) async throws -> Service {
    let log = RequestLog(faults)
    let server = HTTPServer(
      address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled,
      handler: ServiceHandler(content: content, log: log))
    let (news, sender) = AsyncStream<(any Error)?>.makeStream()
    Task {
      do { try await server.run() } catch { sender.yield(error) }
    }
    Task {
      try await server.waitUntilListening()
      sender.yield(nil)
    }
    for await error in news {
      if let error { throw ServiceError.cannotListen(port: port, reason: "\(error)") }
      break
    }
    guard case .ip4(let host, let port)? = await server.listeningAddress,
      let url = URL(string: "http://\(host):\(port)")
    else { throw ServiceError.cannotListen(port: port, reason: "it has no address") }
    return Service(url: url, server: server, log: log)
  }

  /// Ends the service and its connections.
  public func stop() async { await server.stop() }
}

/// The reason why a service cannot start.
public enum ServiceError: Error, CustomStringConvertible {
  /// Another process uses the port, or this process may not use it.
  case cannotListen(port: UInt16, reason: String)
  /// No file that the service can send is in the folder.
  case noContent(folder: String)

  /// The failed action, the reason, and the next step.
  public var description: String {
    switch self {
    case .cannotListen(let port, let reason):
      "cannot listen on port \(port): \(reason); use another port, or 0 for any that is free"
    case .noContent(let folder):
      "cannot serve '\(folder)': it has no swapi/films.jsonl and no starwars/films.json; name the "
        + "folder of the data, or the folder Samples of this project"
    }
  }
}
