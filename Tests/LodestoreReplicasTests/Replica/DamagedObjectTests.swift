#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Replicas in which one bit of one object is wrong.
  ///
  /// `LODESTORE_DAMAGE` is the number of bits that are tried in each object.
  @Suite("Damaged objects of replicas", .timeLimit(.minutes(30)))
  struct DamagedObjectTests {
    private static let count =
      ProcessInfo.processInfo.environment["LODESTORE_DAMAGE"].flatMap { Int($0) } ?? 2

    /// Objects, by the part of the name that they have, and the place among the objects with it.
    private static let objects: [(String, Int)] = [
      ("log/", 0), ("log/", 2), ("log/", -3), ("log/", -1), ("merged/1/", 0), (".json", 0),
      (".json", -1), (".zst", 0), (".zst", -1), (".verity", 0), (".verity", -1), ("floor/", 0),
      ("replica.json", 0), ("followers/", 0), ("lease.json", 0),
    ]

    /// A replica with two bases, a raised floor, merged slots, a follower and a lease.
    private struct Replica26 {
      let fixture: ReplicaFixture
      let notes: [Note]
      let names: [String]
    }

    private static let replica = Task {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      var writer = try await fixture.writer(store) {
        $0.durability = .replicated
        $0.retention = .zero
      }
      for number in 1...4 { try await writer.write { try Note.change(number, &$0) } }
      try await writer.writeBase()
      try await writer.collect()
      let follower = try await fixture.follower { $0.id = "laptop" }
      try await follower.catchUp()
      try await writer.stop()
      writer = try await fixture.writer(store) {
        $0.durability = .replicated
        $0.leaseInterval = .seconds(30)
      }
      for number in 5...36 { try await writer.write { try Note.change(number, &$0) } }
      try await writer.writeBase()
      for number in 37...40 { try await writer.write { try Note.change(number, &$0) } }
      try await fixture.waitForMergedSlots()
      // The lease stays, as after a crash.
      let lease = try Data(contentsOf: URL(fileURLWithPath: fixture.bucketPath + "/lease.json"))
      try await writer.stop()
      try lease.write(to: URL(fileURLWithPath: fixture.bucketPath + "/lease.json"))
      await follower.stop()
      follower.store.close()
      let notes = try ReplicaFixture.notes(of: store)
      try ReplicaFixture.end(store)
      let names = (FileManager.default.enumerator(atPath: fixture.bucketPath)?.allObjects ?? [])
        .compactMap { $0 as? String }.filter { !$0.hasPrefix(".") && !$0.contains("/.") }
      return Replica26(fixture: fixture, notes: notes, names: names.sorted())
    }

    @Test(arguments: objects)
    func `A damaged object ends in an error in words or in the right state`(
      part: String, place: Int
    ) async throws {
      let original = try await Self.replica.value
      let files = original.names.filter { name in
        part == ".json" ? name.hasPrefix("base/") && name.hasSuffix(part) : name.contains(part)
      }.filter { $0.contains(".") }
      let name = try #require(
        files.indices.contains(place < 0 ? files.count + place : place)
          ? files[place < 0 ? files.count + place : place] : nil, "\(original.names)")
      for round in 0..<Self.count {
        let fixture = try ReplicaFixture()
        for folder in ["bucket", "copy", "store.lodestore"] {
          try? FileManager.default.removeItem(atPath: fixture.path(folder))
          try FileManager.default.copyItem(
            atPath: original.fixture.path(folder), toPath: fixture.path(folder))
        }
        let file = URL(fileURLWithPath: fixture.bucketPath + "/" + name)
        var bytes = try Data(contentsOf: file)
        let bit = round == 0 ? bytes.count * 8 - 1 : Int.random(in: 0..<bytes.count * 8)
        bytes[bit / 8] ^= 1 << (bit % 8)
        try bytes.write(to: file)
        try await expectNoWrongState(fixture, original.notes, "bit \(bit) of \(name)")
      }
    }

    /// Uses a damaged replica in each way.
    private func expectNoWrongState(
      _ fixture: ReplicaFixture, _ notes: [Note], _ damage: String
    ) async throws {
      await expectErrorInWords("restore: \(damage)") {
        let restored = try await fixture.restored()
        #expect(restored == notes, "restore: \(damage)")
      }
      await expectErrorInWords("restore of a write: \(damage)") {
        let restored = try await fixture.restored(.write(34))
        #expect(try restored == ReplicaFixture.state(after: 34), "restore of a write: \(damage)")
      }
      for name in ["new copy", "copy"] {
        await expectErrorInWords("follower: \(damage)") {
          let follower = try await fixture.follower(name)
          do {
            try await follower.catchUp()
            #expect(try ReplicaFixture.notes(of: follower.store) == notes, "follower: \(damage)")
          } catch {
            await follower.stop()
            throw error
          }
          await follower.stop()
          let path = follower.store.path
          follower.store.close()
          try ReplicaFixture.expectSound(path)
        }
      }
      await expectErrorInWords("summary: \(damage)") {
        _ = try await Replica.summary(of: fixture.bucket, failureLimit: 1)
      }
      let store = try fixture.store()
      var isWritten = false
      await expectErrorInWords("writer: \(damage)") {
        let writer = try await fixture.writer(store) { $0.retention = .zero }
        try ReplicaFixture.write(41...43, to: store)
        try await writer.flush()
        try await writer.writeBase()
        isWritten = true
        // A collection that reads the damaged object is refused, and deletes nothing.
        await expectErrorInWords("collection: \(damage)") { try await writer.collect() }
        try await writer.stop()
      }
      if isWritten {
        await expectErrorInWords("second restore: \(damage)") {
          let restored = try await fixture.restored()
          #expect(try restored == ReplicaFixture.notes(of: store), "\(damage)")
        }
      }
      await expectErrorInWords("takeover: \(damage)") {
        let path = fixture.path("new.lodestore")
        var options = ReplicaRestoreOptions()
        options.ignoresLease = true
        _ = try await Replica.takeOver(fixture.bucket, at: path, options: options)
        #expect(
          try fixture.notes(ofFileAt: path)
            == (isWritten ? ReplicaFixture.notes(of: store) : notes), "takeover: \(damage)")
      }
      try ReplicaFixture.end(store)
    }

    @Test func `A damaged mark of a store is refused in words`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      let cursor = try #require(try await store.read { try $0.replicaCursor() })
      for offset in stride(from: 0, to: cursor.mark.count, by: 7) {
        var damaged = cursor
        damaged.mark[offset] ^= 1 << UInt8(offset % 8)
        let wrong = damaged
        try await store.replaying(author: nil, context: nil) { try $0.setReplicaCursor(wrong) }
        let error = await #expect(throws: ReplicaError.self) { try await fixture.writer(store) }
        let codes: [ReplicaError.Code] = [.damaged, .newerFormat]
        #expect(error.map { codes.contains($0.code) } == true, "byte \(offset)")
      }
      try await store.replaying(author: nil, context: nil) { try $0.setReplicaCursor(cursor) }
      let again = try await fixture.writer(store)
      try ReplicaFixture.write(4...6, to: store)
      try await again.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }
  }

  /// Runs a body that may fail only with an error of replicas which says something.
  func expectErrorInWords(
    _ comment: String, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Void
  ) async {
    do {
      try await body()
    } catch let error as ReplicaError {
      #expect(error.message.count > 20, "\(comment)")
    } catch {
      Issue.record("\(comment): \(error)")
    }
  }
#endif
