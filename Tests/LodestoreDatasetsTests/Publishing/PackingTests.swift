import LodestoreBytes

#if Datasets
  import Foundation
  import Testing

  @testable import LodestoreDatasets

  struct PackingTests {
    private func table(_ sample: SamplePublication) throws -> FrameTable {
      try sample.table.bytes._withBytes { try FrameTable(reading: $0, of: sample.manifest) }
    }

    @Test func `A table of frames that is read equals the written one`() throws {
      let sample = try SamplePublication(in: ScratchFolder())
      #expect(try table(sample) == sample.table)
      #expect(sample.table.frameCount == 3)
      #expect(sample.table.fileDigest == sample.manifest.digest)
      #expect(sample.table.compressedLength == UInt64(sample.compressed.count))
    }

    @Test(arguments: [1, 700, 65_536, 600_000, 10_000_000])
    func `Frames unpack from pieces of any size`(size: Int) throws {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder)
      try withNewFile(folder.file("unpacked")) { descriptor in
        let unpacker = try FrameUnpacker(table(sample), to: descriptor, path: "unpacked")
        // Single bytes for the last frame only: a debug build is slow.
        let start = size == 1 ? Int(sample.table.compressedOffset(of: 2)) : 0
        if start > 0 { try sample.compressed[..<start].taken(by: unpacker) }
        for begin in stride(from: start, to: sample.compressed.count, by: size) {
          let end = min(begin + size, sample.compressed.count)
          try sample.compressed[begin..<end].taken(by: unpacker)
        }
        try unpacker.finish()
      }
      #expect(try folder.read("unpacked") == sample.newer)
    }

    @Test func `Unpacking continues at the first frame that is missing or damaged`() throws {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder)
      let table = try table(sample)
      try withNewFile(folder.file("unpacked")) { descriptor in
        let first = try FrameUnpacker(table, to: descriptor, path: "unpacked")
        try sample.compressed[..<(sample.compressed.count - 1)].taken(by: first)
        #expect(first.completedFrames == 2)
        #expect(throws: DatasetError.self) { try first.finish() }
        #expect(
          try FrameUnpacker.completeFrames(in: descriptor, table: table, path: "unpacked") == 2)
        // One byte of the second frame is changed in the file, as by a fault of the disk.
        try withUnsafeBytes(of: 0 as UInt8) {
          try FileBytes.write(ByteView($0), to: descriptor, at: 600_000, path: "unpacked")
        }
        let count = try FrameUnpacker.completeFrames(in: descriptor, table: table, path: "unpacked")
        #expect(count == 1)
        let second = try FrameUnpacker(
          table, to: descriptor, path: "unpacked", skippingFrames: count)
        let offset = Int(second.compressedBytesOfCompletedFrames)
        try sample.compressed[offset...].taken(by: second)
        try second.finish()
      }
      #expect(try folder.read("unpacked") == sample.newer)
    }

    @Test func `Bytes of another frame, too many bytes and other tables are refused`() throws {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder)
      let other = try SamplePublication(in: ScratchFolder(), seed: 2)
      let table = try table(sample)
      try withNewFile(folder.file("unpacked")) { descriptor in
        let unpacker = try FrameUnpacker(table, to: descriptor, path: "unpacked")
        let error = #expect(throws: DatasetError.self) {
          try other.compressed[...].taken(by: unpacker)
        }
        #expect(error?.code == .damaged)
        #expect(unpacker.completedFrames == 0)
        let second = try FrameUnpacker(table, to: descriptor, path: "unpacked")
        let long = #expect(throws: DatasetError.self) {
          try (sample.compressed + [0])[...].taken(by: second)
        }
        #expect(long?.code == .damaged)
      }
      let error = #expect(throws: DatasetError.self) {
        try other.table.bytes._withBytes { try FrameTable(reading: $0, of: sample.manifest) }
      }
      #expect(error?.code == .damaged)
    }

    @Test func `A patch makes the newer file of the older one, byte for byte`() throws {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder)
      #expect(sample.patch.count < sample.newer.count / 50)
      let entry = try #require(sample.manifest.patches.first)
      try withNewFile(folder.file("patched")) { descriptor in
        try DatasetPatch.apply(
          folder.file("patch"), to: folder.file("older"), into: descriptor, at: "patched",
          as: entry, of: sample.manifest)
      }
      #expect(try folder.read("patched") == sample.newer)
    }

    @Test func `A patch is written and never mapped, so that a full disk is an error`() throws {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder)
      let entry = try #require(sample.manifest.patches.first)
      // The file is open only for writing, but a writable map needs a descriptor that may also
      // read.
      let output = folder.file("patched")
      let descriptor = open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      try DatasetPatch.apply(
        folder.file("patch"), to: folder.file("older"), into: descriptor, at: output, as: entry,
        of: sample.manifest)
      #expect(try folder.read("patched") == sample.newer)
    }

    @Test
    func `A patch is refused for another older file, and when its bytes are not the signed ones`()
      throws
    {
      let folder = try ScratchFolder()
      let sample = try SamplePublication(in: folder)
      let entry = try #require(sample.manifest.patches.first)
      var damaged = sample.patch
      damaged[damaged.count / 2] ^= 1
      try folder.write(damaged, to: "damaged")
      var older = sample.older
      older[5] ^= 1
      try folder.write(older, to: "other")
      try folder.write(older.dropLast(), to: "shorter")
      for (patch, old) in [
        ("damaged", "older"), ("older", "older"), ("patch", "other"), ("patch", "shorter"),
      ] {
        let error = #expect(throws: DatasetError.self) {
          try withNewFile(folder.file("patched")) { descriptor in
            try DatasetPatch.apply(
              folder.file(patch), to: folder.file(old), into: descriptor, at: "patched", as: entry,
              of: sample.manifest)
          }
        }
        #expect(error?.code == .damaged, "\(patch) of \(old)")
      }
    }
  }

  extension ArraySlice<UInt8> {
    /// Passes all bytes to an unpacker in one piece.
    func taken(by unpacker: FrameUnpacker) throws {
      try withUnsafeBytes { try unpacker.take(ByteView($0)) }
    }
  }
#endif
