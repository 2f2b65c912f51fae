#if Postgres
  import Foundation
  import Synchronization
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

    /// Creates and starts a server; `settings` are lines of its configuration.
    init(_ settings: String = "") throws {
      let template = try Self.template.get()
      folder = try Self.newFolder()
      try Self.asServer("/bin/cp", ["-r", template, "\(folder)/data"])
      let lines = """
        wal_level = logical
        listen_addresses = '127.0.0.1'
        unix_socket_directories = '\(folder)'
        fsync = off
        wal_sender_timeout = 5s
        \(settings)

        """
      let path = "\(folder)/data/postgresql.conf"
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
      defer { try? file.close() }
      try file.seekToEnd()
      try file.write(contentsOf: Data(lines.utf8))
      // Another program may have the port. Ports above are those of outgoing connections.
      var attempts = 0
      while true {
        let port = Int.random(in: 10_000..<32_000)
        try file.write(contentsOf: Data("port = \(port)\n".utf8))
        do {
          try Self.start(folder)
          self.port = port
          return
        } catch  where attempts < 3 {
          attempts += 1
        }
      }
    }

    /// The data of a new server, which all servers of this process copy.
    private static let template = Result { () throws -> String in
      let folder = try newFolder()
      try tool(
        "initdb", "-D", "\(folder)/data", "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8",
        "--locale=C")
      templateFolder.withLock { $0 = folder }
      atexit {
        let folder = PostgresServer.templateFolder.withLock { $0 }
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
      }
      return "\(folder)/data"
    }

    private static let templateFolder = Mutex<String?>(nil)

    private static func newFolder() throws -> String {
      // The path of a socket has a limit of some 100 bytes, so the folder is not deep.
      var bytes = Array("/tmp/lodestore-pg-XXXXXX".utf8CString)
      guard mkdtemp(&bytes) != nil else { throw CocoaError(.fileWriteUnknown) }
      let folder = String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if getuid() == 0 { _ = try run("/bin/chown", ["postgres", folder]) }
      return folder
    }

    func start() throws { try Self.start(folder) }

    private static func start(_ folder: String) throws {
      try tool("pg_ctl", "-D", "\(folder)/data", "-l", "\(folder)/log", "-w", "start")
    }

    /// Stops the server; an immediate stop is like a crash.
    func stop(immediately: Bool = false) throws {
      try Self.tool(
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

    /// Ends the connections of all sources, sinks and other tests of this server.
    func endConnections() throws {
      try run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
          + "'lodestore' AND pid <> pg_backend_pid()")
    }

    /// Lets a role in only with its password.
    func requirePassword(of role: String) throws {
      let path = "\(folder)/data/pg_hba.conf"
      let others = try String(contentsOfFile: path, encoding: .utf8)
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      defer { try? file.close() }
      let line = "host all,replication \(role) 127.0.0.1/32 scram-sha-256\n"
      try file.write(contentsOf: Data((line + others).utf8))
      try run("SELECT pg_reload_conf()")
    }

    private static func tool(_ name: String, _ arguments: String...) throws {
      try asServer("\(try #require(programs))/\(name)", arguments)
    }

    /// Runs a program as the user `postgres` where this user is root, as which no server runs.
    private static func asServer(_ path: String, _ arguments: [String]) throws {
      let status =
        getuid() == 0
        ? try run("/usr/sbin/runuser", ["-u", "postgres", "--", path] + arguments)
        : try run(path, arguments)
      guard status == 0 else { throw CocoaError(.featureUnsupported) }
    }

    /// Runs a program in `/tmp`, without its output; returns its exit status.
    ///
    /// `Process` would wait for the server too, because the server inherits the socket by which
    /// `Process` notices the end of `pg_ctl`.
    private static func run(_ path: String, _ arguments: [String]) throws -> Int32 {
      let script = "cd /tmp && exec \"$@\" </dev/null >/dev/null 2>&1"
      let words = ["/bin/sh", "-c", script, "sh", path] + arguments
      var pointers = words.map { strdup($0) } + [nil]
      defer { for pointer in pointers { free(pointer) } }
      var process: pid_t = 0
      guard posix_spawn(&process, words[0], nil, nil, &pointers, environ) == 0 else {
        throw CocoaError(.executableLoad)
      }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0 {
        guard errno == EINTR else { throw CocoaError(.featureUnsupported) }
      }
      // The exit status is in the second byte; the first one has the signal that ended the process.
      return status & 0x7F == 0 ? status >> 8 & 0xFF : -1
    }
  }

  /// Runs `body` with a new server, which is removed afterwards.
  func withServer(
    _ settings: String = "", _ body: (PostgresServer) async throws -> Void
  ) async throws {
    let server = try PostgresServer(settings)
    defer { server.remove() }
    try await body(server)
  }
#endif
