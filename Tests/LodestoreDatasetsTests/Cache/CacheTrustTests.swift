#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  /// A folder keeps keys and generation numbers.
  ///
  /// These tests cover the programs for which they count, and how damaged ones are restored.
  @Suite(.timeLimit(.minutes(30))) struct CacheTrustTests {
    private func key(_ byte: UInt8) throws -> SigningKey {
      try SigningKey(seed: [UInt8](repeating: byte, count: 32))
    }

    private func origin(_ published: SpecPublication) -> DatasetOrigin {
      .published(at: URL(fileURLWithPath: published.path), trusting: published.keys)
    }

    /// Signs a second key set by the first key.
    private func rotate(
      to key: SigningKey, _ published: SpecPublication, _ folder: ScratchFolder
    ) throws {
      let set = KeySet(
        name: SpecGenerations.name, number: 2, createdAt: Date(), keys: [key.publicKey])
      try FileManager.default.createDirectory(
        atPath: published.path + "/keys", withIntermediateDirectories: true)
      try Data(set.signed(by: [published.key])).write(
        to: URL(fileURLWithPath: published.path + "/keys/2.json"))
    }

    @Test func `A chain holds for the keys that it began at, and a new key set begins a new chain`()
      throws
    {
      let first = try TrustedKeys("1:\(key(9).publicKey)")
      let stolen = try TrustedKeys("7:\(key(1).publicKey)")
      let renewed = try TrustedKeys("2:\(key(2).publicKey)")
      var trust = CacheTrust()
      trust.keep(stolen, from: first, generation: 1 << 53 - 1)
      #expect(trust.keys(from: first) == stolen && trust.highestSeen(from: first) == 1 << 53 - 1)
      #expect(trust.keys(from: renewed) == renewed && trust.highestSeen(from: renewed) == 0)
      trust.keep(renewed, from: renewed, generation: 44)
      #expect(trust.keys(from: first) == stolen && trust.highestSeen(from: renewed) == 44)
      var state = CacheState(name: "specs")
      state.trust = trust
      #expect(try CacheState(state.bytes).trust == trust)
    }

    @Test func `A file is installed by the keys that a refresh has followed, not by replaced ones`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let dataset = try specDataset(folder, origin(published))
      try await dataset.refresh()
      try rotate(to: key(1), published, folder)
      try published.publish(2, in: folder, key: key(1))
      try await dataset.refresh(now: true)
      // The manifest is signed by a thief of the first key.
      let thief = try SpecPublication(folder, "thief")
      try thief.publish(3, in: folder)
      try folder.write(folder.read("thief/manifest.json"), to: "manifest.json")
      let error = await #expect(throws: DatasetError.self) {
        try await dataset.install(fileAt: folder.file("sealed-3"))
      }
      #expect(error?.code == .untrusted, "\(String(describing: error))")
      // A damaged state must not make any program trust the replaced key again.
      for damaged in ["dataset.json", "trust.json"] {
        try folder.write([1, 2, 3], to: "cache/specs/\(damaged)")
        let again = try specDataset(folder, origin(published))
        await #expect(throws: DatasetError.self) {
          try await again.install(fileAt: folder.file("sealed-3"))
        }
        #expect(try again.status.highestSeen == 2)
        try await again.refresh(now: true)
      }
      // A program with the newest keys does not need the files of the key chain.
      try published.publish(4, in: folder, key: key(1))
      try folder.write(folder.read("published/manifest.json"), to: "manifest.json")
      #expect(try await dataset.install(fileAt: folder.file("sealed-4")).number == 4)
    }

    @Test func `A file without a signature does not block the publisher's next generation`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(1, in: folder)
      let dataset = try specDataset(folder, origin(published))
      try await dataset.refresh()
      let test = try SpecGenerations(folder).seal(999)
      try await dataset.install(fileAt: test, withoutSignature: true)
      #expect(try await dataset.refresh(now: true).outcome == .current)
      #expect(try dataset.current().number == 999)
      try published.publish(2, in: folder)
      #expect(try await dataset.refresh(now: true).generation == 2)
      try SpecGenerations.check(dataset.currentStore, is: 2)
    }

    @Test func `A generation of a stolen key does not block those of the next key set`()
      async throws
    {
      let folder = try ScratchFolder()
      let thief = try SpecPublication(folder, "thief")
      try thief.publish(1_000_000, in: folder)
      let dataset = try specDataset(folder, origin(thief))
      try await dataset.refresh()
      let published = try SpecPublication(folder)
      try published.publish(5, in: folder)
      let rolled = try await specDataset(folder, origin(published)).refreshError()
      #expect(rolled.code == .rolledBack)
      try rotate(to: key(1), published, folder)
      try published.publish(6, in: folder, key: key(1))
      #expect(try await specDataset(folder, origin(published)).refresh(now: true).generation == 6)
      #expect(try dataset.current().number == 6)
      #expect(dataset.content.folder.numbers.contains(6))
    }

    @Test func `The highest generation is forgotten on demand`() async throws {
      let folder = try ScratchFolder()
      let wrong = try SpecPublication(folder, "wrong")
      try wrong.publish(5, in: folder)
      try await specDataset(folder, origin(wrong)).refresh()
      let published = try SpecPublication(folder)
      try published.publish(4, in: folder)
      let dataset = try specDataset(folder, origin(published))
      #expect(try await dataset.refreshError().code == .rolledBack)
      try await dataset.forgetHighest()
      #expect(try dataset.current().number == 5)
      #expect(try await dataset.refresh(now: true).generation == 4)
      try SpecGenerations.check(dataset.currentStore, is: 4)
      #expect(try dataset.status.highestSeen == 4)
    }

    @Test func `A generation below the seed, or with its number and other bytes, is refused`()
      async throws
    {
      let folder = try ScratchFolder()
      let published = try SpecPublication(folder)
      try published.publish(5, in: folder)
      try await specDataset(folder, origin(published)).refresh()
      try published.publish(7, in: folder)
      let seed = try SpecGenerations(folder).seal(10)
      let dataset = try specDataset(folder, origin(published), seed: seed)
      let error = try await dataset.refreshError()
      #expect(error.code == .rolledBack && error.message.contains("generation 10"), "\(error)")
      let other = try SpecPublication(folder, "other", count: 400)
      try other.publish(10, in: folder)
      let rewritten = try await specDataset(folder, origin(other), seed: seed).refreshError()
      #expect(rewritten.code == .mixedGenerations, "\(rewritten)")
      // The damaged state lost the digest of the downloaded file, so the digest is calculated
      // again.
      let changed = try SpecPublication(folder, "changed", count: 300)
      try FileManager.default.removeItem(atPath: folder.file("sealed-5"))
      try changed.publish(5, in: folder)
      try folder.write([1, 2, 3], to: "cache/specs/dataset.json")
      let rebuilt = try await specDataset(folder, origin(changed)).refreshError()
      #expect(rebuilt.code == .mixedGenerations, "\(rebuilt)")
    }
  }
#endif
