#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Storages and stores that were emptied, or put back to an earlier state.
  @Suite("Replicas whose storage or store was put back", .timeLimit(.minutes(30)))
  struct LostStorageTests {
    /// A replica of nine writes, and its state after six of them in the folder `earlier`.
    private func replica() async throws -> (ReplicaFixture, Store, ReplicaWriter) {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      // The first slot has a base of the empty store, and each write has a slot.
      try await writer.flush()
      for number in 1...6 { try await writer.write { try Note.change(number, &$0) } }
      try FileManager.default.copyItem(
        atPath: fixture.bucketPath, toPath: fixture.path("earlier"))
      for number in 7...9 { try await writer.write { try Note.change(number, &$0) } }
      return (fixture, store, writer)
    }

    /// Replaces the content of the bucket by that of a folder, or by nothing.
    private func putBack(_ fixture: ReplicaFixture, _ folder: String?) throws {
      let files = FileManager.default
      for name in try files.contentsOfDirectory(atPath: fixture.bucketPath) {
        try files.removeItem(atPath: "\(fixture.bucketPath)/\(name)")
      }
      guard let folder else { return }
      for name in try files.contentsOfDirectory(atPath: fixture.path(folder)) {
        try files.copyItem(
          atPath: fixture.path("\(folder)/\(name)"), toPath: "\(fixture.bucketPath)/\(name)")
      }
    }

    @Test(arguments: ["earlier", nil])
    func `A running writer whose storage was put back ends before it reports a write`(
      folder: String?
    ) async throws {
      let (fixture, store, writer) = try await replica()
      try putBack(fixture, folder)
      try await Task.sleep(for: .milliseconds(150))
      let error = await #expect(throws: ReplicaError.self) {
        try await writer.write { try Note.change(10, &$0) }
      }
      #expect(error?.code == .damaged && error?.message.contains("put back") == true)
      #expect(writer.status.end?.code == .damaged)
      // The entry beyond the gap is there. Nobody takes the state before it for the newest one.
      let restored = await #expect(throws: ReplicaError.self) { try await fixture.restored() }
      #expect(restored?.code == (folder == nil ? .noBase : .damaged))
      let taken = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOver(fixture.bucket, at: fixture.path("new.lodestore"))
      }
      #expect(taken?.code == (folder == nil ? .noBase : .damaged))
      let again = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
      #expect(again?.code == (folder == nil ? .otherReplica : .damaged))
      // The missing objects lead on.
      if folder != nil {
        #expect(try await fixture.restored(.write(6)) == (try ReplicaFixture.state(after: 6)))
      }
      try ReplicaFixture.end(store)
    }

    @Test func `A writer is refused by a storage that was put back to an earlier state`()
      async throws
    {
      let (fixture, store, writer) = try await replica()
      try await writer.stop()
      try putBack(fixture, "earlier")
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
      #expect(error?.code == .damaged && error?.slot == 10)
      let log = fixture.bucketPath + "/log"
      #expect(try FileManager.default.contentsOfDirectory(atPath: log).count == 7)
      #expect(try await fixture.restored() == (try ReplicaFixture.state(after: 6)))
      try ReplicaFixture.end(store)
    }

    @Test func `A store with an older place sends what a storage has lost again`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      // The place in the store stays that of the opening.
      let writer = try await fixture.writer(store) {
        $0.durability = .replicated
        $0.checkpointInterval = .seconds(600)
      }
      for number in 1...6 { try await writer.write { try Note.change(number, &$0) } }
      try FileManager.default.copyItem(
        atPath: fixture.bucketPath, toPath: fixture.path("earlier"))
      for number in 7...9 { try await writer.write { try Note.change(number, &$0) } }
      _ = try await store.backup(to: fixture.path("twin.lodestore"))
      try putBack(fixture, "earlier")
      let twin = try fixture.store("twin.lodestore")
      let again = try await fixture.writer(twin)
      try ReplicaFixture.write(10...12, to: twin)
      try await again.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: twin))
      withExtendedLifetime(writer) {}
      try ReplicaFixture.end(twin)
      try ReplicaFixture.end(store)
    }

    @Test(arguments: ["earlier", nil])
    func `A follower does not take a storage that was put back for one without news`(
      folder: String?
    ) async throws {
      let (fixture, store, writer) = try await replica()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      try await writer.stop()
      await follower.stop()
      follower.store.close()
      try putBack(fixture, folder)
      let later = try await fixture.follower()
      let error = await #expect(throws: ReplicaError.self) { try await later.catchUp() }
      #expect(error?.code == .damaged && error?.message.contains("put back") == true)
      #expect(later.status.caughtUpAt == nil)
      #expect(try ReplicaFixture.notes(of: later.store) == ReplicaFixture.notes(of: store))
      try await ReplicaFixture.end(later, equalTo: store)
      try ReplicaFixture.end(store)
    }

    @Test func `An emptied storage begins a new replica or refuses the writer`() async throws {
      let (fixture, store, writer) = try await replica()
      try await writer.stop()
      try putBack(fixture, nil)
      await expectErrorInWords("emptied") {
        let again = try await fixture.writer(store)
        try ReplicaFixture.write(10...12, to: store)
        try await again.stop()
        #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      }
      try ReplicaFixture.end(store)
    }

    // MARK: Files that lose commits, as after a failure of power

    @Test func `A writer whose file has lost commits is refused, and a takeover has them`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      for number in 1...6 { try await writer.write { try Note.change(number, &$0) } }
      _ = try await store.backup(to: fixture.path("lost.lodestore"))
      for number in 7...9 { try await writer.write { try Note.change(number, &$0) } }
      let lost = try fixture.store("lost.lodestore")
      let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(lost) }
      #expect(error?.code == .behind)
      let taken = try await Replica.takeOver(fixture.bucket, at: fixture.path("new.lodestore"))
      let successor = try Store(at: taken.path, entities: [Note.self], options: Note.options)
      #expect(try ReplicaFixture.notes(of: successor) == ReplicaFixture.notes(of: store))
      for store in [successor, lost, store] { try ReplicaFixture.end(store) }
    }

    @Test func `A follower whose file has lost commits applies them again`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      for number in 1...6 { try await writer.write { try Note.change(number, &$0) } }
      for round in 0..<2 {
        let follower = try await fixture.follower()
        try await follower.catchUp()
        await follower.stop()
        follower.store.close()
        let path = follower.store.path
        if round == 0 {
          try FileManager.default.copyItem(atPath: path, toPath: fixture.path("earlier"))
          for number in 7...9 { try await writer.write { try Note.change(number, &$0) } }
        } else {
          try FileManager.default.removeItem(atPath: path)
          try FileManager.default.moveItem(atPath: fixture.path("earlier"), toPath: path)
        }
      }
      try await writer.stop()
      let follower = try await fixture.follower()
      try await follower.catchUp()
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }
  }
#endif
