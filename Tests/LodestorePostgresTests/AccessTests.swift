#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  @Suite struct `The message of a connection that was not made` {
    @Test func `has the code of the server apart`() {
      let refusal = ConnectionRefusal(
        "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password "
          + "authentication failed for user \"a\"; LOCATION:  auth_failed, auth.c:338")
      #expect(refusal.sqlState == "28P01")
      #expect(
        refusal.message
          == "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  password "
          + "authentication failed for user \"a\"")
      #expect(ConnectionRefusal("could not connect: Connection refused").sqlState == nil)
    }
  }

  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A server that does not let a role in` {
    /// Runs `body` with a server that asks the role `reader` for the password `right`.
    private func withGuardedServer(
      _ body: (PostgresServer, _ parameters: (String) -> String) async throws -> Void
    ) async throws {
      try await withServer { server in
        try server.run(
          "CREATE ROLE reader SUPERUSER LOGIN PASSWORD 'right'; CREATE TABLE a (id int PRIMARY KEY)"
        )
        try server.requirePassword(of: "reader")
        try await body(server) { password in
          server.parameters.replacing("user=postgres", with: "user=reader password=\(password)")
        }
      }
    }

    @Test func `ends a source at once, which names the reason`() async throws {
      try await withGuardedServer { server, parameters in
        let cases: [(String, String?)] = [
          (parameters("wrong"), "28P01"), (parameters("''"), nil),
          (parameters("right").replacing("dbname=postgres", with: "dbname=gone"), "3D000"),
          (server.parameters.replacing("user=postgres", with: "user=nobody"), "28000"),
          ("host=127.0.0.1 port", nil), ("host=127.0.0.1 sslmode=other", nil),
        ]
        for (connection, state) in cases {
          try await withStore { store in
            var source = source(server, "a")
            source.connection = connection
            let follower = source.follow(into: store)
            let error = await failure(of: follower)
            #expect(error?.code == .accessDenied, "\(connection)")
            #expect(error?.sqlState == state, "\(error?.message ?? "")")
            #expect(error?.message.contains("right") == false)
            // The status would have the error of an earlier attempt.
            #expect(follower.status.lastFailure == nil)
          }
        }
      }
    }

    @Test func `is asked again slowly by a source that was connected before`() async throws {
      try await withGuardedServer { server, parameters in
        try await withStore { store in
          var source = source(server, "a")
          source.connection = parameters("right")
          source.options.longestWait = .milliseconds(300)
          let follower = source.follow(into: store)
          try await follower.catchUp(to: try server.end())
          #expect(follower.status.lastFailure == nil)
          try server.run("ALTER ROLE reader PASSWORD 'other'")
          try server.endConnections()
          try await wait {
            if case .waiting(.milliseconds(300), let error) = follower.status.phase {
              return error.code == .accessDenied
            }
            return false
          }
          #expect(follower.status.lastFailure?.sqlState == "28P01")
          try server.run("ALTER ROLE reader PASSWORD 'right'; INSERT INTO a VALUES (1)")
          try await follower.catchUp(to: try server.end())
          #expect(follower.status.lastFailure == nil)
          #expect(try rows(store, "a") == ["1"])
          await follower.stop()
        }
      }
    }

    @Test func `ends a sink at once, and not after a push`() async throws {
      try await withGuardedServer { server, parameters in
        try await withStore([City.self]) { store in
          let wrong = PostgresSink(parameters("wrong"))
          let error = await #expect(throws: PostgresError.self) { try await wrong.follow(store) }
          #expect(error?.code == .accessDenied)
          let (failures, continuation) = AsyncStream.makeStream(of: PostgresError.self)
          let right = PostgresSink(parameters("right"))
          let task = Task {
            try await right.follow(
              store, every: .milliseconds(10), onFailure: { continuation.yield($0) },
              onPush: { _ in _ = try? server.run("ALTER ROLE reader PASSWORD 'other'") })
          }
          var first = failures.makeAsyncIterator()
          #expect(await first.next()?.code == .accessDenied)
          task.cancel()
          _ = await task.result
        }
      }
    }
  }
#endif
