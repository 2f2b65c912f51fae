#if Postgres
  import Foundation
  import Testing

  @testable import LodestorePostgres

  /// A PostgreSQL server of a test, with its data in a temporary folder, on the loopback interface.
  final class PostgresServer: Sendable {
    /// The folder with `initdb` and `pg_ctl`; `nil` where PostgreSQL is not installed.
    static let programs: String? = {
      let roots = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"]
      let folders = roots.flatMap { root in
        ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
          .map { "\(root)/\($0)/bin" }
      }
      return folders.last { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()
    static let isMissing: Comment = "PostgreSQL is not installed: initdb was not found"

    let folder: String
    let port: Int

    /// Creates and starts a server.
    init() throws {
      // The path of a socket has a limit of some 100 bytes, so the folder is not deep.
      let template = "/tmp/lodestore-pg-XXXXXX"
      var bytes = Array(template.utf8CString)
      guard mkdtemp(&bytes) != nil else { throw CocoaError(.fileWriteUnknown) }
      folder = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      port = Int.random(in: 20_000..<60_000)
      if getuid() == 0 { _ = try Self.run("/bin/chown", ["postgres", folder]) }
      try tool(
        "initdb", "-D", "\(folder)/data", "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8",
        "--locale=C")
      let settings = """
        wal_level = logical
        listen_addresses = '127.0.0.1'
        unix_socket_directories = '\(folder)'
        port = \(port)
        fsync = off
        wal_sender_timeout = 5s

        """
      let path = "\(folder)/data/postgresql.conf"
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      try file.seekToEnd()
      try file.write(contentsOf: Data(settings.utf8))
      try file.close()
      try start()
    }

    func start() throws {
      try tool("pg_ctl", "-D", "\(folder)/data", "-l", "\(folder)/log", "-w", "start")
    }

    /// Stops the server; an immediate stop is like a crash.
    func stop(immediately: Bool = false) throws {
      try tool(
        "pg_ctl", "-D", "\(folder)/data", "-w", "-m", immediately ? "immediate" : "fast", "stop")
    }

    func remove() {
      try? stop(immediately: true)
      try? FileManager.default.removeItem(atPath: folder)
    }

    var parameters: String { "host=127.0.0.1 port=\(port) user=postgres dbname=postgres" }

    func connect() throws -> PostgresConnection {
      try PostgresConnection(parameters, interruption: PostgresInterruption())
    }

    @discardableResult
    func run(_ sql: String) throws -> [[String?]] { try connect().run(sql) }

    func end() throws -> LogPosition {
      let text = try run("SELECT pg_current_wal_lsn()").first?.first ?? nil
      return try #require(text.flatMap { LogPosition($0) })
    }

    private func tool(_ name: String, _ arguments: String...) throws {
      let programs = try #require(Self.programs)
      let path = "\(programs)/\(name)"
      // The programs refuse to run as root.
      let status =
        getuid() == 0
        ? try Self.run("/usr/sbin/runuser", ["-u", "postgres", "--", path] + arguments)
        : try Self.run(path, arguments)
      guard status == 0 else { throw CocoaError(.featureUnsupported) }
    }

    private static func run(_ path: String, _ arguments: [String]) throws -> Int32 {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: path)
      process.arguments = arguments
      process.currentDirectoryURL = URL(fileURLWithPath: "/tmp")
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  /// Runs `body` with a new server, which is removed afterwards.
  func withServer(_ body: (PostgresServer) async throws -> Void) async throws {
    let server = try PostgresServer()
    defer { server.remove() }
    try await body(server)
  }
#endif
