#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Stores whose history has no images, so that one step has the changes of several writes.
  @Suite("Replicas of stores without images")
  struct TogetherTests {
    private func store(_ fixture: ReplicaFixture) throws -> Store {
      var options = Note.options
      options.history = .changes
      return try Store(
        at: fixture.path("store.lodestore"), entities: [Note.self], options: options)
    }

    @Test func `A write in the middle of a step cannot be restored, and its step is named`()
      async throws
    {
      let fixture = try ReplicaFixture()
      let store = try store(fixture)
      try ReplicaFixture.write(1...2, to: store)
      let writer = try await fixture.writer(store) { $0.flushInterval = .seconds(60) }
      try await writer.flush()
      // An update without an image hides the value between two writes.
      for text in ["first", "second", "third"] {
        try await store.write { tx in
          guard var note = try tx.fetch(Note.where { $0.number == 1 }).first else { return }
          note.title = text
          try tx.update(note)
        }
      }
      try await writer.stop()
      let last = writer.status.replicatedWrite
      let error = await #expect(throws: ReplicaError.self) {
        try await fixture.restored(.write(last - 1))
      }
      #expect(error?.code == .notKept)
      #expect(error?.message.contains("together") == true)
      #expect(try await fixture.restored(.write(last)) == ReplicaFixture.notes(of: store))
    }
  }
#endif
