#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Each call that is cancelled, stopped, or ends at its limit of failures leaves nothing locked.
  @Suite("Cancelled and stopped calls of replicas", .timeLimit(.minutes(20)))
  struct CancellationTests {
    /// A task that the storage cancels at a request.
    private final class Cancellation: Sendable {
      private struct State {
        var count = 0
        var task: Task<Void, any Error>?
        var isDone = false
      }

      private let state = Mutex(State())
      let number: Int

      init(at number: Int) { self.number = number }

      var isDone: Bool { state.withLock { $0.isDone } }

      func noteRequest() {
        let task = state.withLock { state -> Task<Void, any Error>? in
          state.count += 1
          if state.count < number { return nil }
          state.isDone = true
          return state.task
        }
        task?.cancel()
      }

      /// Runs a body in a task that is cancelled at the request.
      func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = state.withLock { state in
          state.task = Task { try await body() }
          return state.task
        }
        try await task?.value
      }
    }

    private func away(_ operation: StorageError.Operation, _ key: String) -> StorageError {
      StorageError(.unavailable, operation, key: key, place: "bucket", reason: "it is away")
    }

    /// Makes a call that is cancelled at one of its requests in turn, and once more as a whole.
    ///
    /// `LODESTORE_CASES` is the distance between these requests, 1 for each of them.
    private func cancelAtEachRequest(
      atMost limit: Int = 40,
      _ call: @escaping @Sendable (ReplicaFixture, ReplicaStorage, Store) async throws -> Void
    ) async throws {
      let distance = SeededChanges.caseCount(byDefault: 3)
      for number in stride(from: 1, through: limit, by: distance) {
        let fixture = try ReplicaFixture()
        let store = try fixture.store()
        let writer = try await fixture.writer(store)
        try ReplicaFixture.write(1...8, to: store)
        try await writer.stop()
        let cancellation = Cancellation(at: number)
        let storage = WatchedStorage(fixture.bucket.storage) { _, _ in cancellation.noteRequest() }
        do {
          try await cancellation.run { try await call(fixture, ReplicaStorage(storage), store) }
        } catch is CancellationError {
        } catch {
          Issue.record("request \(number): \(String(reflecting: error))")
        }
        // The storage cancels nothing more, because its task has ended.
        try await call(fixture, ReplicaStorage(storage), store)
        #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
        try ReplicaFixture.end(store)
        if !cancellation.isDone { return }
      }
    }

    @Test func `A writer whose opening was cancelled is opened again`() async throws {
      try await cancelAtEachRequest { fixture, storage, store in
        var options = ReplicaFixture.options
        options.leaseInterval = .seconds(30)
        options.durability = .replicated
        let writer = try await Replica.writer(store, to: storage, options: options)
        try await writer.write { try $0.insert(Note(title: UUID().uuidString, number: 100)) }
        try await writer.writeBase()
        try await writer.stop()
      }
    }

    @Test func `A follower whose opening was cancelled is opened again`() async throws {
      try await cancelAtEachRequest { fixture, storage, store in
        var options = ReplicaFollowerOptions()
        options.pollInterval = .seconds(600)
        let follower = try await Replica.follower(
          at: fixture.path("copy"), of: storage, entities: [Note.self], options: options)
        do {
          try await follower.catchUp()
          #expect(
            try ReplicaFixture.notes(of: follower.store) == ReplicaFixture.notes(of: store))
        } catch {
          await follower.stop()
          throw error
        }
        await follower.stop()
        follower.store.close()
      }
    }

    @Test func `A restore and a takeover that were cancelled leave nothing`() async throws {
      try await cancelAtEachRequest { fixture, storage, store in
        let path = fixture.path("\(UUID().uuidString).lodestore")
        do {
          try await Replica.restore(storage, at: path)
          #expect(try fixture.notes(ofFileAt: path) == ReplicaFixture.notes(of: store))
        } catch {
          let folder = path.split(separator: "/").dropLast().joined(separator: "/")
          let names = try FileManager.default.contentsOfDirectory(atPath: "/" + folder)
          #expect(!names.contains { $0.contains("restoring") }, "\(names)")
          throw error
        }
      }
      try await cancelAtEachRequest { fixture, storage, store in
        let path = fixture.path("\(UUID().uuidString).lodestore")
        _ = try await Replica.takeOver(storage, at: path)
        #expect(try fixture.notes(ofFileAt: path) == ReplicaFixture.notes(of: store))
      }
    }

    @Test func `A cancelled wait for the storage ends while the storage is away`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let isAway = Mutex(false)
      let storage = WatchedStorage(fixture.bucket.storage) {
        (operation, key) async throws(StorageError) in
        if isAway.withLock({ $0 }) { throw away(operation, key) }
      }
      let writer = try await Replica.writer(
        store, to: ReplicaStorage(storage), options: ReplicaFixture.options)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      var options = ReplicaFollowerOptions()
      options.failureLimit = 1_000
      let follower = try await Replica.follower(
        at: fixture.path("copy"), of: ReplicaStorage(storage), entities: [Note.self],
        options: options)
      try await follower.catchUp()
      isAway.withLock { $0 = true }
      try ReplicaFixture.write(4...6, to: store)
      // The background polls, and all of these calls wait for the storage.
      let calls: [@Sendable () async throws -> Void] = [
        { try await follower.catchUp() }, { try await follower.catchUp() },
        { try await writer.flush() }, { try await writer.writeBase() },
        { try await writer.collect() }, { try await writer.stop() },
      ]
      let tasks = calls.map { call in Task { try await call() } }
      try await Task.sleep(for: .milliseconds(1_500))
      for task in tasks { task.cancel() }
      for (number, task) in tasks.enumerated() where number != 4 {
        await #expect(throws: CancellationError.self, "call \(number)") { try await task.value }
      }
      isAway.withLock { $0 = false }
      try await writer.flush()
      try await follower.catchUp()
      #expect(try ReplicaFixture.notes(of: follower.store) == ReplicaFixture.notes(of: store))
      await follower.stop()
      try await writer.stop()
    }

    @Test func `A cancelled wait for a base ends while the base is sent`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let isAway = Mutex(false)
      let storage = WatchedStorage(fixture.bucket.storage) {
        (operation, key) async throws(StorageError) in
        if isAway.withLock({ $0 }), key.hasPrefix("base/") { throw away(operation, key) }
      }
      let writer = try await Replica.writer(
        store, to: ReplicaStorage(storage), options: ReplicaFixture.options)
      try await writer.flush()
      try ReplicaFixture.write(1...3, to: store)
      try await writer.flush()
      isAway.withLock { $0 = true }
      let tasks = (0..<2).map { _ in Task { try await writer.writeBase() } }
      try await Task.sleep(for: .milliseconds(500))
      for task in tasks { task.cancel() }
      for task in tasks {
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      // The base goes on, and is written when the storage is there again.
      isAway.withLock { $0 = false }
      try await writer.writeBase()
      #expect(writer.status.baseSlot == writer.status.slot)
      try await writer.stop()
    }

    @Test func `A base that is refused at once fails the call that wants it`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let isRefused = Mutex(false)
      let storage = WatchedStorage(fixture.bucket.storage) {
        (operation, key) async throws(StorageError) in
        if isRefused.withLock({ $0 }), key.hasPrefix("base/") {
          throw StorageError(.denied, operation, key: key, place: "bucket", reason: "it is closed")
        }
      }
      let writer = try await Replica.writer(
        store, to: ReplicaStorage(storage), options: ReplicaFixture.options)
      try await writer.flush()
      for number in 1...10 {
        isRefused.withLock { $0 = false }
        try ReplicaFixture.write(number...number, to: store)
        try await writer.flush()
        isRefused.withLock { $0 = true }
        let error = await #expect(throws: ReplicaError.self) { try await writer.writeBase() }
        #expect(error?.code == .storage)
      }
      isRefused.withLock { $0 = false }
      try await writer.stop()
    }

    @Test func `A download of a base gives up after the limit of failures`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      for part in [".zst", ".verity"] {
        let storage = ReplicaStorage(
          WatchedStorage(fixture.bucket.storage) { (operation, key) async throws(StorageError) in
            if key.hasSuffix(part) { throw away(operation, key) }
          })
        var restore = ReplicaRestoreOptions()
        restore.failureLimit = 2
        let (path, chosen) = (fixture.path("restored.lodestore"), restore)
        let error = await #expect(throws: ReplicaError.self) {
          try await Replica.restore(storage, at: path, options: chosen)
        }
        #expect(error?.code == .storage && error?.message.contains("it is away") == true)
        var follow = ReplicaFollowerOptions()
        follow.failureLimit = 2
        let (folder, options) = (fixture.path("copy"), follow)
        let second = await #expect(throws: ReplicaError.self) {
          _ = try await Replica.follower(
            at: folder, of: storage, entities: [Note.self], options: options)
        }
        #expect(second?.code == .storage)
      }
    }

    @Test func `A writer is stopped by several calls at once, and after a failed one`()
      async throws
    {
      let fixture = try ReplicaFixture()
      var store = try fixture.store()
      var writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      let (first, second) = (writer, writer)
      async let one: Void = first.stop()
      async let other: Void = second.stop()
      _ = try await (one, other)
      try await writer.stop()

      // The renewal of the lease ends late, and the store is closed until then.
      let isSlow = Mutex(false)
      let isWaiting = Mutex(false)
      let storage = WatchedStorage(fixture.bucket.storage) { _, key in
        guard isSlow.withLock({ $0 }), key == "lease.json" else { return }
        isWaiting.withLock { $0 = true }
        while isSlow.withLock({ $0 }) { usleep(1_000) }
      }
      var options = ReplicaFixture.options
      options.leaseInterval = .milliseconds(20)
      writer = try await Replica.writer(store, to: ReplicaStorage(storage), options: options)
      try ReplicaFixture.write(4...6, to: store)
      try await writer.flush()
      isSlow.withLock { $0 = true }
      while !isWaiting.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
      let third = writer
      let stop = Task { try await third.stop() }
      while !third.loop.shared.isStopping { try await Task.sleep(for: .milliseconds(1)) }
      store.close()
      isSlow.withLock { $0 = false }
      let failure = await #expect(throws: ReplicaError.self) { try await stop.value }
      #expect(failure?.code == .inputOutput)
      // Nothing waits for a loop that has ended.
      try await writer.stop()
      let end = await #expect(throws: ReplicaError.self) { try await third.flush() }
      #expect(end?.code == .stopped)
      store = try fixture.store()
      writer = try await fixture.writer(store)
      try ReplicaFixture.write(7...9, to: store)
      try await writer.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }

    @Test func `A stopped follower polls no more, also for a call that waits`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      for _ in 0..<20 {
        let isStopped = Mutex(false)
        let isLate = Mutex(false)
        let storage = WatchedStorage(fixture.bucket.storage) { _, _ in
          if isStopped.withLock({ $0 }) { isLate.withLock { $0 = true } }
          try? await Task.sleep(for: .milliseconds(2))
        }
        let follower = try await Replica.follower(
          at: fixture.path("copy"), of: ReplicaStorage(storage), entities: [Note.self])
        let calls = (0..<4).map { _ in Task { try? await follower.catchUp() } }
        try await Task.sleep(for: .milliseconds(5))
        async let one: Void = follower.stop()
        async let other: Void = follower.stop()
        _ = await (one, other)
        isStopped.withLock { $0 = true }
        for call in calls { _ = await call.value }
        try await Task.sleep(for: .milliseconds(5))
        #expect(!isLate.withLock { $0 })
        // The folder is free.
        let again = try await fixture.follower()
        await again.stop()
        again.store.close()
        follower.store.close()
      }
    }
  }
#endif
