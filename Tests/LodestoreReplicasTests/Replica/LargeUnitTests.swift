#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Changes that are too large for the memory of a follower.
  @Suite("Large changes of replicas", .timeLimit(.minutes(30)))
  struct LargeUnitTests {
    @Test func `Writes beyond the limits of a unit are sent as their net changes`() async throws {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      var writer = try await fixture.writer(store)
      try ReplicaFixture.write(1...3, to: store)
      try await writer.stop()
      // These writes wait for a storage that is away.
      try ReplicaFixture.write(4...60, to: store)
      writer = try await fixture.writer(store) { $0.unitLimits.steps = 20 }
      try await writer.flush()
      #expect(writer.status.baseSlot == 1)
      let follower = try await fixture.follower()
      try await follower.catchUp()
      try ReplicaFixture.write(61...65, to: store)
      try await writer.flush()
      try await follower.catchUp()
      #expect(follower.status.replacements == 0)
      let whole = try await fixture.restored()
      #expect(try whole == ReplicaFixture.notes(of: store))
      let error = await #expect(throws: ReplicaError.self) {
        try await fixture.restored(.write(30))
      }
      #expect(error?.code == .notKept)
      // Changes that are too large even together are sent as a base.
      try ReplicaFixture.write(66...90, to: store)
      try await writer.stop()
      try ReplicaFixture.write(91...120, to: store)
      writer = try await fixture.writer(store) { $0.unitLimits.unpackedBytes = 1 }
      try await writer.flush()
      try await follower.catchUp()
      #expect(follower.status.replacements > 0)
      try await writer.stop()
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }
  }
#endif
