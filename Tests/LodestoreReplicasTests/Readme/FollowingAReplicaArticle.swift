#if Datasets
  import EntityStore
  import LodestoreReplicas

  // The Swift of the article "Following a replica". `ReadmeTests` checks that the article has
  // nothing else.

  enum FollowingAReplicaArticle {
    static func list(_ folder: String, _ bucket: ReplicaStorage) async throws {
      let follower = try await Replica.follower(at: folder, of: bucket, entities: [Note.self])
      for try await update in follower.updates(of: Note.all.sorted(by: \.title)) {
        print(update.items.map(\.title))
      }
    }

    static func read(_ follower: ReplicaFollower) async throws -> [Note] {
      try await follower.catchUp()
      let notes = try await follower.store.fetch(Note.where { $0.number > 3 })

      return notes
    }

    static func replacements(_ follower: ReplicaFollower) async throws {
      for await store in follower.stores {
        print(try await store.read { try $0.count(Note.all) }, "notes in", store.path)
      }
    }

    static func age(_ follower: ReplicaFollower) {
      let status = follower.status
      if let lag = status.lag() { print("at most \(lag) old") }
      if let failure = status.lastFailure { print("the storage fails: \(failure)") }
      print(status.slot, status.lastWrite, status.traffic.bytesReceived)
    }

    static func choose(_ folder: String, _ bucket: ReplicaStorage) async throws -> ReplicaFollower {
      var options = ReplicaFollowerOptions()
      options.id = "reader-1"
      options.followedEntities = ["Note"]
      options.pollInterval = .seconds(5)
      let follower = try await Replica.follower(
        at: folder, of: bucket, entities: [Note.self], options: options)

      return follower
    }

    static func condition() throws -> ReplicaFollowerOptions {
      var options = ReplicaFollowerOptions()
      try options.follow(Note.self) { $0.number > 100 }

      return options
    }

    static func stop(_ follower: ReplicaFollower) async {
      await follower.stop()
    }
  }
#endif
