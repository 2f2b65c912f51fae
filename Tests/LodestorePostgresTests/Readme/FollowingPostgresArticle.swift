#if Postgres
  import EntityStore
  import LodestorePostgres

  // The Swift of the article "A local copy of a PostgreSQL database". `ReadmeTests` checks that the
  // article has nothing else.

  private typealias Customer = Town

  private enum FollowingPostgresArticle {
    static func following(_ store: Store) throws -> PostgresFollower {
      let source = PostgresSource(
        "host=db.example dbname=shop user=reader", slot: "shop_cache",
        tables: [
          PostgresTable(
            "customers", as: Customer.self, attributes: ["id": "number", "full_name": "name"]),
          PostgresTable("orders"),
        ])
      let follower = source.follow(into: store)

      let state = try source.copyState(of: store)
      if state.isComplete { print("as of \(state.lastCommit ?? .distantPast)") }

      return follower
    }

    static func watching(_ follower: PostgresFollower) async throws {
      let status = follower.status
      switch status.phase {
      case .copying(let table): print(table, status.copiedRows, status.estimatedRows ?? 0)
      case .following: print("\(status.lagInBytes ?? 0) bytes behind")
      case .waiting(let duration, let error): print("again in \(duration): \(error)")
      default: break
      }
      try await follower.finished()
    }

    static func sending(_ store: Store) async throws {
      let sink = PostgresSink("host=db.example dbname=shop", schema: "catalogue")
      for command in try await sink.plan(for: store) { print(command) }
      let push = try await sink.push(store)
      print(push.sentRecords, push.deletedRecords)
    }
  }
#endif
