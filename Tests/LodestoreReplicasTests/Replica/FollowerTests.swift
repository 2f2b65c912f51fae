#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Followers of some records, followers that were away, and the files of a follower's folder.
  @Suite("Followers")
  struct FollowerTests {
    @Test func `Types and names of which a follower has nothing are refused before a download`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store)
      try await writer.stop()
      let unread = await #expect(throws: ReplicaError.self) {
        try await fixture.follower("unread", [Note.self]) { $0.followedEntities = ["Tag"] }
      }
      #expect(unread?.code == .unsuitableStore)
      #expect(unread?.message.contains("cannot read Note in a follower of Tag") == true)
      let conditions = ["Notes": "number > 1"]
      let changes: [@Sendable (inout ReplicaFollowerOptions) -> Void] = [
        { $0.followedEntities = ["Notes"] }, { $0.conditions = conditions },
      ]
      for change in changes {
        let error = await #expect(throws: ReplicaError.self) {
          try await fixture.follower("unknown", [], change)
        }
        #expect(error?.code == .unsuitableStore)
        #expect(error?.message.contains("no entity 'Notes'") == true)
        let incoming = fixture.path("unknown/incoming")
        #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
      }
    }

    @Test func `A follower has the records that fulfil its condition`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...10, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      func wanted() throws -> [Note] {
        try ReplicaFixture.notes(of: store).filter { $0.number > 6 && $0.title.hasPrefix("note") }
      }
      let follower = try await fixture.follower {
        try? $0.follow(Note.self) {
          $0.number > 6
          $0.title.hasPrefix("note")
        }
      }
      #expect(try ReplicaFixture.notes(of: follower.store) == wanted())
      #expect(follower.status.unverifiedContent == ["Note"])
      for number in 11...40 {
        try ReplicaFixture.write(number...number, to: store)
        try await store.write { tx in
          guard var note = try tx.fetch(Note.where { $0.number == number - 5 }).first else {
            return
          }
          // The note leaves the copy, or comes in.
          note.title = note.title.hasPrefix("note") ? "left \(number)" : "note again \(number)"
          try tx.update(note)
        }
        if number % 4 == 0 {
          try await writer.flush()
          try await follower.catchUp()
          #expect(try ReplicaFixture.notes(of: follower.store) == wanted(), "\(number)")
        }
      }
      await follower.stop()
      try await writer.stop()
    }

    @Test func `A changed condition begins a new copy, and says so`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try ReplicaFixture.write(1...10, to: store)
      let writer = try await fixture.writer(store)
      try await writer.stop()
      func follow(_ condition: String?) async throws -> (notes: [Note], reason: String?) {
        let follower = try await fixture.follower {
          $0.conditions = condition.map { ["Note": $0] } ?? [:]
        }
        try await follower.catchUp()
        let notes = try ReplicaFixture.notes(of: follower.store)
        let reason = follower.status.newCopyReason
        await follower.stop()
        return (notes, reason)
      }
      let all = try ReplicaFixture.notes(of: store)
      let first = try await follow("number > 4")
      #expect(first.notes == all.filter { $0.number > 4 } && first.reason == nil)
      // An equal condition with other spaces is no other one.
      let again = try await follow("number   >  4")
      #expect(again.notes == first.notes && again.reason == nil)
      let second = try await follow("number < 4")
      #expect(second.notes == all.filter { $0.number < 4 })
      #expect(second.reason?.contains("Note by 'number > 4'") == true)
      let third = try await follow(nil)
      #expect(third.notes == all && third.reason != nil)
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.path("copy"))
      #expect(names.filter { $0.hasSuffix(".lodestore") }.count == 1)
    }

    @Test(arguments: ["number >", "colour == 1", "title == NULL AND number < now()"])
    func `A condition that does not fit the store is refused`(_ condition: String) async throws {
      let fixture = try ReplicaFixture()
      let writer = try await fixture.writer(try fixture.store())
      try await writer.stop()
      let error = await #expect(throws: ReplicaError.self) {
        try await fixture.follower { $0.conditions = ["Note": condition] }
      }
      #expect(error?.code == .unsuitableStore)
      #expect(error?.message.contains("Note") == true)
    }

    @Test func `A copy of some records cannot take over`() async throws {
      let fixture = try ReplicaFixture()
      let writer = try await fixture.writer(try fixture.store())
      try await writer.stop()
      let follower = try await fixture.follower { $0.conditions = ["Note": "number > 4"] }
      await follower.stop()
      let error = await #expect(throws: ReplicaError.self) {
        try await Replica.takeOver(fixture.bucket, at: fixture.path("copy"))
      }
      #expect(error?.code == .unsuitableStore)
    }

    @Test func `A follower that was away reads merged slots`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      try await writer.write { try Note.change(1, &$0) }
      var follower = try await fixture.follower()
      try await follower.catchUp()
      await follower.stop()
      for number in 2...100 { try await writer.write { try Note.change(number, &$0) } }
      let merged = fixture.bucketPath + "/merged/1"
      func count() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: merged)) ?? []
        return names.filter { $0.hasSuffix(".lsc") }.count
      }
      for _ in 0..<3_000 where count() < 5 { try await Task.sleep(for: .milliseconds(20)) }
      try await writer.stop()
      #expect(count() == 5)
      follower = try await fixture.follower()
      try await follower.catchUp()
      #expect(follower.status.slot == writer.status.slot)
      #expect(try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: store))
      // Slots up to 32 and from 97 on are read one by one, and the others as four ranges.
      #expect(follower.status.traffic.requests < 60)
      await follower.stop()
    }

    @Test func `Merged slots that are not those of the log are not used`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.durability = .replicated }
      try await writer.write { try Note.change(1, &$0) }
      var follower = try await fixture.follower()
      try await follower.catchUp()
      await follower.stop()
      for number in 2...70 { try await writer.write { try Note.change(number, &$0) } }
      let merged = fixture.bucketPath + "/merged/1"
      func names() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: merged)) ?? []
        return names.filter { $0.hasSuffix(".lsc") }.sorted()
      }
      for _ in 0..<3_000 where names().count < 3 { try await Task.sleep(for: .milliseconds(20)) }
      try await writer.stop()
      let (second, third) = (names()[1], names()[2])
      try FileManager.default.removeItem(atPath: "\(merged)/\(second)")
      try FileManager.default.copyItem(atPath: "\(merged)/\(third)", toPath: "\(merged)/\(second)")
      try Data("damaged".utf8).write(to: URL(fileURLWithPath: "\(merged)/\(third)"))
      follower = try await fixture.follower()
      try await follower.catchUp()
      #expect(follower.status.slot == writer.status.slot)
      #expect(try ReplicaFixture.digests(of: follower.store) == ReplicaFixture.digests(of: store))
      await follower.stop()
    }

    @Test func `A replaced store stays while it is open, and is removed afterwards`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      let writer = try await fixture.writer(store) { $0.retention = .zero }
      try ReplicaFixture.write(1...5, to: store)
      try await writer.flush()
      let first = try await fixture.follower()
      await first.stop()
      for round in 1...3 {
        try ReplicaFixture.write(round * 10...round * 10 + 5, to: store)
        try await writer.flush()
        try await writer.writeBase()
      }
      try await writer.collect()
      func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: fixture.path("copy"))
          .filter { $0.hasSuffix(".lodestore") }.count
      }
      let follower = try await fixture.follower()
      let old = follower.store
      try await follower.catchUp()
      #expect(follower.status.replacements == 1)
      #expect(try count() == 2)
      #expect(try ReplicaFixture.notes(of: old).count > 0)
      old.close()
      first.store.close()
      try await follower.catchUp()
      #expect(try count() == 1)
      await follower.stop()
      try await writer.stop()
    }
  }
#endif
