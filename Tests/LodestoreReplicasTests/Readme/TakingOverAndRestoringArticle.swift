#if Datasets
  import EntityStore
  import Foundation
  import LodestoreReplicas

  // The Swift of the article "Taking over and restoring". `ReadmeTests` checks that the article has
  // nothing else.

  enum TakingOverAndRestoringArticle {
    static func takeOver(
      _ bucket: ReplicaStorage, _ path: String, _ storeOptions: StoreOptions
    ) async throws -> ReplicaWriter {
      let taken = try await Replica.takeOver(bucket, at: path)
      let store = try Store(at: taken.path, entities: [Note.self], options: storeOptions)
      let writer = try await Replica.writer(store, to: bucket)

      return writer
    }

    static func takeOverAtOnce(_ bucket: ReplicaStorage, _ path: String) async throws
      -> ReplicaTakeoverReport
    {
      var options = ReplicaRestoreOptions()
      options.ignoresLease = true
      options.name = "machine 2"
      let taken = try await Replica.takeOver(bucket, at: path, options: options)

      return taken
    }

    static func standBy(_ bucket: ReplicaStorage, _ folder: String) async throws -> ReplicaWriter {
      let standby = try await Replica.standby(at: folder, of: bucket, entities: [Note.self])
      if let reader = standby.follower { print(try await reader.store.count(Note.all)) }
      let store = try await standby.waitToTakeOver()
      let writer = try await Replica.writer(store, to: bucket)

      return writer
    }

    static func save(_ writer: ReplicaWriter, _ store: Store) async throws {
      do {
        try await writer.flush()
      } catch let error as ReplicaError where error.code == .fenced {
        if let writes = error.divergedWrites {
          try Replica.exportDiverged(store, to: "lost.jsonl", from: writes.lowerBound)
        }
      }
    }

    static func list(_ bucket: ReplicaStorage, since date: Date) async throws {
      for try await write in Replica.writes(of: bucket) where write.time >= date {
        let changes = write.changes.map { "\($0.entity): \($0.deletedCount) deleted" }
        print(write.number, write.time, write.author ?? "", changes)
      }
    }

    static func restore(
      _ bucket: ReplicaStorage, to date: Date, _ path: String
    ) async throws -> ReplicaRestoreReport {
      let report = try await Replica.restore(bucket, to: .time(date), at: path)
      print(report.lastWrite, report.time ?? date, report.byteCount)

      return report
    }

    static func test(_ bucket: ReplicaStorage, _ folder: String) async throws -> Store {
      let path = folder + "/restored.lodestore"
      try await Replica.restore(bucket, at: path)
      let store = try Store(at: path, entities: [Note.self], options: .readOnly)
      print(try await store.read { try $0.count(Note.all) })

      return store
    }
  }
#endif
