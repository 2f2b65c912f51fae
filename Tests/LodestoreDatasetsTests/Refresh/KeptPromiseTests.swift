#if Datasets
  import EntityStore
  import Foundation
  import LoopbackWeb
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  /// Refreshes with outdated mirrors, removed folders, damaged states, and clocks that advance.
  @Suite(.timeLimit(.minutes(30))) struct KeptPromiseTests {
    /// An entity that the published datasets of specs do not have.
    private struct Note: Entity {
      var id = RecordID<Note>()
      var text: String

      static let schema = EntitySchema<Note>("Note", attributes: [.init("text", \.text)])

      func encode(into writer: inout RecordWriter) { writer.write(text) }

      init(from reader: inout RecordReader) throws(StoreError) { text = try reader.read() }
    }

    private func key(_ byte: UInt8) throws -> SigningKey {
      try SigningKey(seed: [UInt8](repeating: byte, count: 32))
    }

    private func origin(_ published: SpecPublication) -> DatasetOrigin {
      .published(at: URL(fileURLWithPath: published.path), trusting: published.keys)
    }

    // MARK: Mirrors

    @Test func `A mirror with an old manifest is detected even if it reports no change`()
      async throws
    {
      let folder = try ScratchFolder()
      let isDown = Mutex(false)
      let (old, new) = (try SpecPublication(folder, "old"), try SpecPublication(folder, "new"))
      try old.publish(1, in: folder)
      let (first, _) = try old.serving { isDown.withLock { $0 } ? Answer(503, []) : $1 }
      let (second, _) = try new.serving()
      defer {
        first.stop()
        second.stop()
      }
      let dataset = try specDataset(
        folder,
        .published(at: [try first.url("/"), try second.url("/")], trusting: old.keys))
      #expect(try await dataset.refresh().generation == 1)
      try new.publish(2, in: folder)
      isDown.withLock { $0 = true }
      #expect(try await dataset.refresh(now: true).generation == 2)
      try new.publish(3, in: folder)
      isDown.withLock { $0 = false }
      let report = try await dataset.refresh(now: true)
      #expect(report.generation == 3 && report.detours.count == 1, "\(report)")
    }

    @Test func `A generation without an entity of the program is fetched once`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      let files = SpecGenerations(folder)
      var options = DatasetPublisher.Options()
      options.compressionLevel = 1
      let publisher = DatasetPublisher(published.path, key: published.key, options: options)
      try publisher.publish(try files.seal(1))
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try CachedDataset(
        SpecGenerations.name, in: folder.file("cache"), entities: [Spec.self, Note.self],
        origin: .published(at: try server.url("/"), trusting: published.keys))
      let first = try await dataset.refreshError()
      #expect(first.code == .incompatibleSchema && first.message.contains("Note"), "\(first)")
      for generation in 2...3 {
        try publisher.publish(try files.seal(generation))
        let asked = server.targets.count
        #expect(try await dataset.refreshError().code == .incompatibleSchema)
        #expect(server.targets.dropFirst(asked) == ["/manifest.json"])
      }
      #expect(dataset.content.folder.numbers == [1])
    }

    @Test func `A patch whose file is too large for patching is not fetched`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder, count: 2_000)
      try published.publish(1, in: folder)
      try published.publish(2, in: folder)
      let sound = try DatasetManifest(
        verifying: folder.read("published/manifest.json"), with: published.keys, name: "specs")
      #expect(sound.patches.count == 1)
      let length = DatasetPatch.appliedLimit + 4_096
      let frames = DatasetManifest.FrameFile(
        name: sound.whole.frames.name, length: FrameTable.byteCount(of: length),
        sha256: sound.whole.frames.sha256)
      let whole = DatasetManifest.WholeFile(
        name: sound.whole.name, length: sound.whole.length, sha256: sound.whole.sha256,
        frames: frames)
      let long = DatasetManifest(
        name: sound.name, generation: sound.generation, dataAsOf: sound.dataAsOf,
        builtAt: sound.builtAt, publishedAt: sound.publishedAt, keySet: sound.keySet,
        length: length, digest: sound.digest,
        contentDigest: sound.contentDigest, schemaFingerprint: sound.schemaFingerprint,
        formatVersion: sound.formatVersion, records: sound.records, whole: whole,
        patches: sound.patches, mirrors: sound.mirrors)
      try folder.write(long.signed(by: [published.key]), to: "published/manifest.json")
      let (server, _) = try published.serving()
      defer { server.stop() }
      let dataset = try specDataset(
        folder, .published(at: try server.url("/"), trusting: published.keys),
        seed: folder.file("sealed-1"))
      _ = try await dataset.refreshError()
      #expect(server.targets.count > 1 && !server.targets.contains { $0.hasPrefix("/d/") })
    }

    @Test(arguments: ["patched", "lodestore", "frames"])
    func `A patch has a file of its own, whatever its name`(name: String) {
      let folder = DatasetFolder(path: "/cache")
      let others = ["patched", "lodestore", "frames", "lodestore.installing"]
      #expect(!others.map { "\(folder.incoming)/7.\($0)" }.contains(folder.patch(name, of: 7)))
    }

    // MARK: Keys

    @Test func `More key sets than one refresh follows are followed by the next refresh`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let dataset = try specDataset(folder, origin(published))
      try await dataset.refresh()
      var signer = published.key
      for number in 2...67 {
        let next = try key(UInt8(number + 20))
        let set = KeySet(
          name: SpecGenerations.name, number: number, createdAt: Date(), keys: [next.publicKey])
        try folder.write(set.signed(by: [signer]), to: "published/keys/\(number).json")
        signer = next
      }
      try published.publish(2, in: folder, key: signer)
      #expect(try await dataset.refreshError().code == .untrusted)
      #expect(try await dataset.refresh(now: true).generation == 2)
      // A file can be installed by a chain of keys of any length.
      try folder.write(folder.read("published/manifest.json"), to: "manifest.json")
      try FileManager.default.copyItem(
        atPath: folder.file("published/keys"), toPath: folder.file("keys"))
      let other = try specDataset(folder, origin(published), cache: "other")
      #expect(try await other.install(fileAt: folder.file("sealed-2")).number == 2)
    }

    @Test func `A loop over generations delivers other content under an unchanged number`()
      async throws
    {
      let folder = try ScratchFolder()
      let thief = try SpecPublication(folder, "thief", count: 400)
      try thief.publish(50, in: folder)
      let dataset = try specDataset(folder, origin(thief))
      try await dataset.refresh()
      var generations = dataset.generations.makeAsyncIterator()
      let stolen = try #require(await generations.next())
      #expect(try await stolen.store.count(Spec.all) == 400)
      try FileManager.default.removeItem(atPath: folder.file("sealed-50"))
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let set = KeySet(
        name: SpecGenerations.name, number: 2, createdAt: Date(), keys: [try key(1).publicKey])
      try folder.write(set.signed(by: [published.key]), to: "published/keys/2.json")
      try published.publish(50, in: folder, key: try key(1))
      let report = try await specDataset(folder, origin(published)).refresh(now: true)
      #expect(report.generation == 50 && report.outcome == .replaced)
      let next = try #require(await generations.next())
      #expect(next.number == 50)
      #expect(try await next.store.count(Spec.all) == 500)
    }

    // MARK: Numbers

    @Test func `Any generation is accepted for seven days after the highest was forgotten`()
      async throws
    {
      let folder = try ScratchFolder()
      let (new, old) = (try SpecPublication(folder, "new"), try SpecPublication(folder, "old"))
      try new.publish(5, in: folder)
      try old.publish(4, in: folder)
      let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
      func dataset(_ published: SpecPublication) throws -> CachedDataset {
        try specDataset(folder, origin(published)) { $0.clock = { time.withLock { $0 } } }
      }
      try await dataset(new).refresh()
      try await dataset(new).forgetHighest()
      // The publisher still offers the same generation, so nothing is fetched.
      #expect(try await dataset(new).refresh(now: true).outcome == .current)
      time.withLock { $0 += 7 * 86_400 }
      #expect(try await dataset(old).refreshError().code == .rolledBack)
      try await dataset(new).forgetHighest()
      time.withLock { $0 += 6 * 86_400 }
      #expect(try await dataset(old).refresh(now: true).generation == 4)
    }

    @Test func `A file without a signature belongs to no key set after the state was damaged`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let dataset = try specDataset(folder, origin(published))
      try await dataset.refresh()
      try await dataset.install(
        fileAt: SpecGenerations(folder).seal(999), withoutSignature: true)
      try folder.write([1, 2, 3], to: "cache/specs/dataset.json")
      let again = try specDataset(folder, origin(published))
      let current = try again.current()
      #expect(current.number == 999 && current.source == .file)
      try published.publish(2, in: folder)
      #expect(try await again.refresh(now: true).generation == 2)
    }

    // MARK: The folder

    @Test func `An open generation is served when its folder is removed`() async throws {
      let folder = try ScratchFolder()
      let files = SpecGenerations(folder)
      let dataset = try specDataset(folder, .none, seed: files.seal(1))
      try await dataset.install(fileAt: files.seal(5))
      try FileManager.default.removeItem(atPath: folder.file("cache"))
      let current = try dataset.current()
      #expect(current.number == 5 && current.unusable?.code == .notFound)
      try SpecGenerations.check(current.store, is: 5)
    }

    @Test func `A generation whose state cannot be written is not current`() async throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let state = folder.file("cache/specs/dataset.json")
      let isObstructed = Mutex(false)
      let dataset = try specDataset(folder, origin(published)) { options in
        options.onStep = { step in
          guard step == .checked, isObstructed.withLock({ $0 }) else { return }
          // Neither the state nor its replacement can be moved away.
          for (path, aside) in [(state, state + ".aside"), (state + ".damaged", nil)] {
            if let aside { try? FileManager.default.moveItem(atPath: path, toPath: aside) }
            try? FileManager.default.createDirectory(
              atPath: path + "/full", withIntermediateDirectories: true)
          }
        }
        // The program calls this closure after the failed write of the state and before it records
        // the failure.
        options.fraction = {
          if isObstructed.withLock({ $0 }) {
            try? FileManager.default.removeItem(atPath: state)
            try? FileManager.default.moveItem(atPath: state + ".aside", toPath: state)
          }
          return 1
        }
      }
      try await dataset.refresh()
      try published.publish(2, in: folder)
      isObstructed.withLock { $0 = true }
      _ = try await dataset.refreshError()
      isObstructed.withLock { $0 = false }
      #expect(try dataset.current().number == 1 && dataset.status.failureCount == 1)
      #expect(try specDataset(folder, .none).current().number == 1)
      // The file was already fetched, so it is not fetched again.
      let report = try await dataset.refresh(now: true)
      #expect(report.generation == 2 && dataset.content.folder.numbers == [2])
    }

    @Test func `The remains of a killed sealing are not published`() throws {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try folder.write([1, 2, 3], to: "published/.lodestore.abc.tmp")
      try published.publish(1, in: folder)
      #expect(!SystemFile.names(in: published.path).contains { $0.hasPrefix(".lodestore") })
    }

    // MARK: Callers

    @Test func `A read asks its origin once, however soon the origin answers`() async throws {
      let calls = Mutex(0)
      let dataset = try specDataset(
        try ScratchFolder(),
        .service { refresh in
          calls.withLock { $0 += 1 }
          try await refresh.store.write { tx in
            if try tx.count(Spec.all) == 0 {
              try tx.insert(SpecGenerations.specs(of: 1, count: 10))
            }
          }
        }
      ) {
        $0.freshFor = .zero
        $0.freshWait = .seconds(240)
      }
      try await dataset.refresh()
      for _ in 0..<100 { _ = try await dataset.read(.freshElseCache) }
      try await Task.sleep(for: .milliseconds(50))
      #expect(calls.withLock { $0 } == 101)
    }
  }
#endif
