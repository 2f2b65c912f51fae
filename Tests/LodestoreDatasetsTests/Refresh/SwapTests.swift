#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// Swaps under readers, and generations that this program cannot use.
  @Suite(.timeLimit(.minutes(30))) struct SwapTests {
    /// The number of swaps, by default 30.
    ///
    /// The variable `LODESTORE_SWAPS` sets it. A tenth as many snapshots are open meanwhile.
    private static let swaps =
      ProcessInfo.processInfo.environment["LODESTORE_SWAPS"].flatMap { Int($0) } ?? 30

    @Test
    func `Readers keep their generation through many swaps, and old files are gone in the end`()
      async throws
    {
      let folder = try ScratchFolder()
      let files = SpecGenerations(folder, count: 60)
      let dataset = try specDataset(folder, .none)
      let other = try specDataset(folder, .none)
      var held: [(generation: Int, store: Store, snapshot: PinnedSnapshot)] = []
      let isOver = Mutex(false)
      let reads = Mutex(0)
      try await dataset.install(fileAt: files.seal(1))
      // Another opening of the folder, as in another process, reads without a pause.
      let reader = Task {
        var last: UInt64 = 0
        while !isOver.withLock({ $0 }) {
          let generation = try other.current()
          try SpecGenerations.check(generation.store, is: Int(generation.number), count: 60)
          #expect(generation.number >= last)
          last = generation.number
          reads.withLock { $0 += 1 }
          await Task.yield()
        }
      }
      var numbers = SeededNumbers(4)
      for generation in 2...(Self.swaps + 1) {
        let path = try files.seal(generation)
        try await dataset.install(fileAt: path)
        try FileManager.default.removeItem(atPath: path)
        let current = try dataset.current()
        #expect(current.number == generation)
        held.append((generation, current.store, try current.store.snapshot()))
        if held.count > max(Self.swaps / 10, 10) {
          held.remove(at: Int.random(in: 0..<held.count, using: &numbers))
        }
        let kept = held[Int.random(in: 0..<held.count, using: &numbers)]
        let count = try await kept.snapshot.read { try $0.count(Spec.all) }
        #expect(count == 60)
        try SpecGenerations.check(kept.store, is: kept.generation, count: 60)
      }
      isOver.withLock { $0 = true }
      try await reader.value
      #expect(reads.withLock { $0 } > 0)
      held = []
      _ = try other.current()
      try await dataset.install(fileAt: files.seal(Self.swaps + 2))
      _ = try other.current()
      try await dataset.install(fileAt: files.seal(Self.swaps + 3))
      let left = dataset.content.folder.numbers
      #expect(left.count <= 2 && left.last == UInt64(Self.swaps + 3), "\(left)")
    }

    @Test func `A file of a published dataset is installed with its signed manifest only`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let origin = DatasetOrigin.published(
        at: URL(fileURLWithPath: published.path), trusting: published.keys)
      let dataset = try specDataset(folder, origin)
      let file = folder.file("sealed-1")
      let error = await #expect(throws: DatasetError.self) {
        try await dataset.install(fileAt: file)
      }
      #expect(error?.code == .untrusted && error?.message.contains("manifest.json") == true)
      try folder.write(folder.read("published/manifest.json"), to: "manifest.json")
      #expect(try await dataset.install(fileAt: file).number == 1)
      // The manifest belongs to another file than the installed one.
      try SpecGenerations(folder).seal(2)
      let wrong = await #expect(throws: DatasetError.self) {
        try await dataset.install(fileAt: folder.file("2.lodestore"))
      }
      #expect(wrong?.code == .damaged && wrong?.side == .file)
      let own = try await dataset.install(
        fileAt: folder.file("2.lodestore"), withoutSignature: true)
      #expect(own.number == 2)
    }

    /// The entity of another version of the program, which the files do not fit.
    private struct OtherSpec: Entity {
      var id = RecordID<OtherSpec>()
      var name: Int

      struct Attributes: Sendable {
        var id: Attribute<OtherSpec, RecordID<OtherSpec>> { .recordID }
        var name: Attribute<OtherSpec, Int> { .init(0) }
      }

      static var attributes: Attributes { Attributes() }

      static let schema = EntitySchema<OtherSpec>("Spec", attributes: [.init("name", \.name)])

      func encode(into writer: inout RecordWriter) { writer.write(name) }

      init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
    }

    @Test func `A generation that the program's entities do not fit waits for another program`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let origin = DatasetOrigin.published(at: try server.url("/"), trusting: published.keys)
      let old = try CachedDataset(
        SpecGenerations.name, in: folder.file("cache"), entities: [OtherSpec.self], origin: origin)
      let error = try await old.refreshError()
      #expect(error.code == .incompatibleSchema && error.side == .program, "\(error)")
      #expect(try old.status.generation == nil)
      let fetched = server.targets.filter { $0.hasSuffix(".zst") }.count
      // The later program can use the fetched generation without a connection.
      #expect(try specDataset(folder, .none).current().number == 1)
      let new = try specDataset(folder, origin)
      #expect(try await new.refresh(now: true).outcome == .current)
      try SpecGenerations.check(new.currentStore, is: 1)
      #expect(server.targets.filter { $0.hasSuffix(".zst") }.count == fetched)
      // The older program still reports that it cannot use the generation, and returns no wrong
      // data.
      let again = try #require(throws: DatasetError.self) { try old.current() }
      #expect(again.code == .incompatibleSchema)
    }

    @Test func `A schema that the program does not fit is fetched once, until the program changes`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      func publish(_ generation: Int) throws {
        let file = try SpecGenerations(folder).seal(generation, file: "sealed-\(generation)")
        let facts = try PublishedFacts(ofFileAt: file)
        _ = try DatasetPublisher(published.path, key: published.key).publish(file, facts)
      }
      try publish(1)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let origin = DatasetOrigin.published(at: try server.url("/"), trusting: published.keys)
      let old = try CachedDataset(
        SpecGenerations.name, in: folder.file("cache"), entities: [OtherSpec.self], origin: origin)
      #expect(try await old.refreshError().code == .incompatibleSchema)
      func fetched() -> Int {
        server.targets.filter { !$0.hasSuffix("manifest.json") && !$0.hasPrefix("/keys/") }.count
      }
      let first = fetched()
      #expect(first > 0)
      for generation in [2, 3] {
        try publish(generation)
        let error = try await old.refreshError()
        #expect(error.code == .incompatibleSchema && error.side == .program)
        #expect(error.message.contains("generation \(generation)"), "\(error)")
      }
      #expect(fetched() == first && old.content.folder.numbers == [1])
      // The state is written to the folder, so a later process refuses too.
      let later = try CachedDataset(
        SpecGenerations.name, in: folder.file("cache"), entities: [OtherSpec.self], origin: origin)
      #expect(try await later.refreshError().code == .incompatibleSchema)
      #expect(fetched() == first)
      // The next version of the program reads the stored generation, and fetches the newest.
      let new = try specDataset(folder, origin)
      #expect(try new.current().number == 1)
      #expect(try await new.refresh(now: true).generation == 3)
      try SpecGenerations.check(new.currentStore, is: 3)
    }

    @Test func `A file of a later format is not fetched`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let file = try SpecGenerations(folder).seal(1, file: "sealed-1")
      let read = try PublishedFacts(ofFileAt: file)
      let facts = PublishedFacts(
        name: read.name, generation: read.generation, dataAsOf: read.dataAsOf,
        sealedAt: read.sealedAt, schemaFingerprint: read.schemaFingerprint,
        contentDigest: read.contentDigest, formatVersion: 60_000, records: read.records)
      _ = try DatasetPublisher(published.path, key: published.key).publish(file, facts)
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys))
      let error = try await dataset.refreshError()
      #expect(error.code == .incompatibleSchema && error.message.contains("60000"), "\(error)")
      #expect(server.targets == ["/manifest.json"])
    }
  }
#endif
