#if Datasets
  import EntityStore
  import LodestoreReplicas

  // The Swift of the article "Replicating a store". `ReadmeTests` checks that the article has
  // nothing else.

  enum ReplicatingAStoreArticle {
    static func replicate(_ path: String) async throws -> ReplicaWriter {
      var options = StoreOptions()
      options.history = .images
      let store = try Store(at: path, entities: [Note.self], options: options)
      let bucket = try ReplicaStorage.s3("https://s3.eu-central-1.amazonaws.com/backups/notes")
      let writer = try await Replica.writer(store, to: bucket)

      return writer
    }

    static func wait(_ store: Store, _ bucket: ReplicaStorage) async throws -> ReplicaWriter {
      var options = ReplicaWriterOptions()
      options.durability = .replicated
      options.name = "machine 1"
      let writer = try await Replica.writer(store, to: bucket, options: options)
      try await writer.write { tx in
        try tx.insert(Note(title: "milk", number: 1))
      }

      return writer
    }

    static func see(_ writer: ReplicaWriter, _ bucket: ReplicaStorage) async throws
      -> ReplicaSummary
    {
      let status = writer.status
      print("\(status.lagInWrites) writes, \(status.lag) behind")
      if let failure = status.lastFailure { print("repeated: \(failure)") }
      if let end = status.end { print("ended: \(end)") }

      let summary = try await Replica.summary(of: bucket)
      print(summary.lastWrite, summary.bases.count, summary.followers.map(\.id))

      return summary
    }

    static func stop(_ writer: ReplicaWriter) async throws {
      try await writer.stop()
    }

    static func choose() -> ReplicaWriterOptions {
      var options = ReplicaWriterOptions()
      options.retention = .seconds(30 * 86_400)
      options.flushInterval = .seconds(1)
      options.baseThreshold = 0.5

      return options
    }
  }
#endif
