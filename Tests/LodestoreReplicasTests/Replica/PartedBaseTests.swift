#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Bases that are uploaded in parts to real servers.
  @Suite("Bases of replicas in parts", .serialized)
  struct PartedBaseTests {
    private static let size = 1_024

    @Test(arguments: StorageServer.Product.trusted)
    func `A base in parts is restored and followed as it was written`(
      on product: StorageServer.Product
    ) async throws {
      guard let server = try StorageServer(product) else { return }
      defer { withExtendedLifetime(server) {} }
      let storage = try server.storage("pods") {
        ($0.partsThreshold, $0.partSize) = (5 << 20, 5 << 20)
      }
      let fixture = try ReplicaFixture(ReplicaStorage(storage))
      let store = try fixture.store()
      // Bytes that zstd cannot make shorter.
      var random = SeededRandom(seed: 3)
      let words = (0..<12 << 17).map { _ in random.next() }
      let bytes = words.withUnsafeBytes { Data($0) }
      try await store.write { try $0.put(bytes, for: "large", in: "files") }
      try ReplicaFixture.write(1...5, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      let listed = try await storage.list(prefix: "base/", after: nil, limit: 100)
      let file = try #require(listed.entries.last { $0.key.hasSuffix(".zst") })
      #expect(file.head.byteCount > 10 << 20)
      #expect(writer.status.traffic.writes >= 8)
      #expect(writer.status.traffic.bytesSent > file.head.byteCount)
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      let follower = try await fixture.follower()
      try await follower.catchUp()
      try await ReplicaFixture.end(follower, equalTo: store)
      try await writer.stop()
      try ReplicaFixture.end(store)
    }

    /// `LODESTORE_LARGE_MEBIBYTES` is the size of the file.
    @Test(.enabled(if: ReplicaProcess.program != nil))
    func `The memory of uploads and downloads does not grow with the file`() async throws {
      guard let server = try StorageServer(.seaweed) else { return }
      defer { withExtendedLifetime(server) {} }
      let environment = ProcessInfo.processInfo.environment["LODESTORE_LARGE_MEBIBYTES"]
      let size = (environment.flatMap { UInt64($0) } ?? 192) << 20
      let folder = try StorageFolder()
      let path = try folder.write([], to: "large")
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try file.truncate(atOffset: size)
      try file.close()
      let words = [
        ["upload", path, server.address("pods"), "base/1"],
        ["download", "base/1", server.address("pods")],
      ]
      for words in words {
        let outcome = try await ReplicaProcess.outcome(of: words)
        let (count, memory) = try #require(outcome.place, "\(outcome.line ?? "killed")")
        #expect(count == size)
        #expect(memory < 128 << 10, "\(words[0]): \(memory) KiB")
        if environment != nil { print("\(words[0]): \(size >> 20) MiB, at most \(memory) KiB") }
      }
    }

    @Test(.enabled(if: ReplicaProcess.program != nil), arguments: [1, 2])
    func `An upload killed after a part leaves no object`(count: Int) async throws {
      guard let server = try StorageServer(.seaweed) else { return }
      defer { withExtendedLifetime(server) {} }
      let storage = try server.storage("pods")
      let folder = try StorageFolder()
      let path = try folder.write([UInt8](repeating: 7, count: 12 << 20), to: "large")
      let words = ["upload", path, server.address("pods"), "base/1"]
      let variables = ["LODESTORE_PART_SIZE": "\(5 << 20)"]
      let died = try await ReplicaProcess.outcome(of: words + ["part", "\(count)"], variables)
      #expect(died.line == nil, "\(died.line ?? "")")
      #expect(try await storage.list(prefix: "base/", after: nil, limit: 9).entries == [])
      #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(86_400)) == 0)
      #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(-60)) == 1)
      let again = try await ReplicaProcess.outcome(of: words, variables)
      #expect(again.place?.slot == 12 << 20)
    }

    /// The server moto takes parts of all sizes.
    ///
    /// A busy machine may take a second for each of its answers, so there are few writes.
    @Test(.enabled(if: ReplicaProcess.program != nil), arguments: [1, 2, 4])
    func `A writer killed within a base in parts leaves no object, and continues`(
      count: Int
    ) async throws {
      guard let server = try StorageServer(.moto) else { return }
      defer { withExtendedLifetime(server) {} }
      let storage = try server.storage("pods")
      let fixture = try ReplicaFixture(ReplicaStorage(storage))
      let words = ["write", fixture.path("store.lodestore"), server.address("pods")]
      let variables = ["LODESTORE_PART_SIZE": "\(Self.size)"]
      let died = try await ReplicaProcess.outcome(
        of: words + ["1", "8", "part", "\(count)"], variables)
      #expect(died.line == nil, "\(died.line ?? "")")
      let listed = try await storage.list(prefix: "base/", after: nil, limit: 100)
      for entry in listed.entries where entry.key.hasSuffix(".zst") {
        // A base exists whole, with its parts, or not at all.
        let head = entry.key.replacing(".lodestore.zst", with: ".json")
        #expect(listed.entries.contains { $0.key == head }, "\(entry.key)")
      }
      try await fixture.expectReplicated(atLeast: died.acknowledged)
      // The killed writer has left an upload, which is removed after its time.
      #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(-60)) == 1)
      let again = try await ReplicaProcess.outcome(
        of: words + ["\(died.acknowledged + 1)", "10"], variables)
      #expect(again.place?.write == 10, "\(again.line ?? "killed")")
      #expect(try await storage.endOldWrites(prefix: "base/", olderThan: .seconds(-60)) == 0)
      let store = try fixture.store()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }
  }
#endif
