#if Datasets
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreDatasets

  struct PublisherTests {
    @Test func `A folder that has lost its manifest continues with the next number`() throws {
      var sample = try SamplePublisher()
      for generation in 1...3 as ClosedRange<UInt64> { try sample.publish(generation) }
      let before = try sample.names(in: "g")
      try FileManager.default.removeItem(atPath: "\(sample.directory)/manifest.json")
      let error = #expect(throws: DatasetError.self) { try sample.publish(2) }
      #expect(error?.code == .notNewer)
      let report = try sample.publish(4)
      #expect(report.previousGeneration == 3)
      #expect(try Set(before).isSubset(of: sample.names(in: "g")))
      let manifest = try sample.manifest()
      #expect(manifest.generation == 4 && !manifest.patches.isEmpty)
    }

    @Test func `A generation that was the newest a minute ago stays, however old its files are`()
      throws
    {
      var publisher = try SamplePublisher()
      publisher.options.keptGenerations = 1
      try publisher.publish(1)
      let old = Date(timeIntervalSinceNow: -30 * 86_400)
      for part in ["g", "d"] {
        for name in try publisher.names(in: part) {
          try FileManager.default.setAttributes(
            [.modificationDate: old], ofItemAtPath: "\(publisher.directory)/\(part)/\(name)")
        }
      }
      #expect(try publisher.publish(2).removedFiles.isEmpty)
      #expect(
        try publisher.publish(3, now: Date(timeIntervalSinceNow: 8 * 86_400)).removedFiles.count
          >= 2)
    }

    @Test func `A publisher that is killed while it seals leaves no file to the next one`() throws {
      let publisher = try SamplePublisher()
      let path = Mutex("")
      #expect(throws: (any Error).self) {
        try DatasetPublisher(publisher.directory, key: publisher.key)
          .publishNext(name: "pods", generation: nil) { file, _, _ in
            path.withLock { $0 = file }
            // The state is as if the process ended here: another name of the same bytes stays.
            try Data([1]).write(to: URL(fileURLWithPath: file + "-sealing"))
            throw CancellationError()
          }
      }
      #expect(path.withLock { $0.hasPrefix(publisher.directory + "/.") })
      _ = try PublishedFolder(publisher.directory).removeTemporaries()
      #expect(!FileManager.default.fileExists(atPath: path.withLock { $0 } + "-sealing"))
    }

    @Test func `Whole generations and patches lead to the published bytes`() throws {
      var sample = try SamplePublisher()
      sample.options.patchCount = 2
      for generation in [3, 4, 5, 9] as [UInt64] { try sample.publish(generation) }
      let manifest = try sample.manifest()
      #expect(manifest.generation == 9)
      #expect(manifest.patches.map(\.from) == [5, 4])
      #expect(try sample.unpacked(manifest) == sample.bytes(of: 9))
      for patch in manifest.patches {
        #expect(try sample.patched(patch, manifest) == sample.bytes(of: 9))
        #expect(patch.length < manifest.whole.length / 20)
      }
      #expect(try sample.names(in: "").allSatisfy { !$0.hasPrefix(".") })
      #expect(try sample.names(in: "g").count == 8)
    }

    @Test func `A generation that is not newer is refused, and nothing changes`() throws {
      var sample = try SamplePublisher()
      try sample.publish(7)
      let before = try ScratchFolder.bytes(of: "\(sample.directory)/manifest.json")
      let names = try sample.names(in: "g")
      for generation in [7, 6] as [UInt64] {
        let error = #expect(throws: DatasetError.self) { try sample.publish(generation) }
        #expect(error?.code == .notNewer)
        #expect(error?.message.contains("from 8") == true)
      }
      #expect(try ScratchFolder.bytes(of: "\(sample.directory)/manifest.json") == before)
      #expect(try sample.names(in: "g") == names)
    }

    @Test func `Of two publishers at once one must wait`() throws {
      var sample = try SamplePublisher()
      let folder = try PublishedFolder(sample.directory)
      let error = #expect(throws: DatasetError.self) { try sample.publish(1) }
      #expect(error?.code == .busy)
      withExtendedLifetime(folder) {}
    }

    /// A second close of the same descriptor number would close another thread's file.
    @Test func `A publisher that must wait closes no file of another`() throws {
      let sample = try SamplePublisher()
      let folder = try PublishedFolder(sample.directory)
      let isOver = Atomic(false)
      let ended = DispatchSemaphore(value: 0)
      let lostCount = Atomic(0)
      Thread.detachNewThread {
        while !isOver.load(ordering: .acquiring) {
          let files = (0..<64).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
          for file in files where close(file) != 0 { lostCount.add(1, ordering: .relaxed) }
        }
        ended.signal()
      }
      for _ in 0..<3_000 {
        #expect(throws: DatasetError.self) { try PublishedFolder(sample.directory) }
      }
      isOver.store(true, ordering: .releasing)
      ended.wait()
      #expect(lostCount.load(ordering: .acquiring) == 0)
      withExtendedLifetime(folder) {}
    }

    @Test func `A key outside of the newest set, another name and a bad mirror are refused`() throws
    {
      var sample = try SamplePublisher()
      try sample.publish(1)
      let path = try sample.folder.write(sample.bytes(of: 2), to: "2.lodestore")
      let stranger = DatasetPublisher(sample.directory, key: try SigningKey())
      let publisher = DatasetPublisher(sample.directory, key: sample.key)
      var options = sample.options
      options.mirrors = ["https://mirror.example/pods"]
      let mirrored = DatasetPublisher(sample.directory, key: sample.key, options: options)
      let cases: [(DatasetError.Code, DatasetPublisher, PublishedFacts)] = [
        (.badKey, stranger, SamplePublisher.facts(2)),
        (.otherDataset, publisher, SamplePublisher.facts(2, name: "films")),
        (.malformed, publisher, SamplePublisher.facts(2, name: "../films")),
        (.malformed, mirrored, SamplePublisher.facts(2)),
        (.malformed, publisher, SamplePublisher.facts(1 << 60)),
      ]
      for (code, publisher, facts) in cases {
        let error = #expect(throws: DatasetError.self) { try publisher.publish(path, facts) }
        #expect(error?.code == code)
      }
      #expect(try sample.manifest().generation == 1)
    }

    @Test func `Files of old generations stay as long as the options set`()
      throws
    {
      var sample = try SamplePublisher()
      sample.options.keptGenerations = 2
      sample.options.keptFor = .seconds(3_600)
      sample.options.patchCount = 1
      let now = Date()
      for generation in 1...4 as ClosedRange<UInt64> { try sample.publish(generation, now: now) }
      #expect(try sample.names(in: "g").count == 8)
      let later = try sample.publish(5, now: now.addingTimeInterval(7_200))
      // The removed files are those of generations 1, 2 and 3: three whole files, three tables, and
      // the patches to 2 and 3.
      #expect(later.removedFiles.count == 8)
      #expect(try Set(sample.names(in: "g").map { $0.prefix(1) }) == ["4", "5"])
      #expect(try sample.names(in: "d").map { $0.prefix(3) } == ["3-4", "4-5"])
      let manifest = try sample.manifest()
      #expect(try sample.unpacked(manifest) == sample.bytes(of: 5))
    }

    @Test func `The next publisher removes the files of a killed one`() throws {
      var sample = try SamplePublisher()
      try sample.publish(1)
      let names = [
        "g/.123.publishing", ".9.publishing", "g/2-\(String(repeating: "0", count: 32)).verity",
        "g/2-\(String(repeating: "0", count: 32)).lodestore.zst",
        "d/1-2-\(String(repeating: "0", count: 32)).zst",
      ]
      for name in names { try sample.folder.write([1], to: "pods/\(name)") }
      try sample.folder.write([1], to: "pods/g/README")
      let report = try sample.publish(2)
      #expect(Set(report.removedFiles) == Set(names))
      #expect(FileManager.default.fileExists(atPath: "\(sample.directory)/g/README"))
      #expect(try sample.unpacked(sample.manifest()) == sample.bytes(of: 2))
    }

    @Test func `A damaged older generation costs its patch alone`() throws {
      var sample = try SamplePublisher()
      try sample.publish(1)
      let path = "\(sample.directory)/\(try sample.manifest().whole.path)"
      var bytes = try ScratchFolder.bytes(of: path)
      bytes[bytes.count / 2] ^= 1
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let report = try sample.publish(2)
      #expect(report.manifest.patches.isEmpty)
      #expect(report.skippedPatches.map(\.from) == [1])
    }

    @Test func `Keys rotate by a key of the previous set, and programs follow`() throws {
      var sample = try SamplePublisher()
      let carried = try sample.publish(1).trustedKeys
      let (offline, second) = (try SigningKey(), try SigningKey())
      let two = try KeyRotation(
        sample.directory, signer: sample.key, newKey: second, otherKeys: [offline.publicKey]
      ).run()
      #expect(two.keys == [second.publicKey, offline.publicKey])
      let manifest = try ScratchFolder.bytes(of: "\(sample.directory)/manifest.json")
      let old = #expect(throws: DatasetError.self) {
        try DatasetManifest(verifying: manifest, with: carried, name: "pods")
      }
      #expect(old?.message.contains("fetch keys/2.json") == true)
      let followed = try carried.followed(
        by: ScratchFolder.bytes(of: "\(sample.directory)/keys/2.json"), dataset: "pods")
      #expect(
        try DatasetManifest(verifying: manifest, with: followed, name: "pods").generation == 1)
      // The replaced key may not publish any more.
      let error = #expect(throws: DatasetError.self) { try sample.publish(2) }
      #expect(error?.code == .badKey)
      // The second key is lost, so the offline key signs the next set.
      let third = try SigningKey()
      try KeyRotation(sample.directory, signer: offline, newKey: third, otherKeys: []).run()
      let chain = try KeyChain(in: sample.directory, name: "pods")
      #expect(chain.links.map(\.isFollowing) == [false, true, true])
      // All keys are lost, so a new chain begins, and programs need the new keys.
      let fresh = try KeyRotation(
        sample.directory, signer: nil, newKey: try SigningKey(), otherKeys: []
      ).run()
      #expect(fresh.number == 4)
      #expect(try KeyChain(in: sample.directory, name: "pods").links.last?.isFollowing == false)
    }
  }
#endif
