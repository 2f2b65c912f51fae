#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  /// A writer, followers, restores and takeovers in a random order, compared with the store.
  ///
  /// `LODESTORE_CASES` is the number of runs, and `LODESTORE_SEED` repeats them.
  @Suite("Random use of a replica", .timeLimit(.minutes(60)))
  struct RandomReplicaTests {
    @Test func `Followers and restores have the content of the store after any steps`()
      async throws
    {
      for number in 0..<SeededChanges.caseCount(byDefault: 2) {
        let seed = SeededChanges.runSeed &+ UInt64(number)
        print("LODESTORE_SEED=\(seed) LODESTORE_CASES=1")
        let run = try await RandomRun(seed: seed)
        do {
          for _ in 0..<60 { try await run.step() }
          try await run.end()
        } catch {
          Issue.record("seed \(seed): \(String(reflecting: error)) after \(run.steps)")
        }
      }
    }
  }

  /// One random run.
  private final class RandomRun {
    private var random: SeededRandom
    private let fixture: ReplicaFixture
    private var store: Store
    private var opened: ReplicaWriter?
    private var path: String
    private var followers: [String: ReplicaFollower] = [:]
    /// The digests after writes that the log numbers.
    private var states: [UInt64: [[UInt8]: [UInt8]]] = [:]
    private var takeovers = 0
    private(set) var steps: [String] = []

    private static let condition = "age > 3"

    init(seed: UInt64) async throws {
      random = SeededRandom(seed: seed)
      fixture = try ReplicaFixture()
      path = fixture.path("store.lodestore")
      store = try Self.open(path)
      for _ in 0..<5 { try Band.change(store, &random) }
      opened = try await Self.writer(store, fixture)
    }

    private var writer: ReplicaWriter { get throws { try #require(opened) } }

    private static func open(_ path: String) throws -> Store {
      try Store(at: path, entities: Band.entities, options: Note.options)
    }

    private static func writer(
      _ store: Store, _ fixture: ReplicaFixture
    ) async throws -> ReplicaWriter {
      try await fixture.writer(store) {
        $0.retention = .zero
        $0.durability = .replicated
      }
    }

    func step() async throws {
      let choice = random.below(20)
      steps.append("\(choice)")
      switch choice {
      case 0...5: for _ in 0...random.below(5) { try Band.change(store, &random) }
      case 6, 7, 8:
        try await writer.flush()
        states[try writer.status.replicatedWrite] = try ReplicaFixture.digests(of: store).contents
      case 9: try await writer.writeBase()
      case 10: if random.below(3) == 0 { try await writer.collect() }
      case 11: try await reopen()
      case 12: if random.below(4) == 0 { try purge() }
      case 13: if random.below(4) == 0 { try await takeOver() }
      case 14, 15, 16: try await follow(["all", "part"][random.below(2)])
      case 17:
        let name = ["all", "part"][random.below(2)]
        await followers.removeValue(forKey: name)?.stop()
      default: try await restore()
      }
    }

    func end() async throws {
      try await writer.flush()
      for name in ["all", "part"] {
        try await follow(name)
        await followers.removeValue(forKey: name)?.stop()
      }
      try await restore()
      try await writer.stop()
      try ReplicaFixture.end(store)
    }

    /// Opens the writer again, also after one that was dropped without a stop.
    private func reopen() async throws {
      let isStopped = random.below(2) == 0
      if isStopped { try await writer.stop() }
      opened = nil
      var attempts = 0
      while opened == nil {
        do {
          opened = try await Self.writer(store, fixture)
        } catch let error as ReplicaError {
          // The loop of a dropped writer may still have its last reference to the lock.
          attempts += 1
          guard !isStopped, error.code == .busy, attempts < 300 else { throw error }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }

    private func purge() throws {
      try store.write { _ = try $0.purgeHistory(before: Date()) }
    }

    private func takeOver() async throws {
      try await writer.flush()
      if random.below(2) == 0 { try await writer.stop() }
      let old = store
      takeovers += 1
      if random.below(2) == 0, let follower = followers.removeValue(forKey: "all") {
        await follower.stop()
        follower.store.close()
        path = try await Replica.takeOver(fixture.bucket, at: fixture.path("all")).path
        // The next follower begins in a new folder.
        try FileManager.default.moveItem(
          atPath: fixture.path("all"), toPath: fixture.path("taken-\(takeovers)"))
        path = path.replacingOccurrences(of: "/all/", with: "/taken-\(takeovers)/")
      } else {
        path = fixture.path("taken-\(takeovers).lodestore")
        _ = try await Replica.takeOver(fixture.bucket, at: path)
      }
      store = try Self.open(path)
      #expect(try ReplicaFixture.digests(of: store) == ReplicaFixture.digests(of: old))
      opened = try await Self.writer(store, fixture)
      old.close()
    }

    private func follow(_ name: String) async throws {
      try await writer.flush()
      let condition = Self.condition
      let follower: ReplicaFollower
      if let open = followers[name] {
        follower = open
      } else {
        follower = try await fixture.follower(name, Band.entities) {
          if name == "part" { $0.conditions = ["Fan": condition] }
        }
        followers[name] = follower
      }
      try await follower.catchUp()
      if name == "all" {
        #expect(
          try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: store),
          "\(steps)")
      } else {
        try Self.expectPart(follower.store, of: store, "\(steps)")
      }
    }

    private static func expectPart(_ copy: Store, of store: Store, _ words: String) throws {
      let wanted = try store.fetch(Fan.all).filter { $0.age > 3 }
      #expect(try copy.fetch(Fan.all) == wanted, "\(words)")
      for fan in wanted {
        let likes = try store.read { try $0.relatedIDs(Fan.likes, of: fan.id) }
        #expect(try copy.read { try $0.relatedIDs(Fan.likes, of: fan.id) } == likes, "\(words)")
      }
      #expect(try copy.fetch(Album.all) == store.fetch(Album.all), "\(words)")
    }

    private func restore() async throws {
      try await writer.flush()
      let target: ReplicaRestoreTarget
      let wanted: [[UInt8]: [UInt8]]
      if random.below(2) == 0, let (write, digests) = states.randomElement(using: &random) {
        (target, wanted) = (.write(write), digests)
      } else {
        (target, wanted) = (.latest, try ReplicaFixture.digests(of: store).contents)
      }
      let path = fixture.path("restored-\(random.next()).lodestore")
      do {
        try await Replica.restore(fixture.bucket, to: target, at: path)
      } catch let error as ReplicaError {
        // A collection or a base may have replaced the wanted state.
        guard error.code == .notKept, target != .latest else { throw error }
        return
      }
      try ReplicaFixture.expectSound(path)
      let restored = try Store(at: path, entities: Band.entities, options: .readOnly)
      #expect(try ReplicaFixture.digests(of: restored).contents == wanted, "\(steps)")
      restored.close()
    }
  }
#endif
