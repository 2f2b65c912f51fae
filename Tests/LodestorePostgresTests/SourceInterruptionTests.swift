#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A source that is interrupted goes on where it was` {
    /// The rows of the server, in the form of `rows(_:_:)`.
    private func contents(_ server: PostgresServer) throws -> [String] {
      try server.run(
        "SELECT id || ' ' || CASE WHEN length(name) > 20 THEN length(name) || ' characters' ELSE "
          + "name END FROM a"
      ).compactMap { $0[0] }.sorted()
    }

    @Test func `each change is applied once when the source and the server are stopped`()
      async throws
    {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, name text)")
        try await withStore { store in
          let source = source(server, "a")
          var next = 0
          for round in 0..<6 {
            let follower = source.follow(into: store)
            for _ in 0..<50 {
              try server.run(
                "INSERT INTO a SELECT i, 'new' FROM generate_series(\(next), \(next + 9)) i; "
                  + "UPDATE a SET name = name || 'o' WHERE id % 10 = 3; DELETE FROM a WHERE id % "
                  + "10 = 7")
              next += 10
            }
            if round % 2 == 0 {
              try server.stop(immediately: true)
              try server.start()
            }
            if round == 5 { try await follower.catchUp(to: try server.end()) }
            await follower.stop()
          }
          #expect(try rows(store, "a") == contents(server))
        }
      }
    }

    @Test(.enabled(if: Session.program != nil))
    func `each change is applied once when processes are killed`() async throws {
      let asked = ProcessInfo.processInfo.environment["LODESTORE_POSTGRES_KILLS"]
      let rounds = asked.flatMap { Int($0) } ?? 12
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text); "
            + "INSERT INTO a SELECT i, 'x' FROM generate_series(-3000, -1) i")
        try await withStorePath { path in
          let words = ["follow", path, server.parameters, "cache", "a"]
          let connection = try server.connect()
          for round in 0..<rounds {
            let session = try Session(words)
            #expect(session.firstLine() == "begun")
            // The first rounds are killed in the copy, the later ones in the changes.
            let pause = Double.random(in: 0...(round < 4 ? 0.15 : 0.5))
            let end = Date(timeIntervalSinceNow: pause)
            var number = 0
            while Date() < end {
              try connection.run(
                "BEGIN; INSERT INTO a VALUES (\(round * 1_000_000 + number), 'new'); UPDATE a SET "
                  + "name = name || 'o' WHERE id IN (\(-number % 3_000 - 1), -1); COMMIT")
              number += 1
            }
            session.kill()
            #expect(try session.end().signal == SIGKILL)
          }
          let store = try Store(at: path, entities: [])
          defer { store.close() }
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          await follower.stop()
          #expect(try rows(store, "a") == contents(server))
        }
      }
    }

    @Test(arguments: [true, false])
    func `a copy and a change go on after the connections or the server have ended`(
      _ isCrash: Bool
    ) async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text); "
            + "INSERT INTO a SELECT i, 'x' FROM generate_series(1, 30000) i")
        try await withStore { store in
          var source = source(server, "a")
          source.options.groupSize = 100
          let follower = source.follow(into: store)
          for round in 0..<3 {
            let copied = follower.status.copiedRows
            try await wait {
              if case .following = follower.status.phase { return true }
              return follower.status.copiedRows >= copied + 400
            }
            try end(server, isCrash)
            try server.run("UPDATE a SET name = name || 'y' WHERE id % 1000 = \(round)")
          }
          try await follower.catchUp(to: try server.end())
          #expect(follower.status.copiedRows > 30_000)
          for round in 0..<3 {
            try server.run("UPDATE a SET name = name || 'z' WHERE id % 10 = \(round)")
            try await Task.sleep(for: .milliseconds(7 * round))
            try end(server, isCrash)
          }
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == contents(server))
          #expect(try server.run("SELECT count(*) FROM pg_replication_slots") == [["1"]])
          await follower.stop()
        }
      }
    }

    private func end(_ server: PostgresServer, _ isCrash: Bool) throws {
      guard isCrash else { return try server.endConnections() }
      try server.stop(immediately: true)
      try server.start()
    }

    @Test func `a dropped slot leads to another copy without the rows that are gone`() async throws
    {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text); INSERT INTO a VALUES (1, 'x')")
        try await withStore { store in
          var source = source(server, "a")
          let first = source.follow(into: store)
          try await first.catchUp(to: try server.end())
          await first.stop()
          try await source.dropSlot()
          try server.run("DELETE FROM a; INSERT INTO a VALUES (2, 'y')")
          source.options.copiesAgainAfterLostLog = false
          let error = await failure(of: source.follow(into: store))
          #expect(error?.code == .slotLost)
          #expect(try rows(store, "a") == ["1 x"])
          source.options.copiesAgainAfterLostLog = true
          let second = source.follow(into: store)
          try await second.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["2 y"])
          #expect(second.status.repeatedCopies.count == 1)
          await second.stop()
        }
      }
    }

    @Test func `log that the server has removed leads to another copy`() async throws {
      try await withServer("max_slot_wal_keep_size = 1MB") { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text); INSERT INTO a VALUES (1, 'x')")
        try await withStore { store in
          let source = source(server, "a")
          let first = source.follow(into: store)
          try await first.catchUp(to: try server.end())
          await first.stop()
          try server.run("UPDATE a SET name = 'y'")
          for _ in 0..<4 {
            try server.run("SELECT pg_switch_wal()")
            try server.run("CHECKPOINT")
          }
          let second = source.follow(into: store)
          try await second.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 y"])
          #expect(second.status.repeatedCopies.first?.contains("max_slot_wal_keep_size") == true)
          await second.stop()
        }
      }
    }

    @Test func `an older copy of the store is refused, because its slot has gone on`() async throws
    {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, name text)")
        try await withStorePath { path in
          let source = source(server, "a")
          for number in 1...2 {
            let store = try Store(at: path, entities: [])
            let follower = source.follow(into: store)
            try await follower.catchUp(to: try server.end())
            try server.run("INSERT INTO a VALUES (\(number), 'x')")
            try await follower.catchUp(to: try server.end())
            // The server has the position after it has asked for one.
            try await Task.sleep(for: .seconds(3))
            await follower.stop()
            store.close()
            if number == 1 { try FileManager.default.copyItem(atPath: path, toPath: path + ".old") }
          }
          let old = try Store(at: path + ".old", entities: [])
          defer { old.close() }
          let error = await failure(of: source.follow(into: old))
          #expect(error?.code == .slotInUse)
          let again = source.copyAgain(into: old)
          try await again.catchUp(to: try server.end())
          #expect(try rows(old, "a") == ["1 x", "2 x"])
          await again.stop()
        }
      }
    }

    @Test func `another server is refused`() async throws {
      try await withServer { first in
        try first.run("CREATE TABLE a (id int PRIMARY KEY)")
        try await withStore { store in
          let follower = source(first, "a").follow(into: store)
          try await follower.catchUp(to: try first.end())
          await follower.stop()
          try first.run("CREATE DATABASE second")
          var second = source(first, "a")
          second.connection = first.parameters.replacing("dbname=postgres", with: "dbname=second")
          let connection = try PostgresConnection(
            second.connection, interruption: PostgresInterruption())
          try connection.run("CREATE TABLE a (id int PRIMARY KEY)")
          let error = await failure(of: second.follow(into: store))
          #expect(error?.code == .otherServer)
        }
      }
    }

    @Test func `a quiet connection stays, and the server may remove the log of other tables`()
      async throws
    {
      try await withServer("wal_sender_timeout = 1s") { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE other (id int)")
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          let backend = "SELECT active_pid FROM pg_replication_slots"
          let before = try server.run(backend)
          for _ in 0..<12 {
            try server.run("INSERT INTO other SELECT generate_series(1, 1000)")
            try await Task.sleep(for: .milliseconds(250))
          }
          let end = try server.end()
          try await follower.catchUp(to: end)
          #expect(try server.run(backend) == before)
          try await Task.sleep(for: .seconds(1.5))
          let confirmed = try server.run("SELECT confirmed_flush_lsn FROM pg_replication_slots")
          let position = try #require((confirmed.first?.first ?? nil).flatMap { LogPosition($0) })
          #expect(position >= end)
          // A server that stops waits for the follower to confirm its log.
          let start = Date()
          try server.stop()
          #expect(Date().timeIntervalSince(start) < 40)
          await follower.stop()
        }
      }
    }

    @Test func `a server that is away is waited for`() async throws {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, name text)")
        try await withStore { store in
          try server.stop()
          let follower = source(server, "a").follow(into: store)
          try await wait {
            if case .waiting(_, let error) = follower.status.phase {
              return error.code == .connection
            }
            return false
          }
          try server.start()
          try server.run("INSERT INTO a VALUES (1, 'x')")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 x"])
          await follower.stop()
        }
      }
    }
  }
#endif
