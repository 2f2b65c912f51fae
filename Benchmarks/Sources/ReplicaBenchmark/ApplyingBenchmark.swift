#if Replicas
  import BenchmarkFigures
  import EntityStore
  import Foundation
  import LodestoreReplicas

  /// Measures the start of a follower from a base, the changes that it applies, and a restore.
  struct ApplyingBenchmark {
    let arguments: Arguments
    let places: Places

    func run() async throws {
      let folder = try places.folder("applying")
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let bucket = try places.bucket("applied")
      let store = try Item.store(at: "\(folder)/store.lodestore")
      defer { store.close() }
      let count = arguments.records
      print("\nA follower of \(count.grouped) records")
      try timed("filling the store", count) {
        for start in stride(from: 0, to: count, by: 100_000) {
          try store.insert((start..<min(start + 100_000, count)).map { Item(number: $0) })
        }
      }
      var options = ReplicaWriterOptions()
      options.minimumLogSizeForBase = .max
      options.leaseInterval = nil
      let writerOptions = options
      let writer = try await timed("first base", count) {
        let writer = try await Replica.writer(store, to: bucket, options: writerOptions)
        try await writer.flush()
        return writer
      }
      let follower = try await timed("follower's start", count) {
        var options = ReplicaFollowerOptions()
        options.pollInterval = .seconds(86_400)
        return try await Replica.follower(
          at: "\(folder)/copy", of: bucket, entities: [Item.self], options: options)
      }
      try await follower.catchUp()
      print("  received: \(megabytes(follower.status.traffic.bytesReceived))")
      try await readFile("\(folder)/copy", count)
      for changes in Changes.all(count) where arguments.changes ?? changes.name == changes.name {
        let before = writer.status
        try await timed(changes.name + ", writer", changes.count) { try await changes.make(store) }
        try await timed(changes.name + ", sent", changes.count) { try await writer.flush() }
        let sent = writer.status
        let applied = follower.status.changesApplied
        try await timed(changes.name + ", applied", changes.count) { try await follower.catchUp() }
        guard follower.status.lastWrite == sent.replicatedWrite else {
          throw BenchmarkError("the follower is at write \(follower.status.lastWrite)")
        }
        let bytes = sent.entryBytesSent - before.entryBytesSent
        print(
          "  sent: \(sent.slot - before.slot) slots, "
            + "\(Double(bytes) / Double(changes.count)) bytes a change; applied: "
            + "\(follower.status.changesApplied - applied) changes")
      }
      let total = try await follower.store.read { try $0.count(Item.all) }
      await follower.stop()
      try await writer.stop()
      let path = "\(folder)/restored.lodestore"
      let report = try await timed("restore", total) {
        try await Replica.restore(bucket, at: path)
      }
      print("  read: \(report.entryCount) entries, \(megabytes(report.byteCount)) in all")
    }

    /// Reads and copies the file of the copy, as the limit of the follower's start.
    private func readFile(_ folder: String, _ count: Int) async throws {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      guard let name = names.first(where: { $0.hasSuffix(".lodestore") }) else {
        throw BenchmarkError("the follower's folder has no store: \(names)")
      }
      let path = "\(folder)/\(name)"
      let size = try timed("reading the copy's file", count) {
        try Data(contentsOf: URL(fileURLWithPath: path)).count
      }
      print("  the copy's file: \(megabytes(UInt64(size)))")
      try timed("copying it with a sync", count) {
        let target = "\(path).plain"
        defer { try? FileManager.default.removeItem(atPath: target) }
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        try data.write(to: URL(fileURLWithPath: target))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: target))
        try file.synchronize()
        try file.close()
      }
    }
  }

  /// Changes of a store that a follower applies.
  struct Changes {
    let name: String
    let count: Int
    let make: @Sendable (Store) async throws -> Void

    /// All kinds of changes, in the order in which they are made.
    ///
    /// - Parameter count: The number of records before the first changes.
    static func all(_ count: Int) -> [Changes] {
      let part = count / 10
      return [
        Changes(name: "inserts in one write", count: count) { store in
          try store.insert((count..<count * 2).map { Item(number: $0) })
        },
        Changes(name: "inserts in writes of one", count: part) { store in
          let load = CommitLoad(store, first: count * 2)
          try await load.run(tasks: 64, count: part)
        },
        Changes(name: "updates of a Bool", count: part * 3) { store in
          for start in stride(from: 0, to: part * 3, by: 10_000) {
            try store.write { tx in
              for id in start..<min(start + 10_000, part * 3) {
                try tx.modify(Item.ID(rawValue: UInt64(id * 3 + 1))) { $0.isDone.toggle() }
              }
            }
          }
        },
        Changes(name: "updates of an indexed number", count: part * 3) { store in
          for start in stride(from: 0, to: part * 3, by: 10_000) {
            try store.write { tx in
              for id in start..<min(start + 10_000, part * 3) {
                try tx.modify(Item.ID(rawValue: UInt64(id * 3 + 2))) { $0.score += 1 }
              }
            }
          }
        },
        Changes(name: "deletions", count: part) { store in
          try store.write { tx in
            for id in 0..<part { try tx.delete(Item.ID(rawValue: UInt64(id * 10 + 3))) }
          }
        },
      ]
    }
  }
#endif
