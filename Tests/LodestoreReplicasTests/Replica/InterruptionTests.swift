#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Restores and takeovers during which the objects change.
  @Suite("Collections and commits while a replica is restored", .timeLimit(.minutes(30)))
  struct InterruptionTests {
    /// Calls a closure once, before the call of a number.
    private final class Trigger: Sendable {
      private let state = Mutex((count: 0, total: 0))

      /// Returns whether this is the call of the number.
      func isDue(at number: Int) -> Bool {
        state.withLock { state in
          state.count += 1
          state.total = max(state.total, state.count)
          return state.count == number
        }
      }

      var total: Int { state.withLock { $0.total } }
    }

    private func replica() async throws -> (ReplicaFixture, Store, ReplicaWriter) {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) {
        $0.durability = .replicated
        $0.retention = .zero
      }
      for number in 1...6 { try await writer.write { try Note.change(number, &$0) } }
      return (fixture, store, writer)
    }

    @Test func `A collection at each request of a restore does not lead to a wrong state`()
      async throws
    {
      var number = 1
      var isAtEnd = false
      while !isAtEnd {
        let (fixture, store, writer) = try await replica()
        let (trigger, due) = (Trigger(), number)
        let storage = WatchedStorage(fixture.bucket.storage) { _, _ in
          guard trigger.isDue(at: due) else { return }
          for number in 7...9 {
            try? await writer.write { try Note.change(number, &$0) }
            try? await writer.writeBase()
            try? await writer.collect()
          }
        }
        let path = fixture.path("restored.lodestore")
        let before = try ReplicaFixture.notes(of: store)
        await expectErrorInWords("request \(due)") {
          do {
            try await Replica.restore(ReplicaStorage(storage), at: path)
          } catch let error as ReplicaError {
            #expect([.notKept, .damaged].contains(error.code), "\(error)")
            #expect(!FileManager.default.fileExists(atPath: path))
            throw error
          }
          let states = [before] + (try (7...9).map { try ReplicaFixture.state(after: $0) })
          #expect(states.contains(try fixture.notes(ofFileAt: path)), "request \(due)")
        }
        isAtEnd = trigger.total < number
        try await writer.stop()
        #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
        try ReplicaFixture.end(store)
        number += 1
      }
      #expect(number > 8)
    }

    @Test func `A takeover during writes and collections has all replicated writes`()
      async throws
    {
      var number = 1
      var isAtEnd = false
      while !isAtEnd {
        let (fixture, store, writer) = try await replica()
        let (trigger, due) = (Trigger(), number)
        let replicated = Mutex(6)
        let storage = WatchedStorage(fixture.bucket.storage) { _, _ in
          guard trigger.isDue(at: due) else { return }
          for number in 7...9 {
            guard (try? await writer.write { try Note.change(number, &$0) }) != nil else { return }
            replicated.withLock { $0 = number }
          }
          try? await writer.writeBase()
          try? await writer.collect()
        }
        let path = fixture.path("new.lodestore")
        await expectErrorInWords("request \(due)") {
          let taken = try await Replica.takeOver(ReplicaStorage(storage), at: path)
          #expect(taken.lastWrite >= UInt64(replicated.withLock { $0 }), "request \(due)")
          let notes = try ReplicaFixture.state(after: Int(taken.lastWrite))
          #expect(try fixture.notes(ofFileAt: path) == notes)
        }
        isAtEnd = trigger.total < number
        try await fixture.expectReplicated(atLeast: replicated.withLock { $0 })
        try ReplicaFixture.end(store)
        number += 1
      }
      #expect(number > 8)
    }

    @Test func `A cancelled stop leaves a writer that notices each commit`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      // At this interval the writer also looks for commits by itself.
      let writer = try await fixture.writer(store) { $0.checkpointInterval = .seconds(10) }
      try await writer.flush()
      let stop = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await writer.stop()
      }
      await #expect(throws: CancellationError.self) { try await stop.value }
      try ReplicaFixture.write(1...1, to: store)
      for _ in 0..<800 where writer.status.replicatedWrite == 0 {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(writer.status.replicatedWrite == 1)
      try await writer.stop()
      #expect(writer.status.end?.code == .stopped)
      try ReplicaFixture.end(store)
    }
  }
#endif
