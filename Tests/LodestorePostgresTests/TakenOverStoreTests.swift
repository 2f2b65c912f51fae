#if Postgres && Datasets
  import EntityStore
  import Foundation
  import LodestoreReplicas
  import Testing

  @testable import LodestorePostgres

  /// A sink after another machine has taken over the writer's store.
  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A database that receives a replicated store` {
    private static let names = "SELECT string_agg(name, ' ' ORDER BY id) FROM \"City\""

    @Test func `the successor is refused until its rows may replace those of the former writer`()
      async throws
    {
      try await withServer { server in
        try await withStorePath { path in
          let sink = PostgresSink(server.parameters)
          try FileManager.default.createDirectory(
            atPath: path + ".bucket", withIntermediateDirectories: true)
          let bucket = try ReplicaStorage.folder(path + ".bucket")
          do {
            let store = try Store(at: path, entities: [City.self])
            defer { store.close() }
            var options = ReplicaWriterOptions()
            options.leaseInterval = nil
            let writer = try await Replica.writer(store, to: bucket, options: options)
            for name in ["c1", "c2", "c3"] { try await store.insert(City(name: name)) }
            try await writer.stop()
            try await sink.push(store)
          }
          let taken = try await Replica.takeOver(bucket, at: path + ".taken")
          let store = try Store(at: taken.path, entities: [City.self])
          defer { store.close() }
          // The successor numbers its writes by itself, and reaches the number that was pushed.
          for name in ["d4", "d5", "d6", "d7"] { try await store.insert(City(name: name)) }
          let error = await #expect(throws: PostgresError.self) { try await sink.push(store) }
          #expect(error?.code == .otherServer)
          let own = try await store.read { try $0.historyToken().storeID.uuidString.lowercased() }
          #expect(error?.message.contains("this is the store \(own)") == true)
          #expect(try server.run(Self.names) == [["c1 c2 c3"]])

          try server.run("DELETE FROM lodestore_cursor")
          #expect(try await sink.push(store).isWhole)
          #expect(try server.run(Self.names) == [["c1 c2 c3 d4 d5 d6 d7"]])
          try await store.insert(City(name: "d8"))
          #expect(try await sink.push(store).sentRecords == 1)
        }
      }
    }
  }
#endif
