import LodestoreBytes

#if Datasets
  import Foundation
  import LodestorePages
  import Testing

  @testable import LodestoreDatasets

  /// Damaged files of a publisher are refused with an error, or the damage changes nothing.
  ///
  /// No input ends the process. `LODESTORE_CASES=20000` makes the soak.
  struct PublishedDamageTests {
    /// Changes bytes, cuts the end off, doubles or removes a piece, or puts in bytes of `other`.
    private func damaged(
      _ bytes: [UInt8], _ other: [UInt8], _ numbers: inout SeededNumbers
    ) -> [UInt8] {
      var bytes = bytes
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        guard !bytes.isEmpty else { break }
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        let end = min(place + Int.random(in: 1...24, using: &numbers), bytes.count)
        switch Int.random(in: 0..<7, using: &numbers) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case 1: bytes[place] = UInt8.random(in: .min ... .max, using: &numbers)
        case 2: bytes.removeSubrange(place...)
        case 3: bytes.removeSubrange(place..<end)
        case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 5: bytes.insert(contentsOf: [UInt8](repeating: 0xFF, count: 8), at: place)
        default:
          let from = Int.random(in: 0..<other.count, using: &numbers)
          bytes.replaceSubrange(place..<end, with: other[from..<min(from + 24, other.count)])
        }
      }
      return bytes
    }

    @Test func `Damaged manifests are refused, or read as they were signed`() throws {
      let sample = try SamplePublication.shared()
      let key = try SigningKey(seed: [UInt8](repeating: 3, count: 32))
      let other = try sample.manifest.signed(by: [key])
      var numbers = SeededNumbers(11)
      var refused = 0
      let count = caseCount(byDefault: 2_000)
      for number in 0..<count {
        let bytes = damaged(sample.signed, other, &numbers)
        do throws(DatasetError) {
          let read = try DatasetManifest(
            verifying: bytes, with: sample.keys, name: SamplePublication.name)
          #expect(read == sample.manifest, "case \(number)")
        } catch {
          refused += 1
          #expect(!error.message.isEmpty)
        }
      }
      // The remaining damage is in white space or in members without a meaning.
      #expect(refused > count * 8 / 10)
    }

    @Test func `Damaged payloads under a valid signature are refused, or within all bounds`() throws
    {
      let sample = try SamplePublication.shared()
      let payload = sample.manifest.payload
      var numbers = SeededNumbers(12)
      for _ in 0..<caseCount(byDefault: 2_000) {
        let bytes = damaged(payload, Array("{\"name\":\"..\"}9999999999999999".utf8), &numbers)
        guard let read = try? DatasetManifest(payload: bytes) else { continue }
        #expect(PublishedNames.isFileName(read.whole.name))
        #expect(PublishedNames.isFileName(read.whole.frames.name))
        #expect(read.patches.allSatisfy { PublishedNames.isFileName($0.name) })
        #expect(read.patches.allSatisfy { $0.from < read.generation })
        #expect(read.whole.length <= FrameTable.compressedLimit(of: read.length))
        #expect(read.length <= PublishedNames.lengthLimit)
      }
    }

    @Test func `Damaged key sets are refused, or hold the signed keys`() throws {
      let (first, second) = (
        try SigningKey(seed: [UInt8](repeating: 1, count: 32)),
        try SigningKey(seed: [UInt8](repeating: 2, count: 32))
      )
      let set = KeySet(
        name: "pods", number: 2, createdAt: Date(timeIntervalSinceReferenceDate: 8e8),
        keys: [second.publicKey])
      let good = try set.signed(by: [first])
      let other = try set.signed(by: [second])
      let carried = try TrustedKeys("1:\(first.publicKey)")
      var numbers = SeededNumbers(13)
      for number in 0..<caseCount(byDefault: 2_000) {
        let bytes = damaged(good, other, &numbers)
        if let read = try? carried.followed(by: bytes, dataset: "pods") {
          #expect(read == TrustedKeys(set), "case \(number)")
        }
        let text = String(
          decoding: damaged(Array("\(carried)".utf8), good, &numbers), as: UTF8.self)
        if let keys = try? TrustedKeys(text) { #expect(try TrustedKeys(keys.description) == keys) }
      }
    }

    @Test func `Damaged tables of frames are refused`() throws {
      let sample = try SamplePublication.shared()
      let good = sample.table.bytes
      var numbers = SeededNumbers(14)
      for _ in 0..<caseCount(byDefault: 2_000) {
        let bytes = damaged(good, good.reversed(), &numbers)
        if let table = try? bytes._withBytes({
          try FrameTable(reading: $0, of: sample.manifest)
        }
        ) {
          #expect(bytes == good)
          #expect(table == sample.table)
        }
        // Without the signature, a table that can be read must at least be consistent in itself.
        let read = try? bytes._withBytes { try FrameTable(reading: $0, named: "table") }
        if let read {
          #expect(read.bytes == bytes)
          #expect(read.length(of: read.frameCount - 1) > 0)
        }
      }
    }

    @Test func `Damaged frames never reach the file`() throws {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder, length: 530_000)
      let path = folder.file("unpacked")
      var numbers = SeededNumbers(15)
      try withNewFile(path) { descriptor in
        for number in 0..<caseCount(byDefault: 100) {
          let bytes = damaged(sample.compressed, sample.patch, &numbers)
          let unpacker = try FrameUnpacker(sample.table, to: descriptor, path: path)
          do {
            try bytes[...].taken(by: unpacker)
            try unpacker.finish()
            #expect(try folder.read("unpacked") == sample.newer, "case \(number)")
          } catch {
            #expect((error as? DatasetError)?.code == .damaged)
          }
        }
      }
    }

    @Test func `Damaged patches never become the file, with a digest that fits them or not`() throws
    {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder, length: 200_000)
      let entry = try #require(sample.manifest.patches.first)
      var numbers = SeededNumbers(16)
      try withNewFile(folder.file("patched")) { descriptor in
        for number in 0..<caseCount(byDefault: 100) {
          let bytes = damaged(sample.patch, sample.compressed, &numbers)
          guard !bytes.isEmpty else { continue }
          try folder.write(bytes, to: "damaged")
          // A publisher that signs a damaged patch passes the first check, of the patch's hash.
          let signed = DatasetManifest.PatchFile(
            from: 41, fromDigest: entry.fromDigest, fromLength: entry.fromLength, name: entry.name,
            length: UInt64(bytes.count), sha256: try SamplePublication.sha256(bytes))
          for entry in [entry, signed] {
            do {
              try DatasetPatch.apply(
                folder.file("damaged"), to: folder.file("older"), into: descriptor, at: "patched",
                as: entry, of: sample.manifest)
              #expect(try folder.read("patched") == sample.newer, "case \(number)")
            } catch {
              #expect((error as? DatasetError)?.code == .damaged)
            }
          }
        }
      }
    }
  }
#endif
