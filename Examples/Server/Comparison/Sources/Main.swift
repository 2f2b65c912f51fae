import Foundation
import GRDB
import Hummingbird
import Logging
import PodServer

/// `grdb-server --store FILE --database FILE --port N`: two answers of the server, on GRDB, with
/// the podspecs of a store of the server.
@main
enum Main {
  static func main() async throws {
    var options: [String: String] = [:]
    var rest = CommandLine.arguments.dropFirst()
    while let name = rest.popFirst(), let value = rest.popFirst() { options[name] = value }
    guard let store = options["--store"], let path = options["--database"] else {
      print("usage: grdb-server --store FILE --database FILE [--port N]")
      exit(1)
    }
    let database = try DatabasePool(path: path)
    try await database.fill(fromStore: store)
    let router = PodServer.router()
    PodAnswers(database: database).add(to: router)
    let port = options["--port"].flatMap { Int($0) } ?? 8081
    var logger = Logger(label: "grdb-server")
    logger.logLevel = .notice
    let application = Application(
      router: router,
      configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { _ in FileHandle.standardOutput.write(Data("Listening\n".utf8)) },
      logger: logger)
    try await application.runService()
  }
}
