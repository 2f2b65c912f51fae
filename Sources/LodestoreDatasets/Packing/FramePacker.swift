internal import LodestoreBytes
internal import LodestorePages

/// Compresses a sealed file into independent frames of 512 KiB, one after the other.
package enum FramePacker {
  /// The table of the written frames, and the SHA-256 of the compressed file.
  package struct Result: Sendable {
    package let table: FrameTable
    package let sha256: [UInt8]
  }

  /// Compresses the file at `path` into an open, empty file.
  ///
  /// The digests of the frames are calculated from the bytes that were compressed. The caller
  /// compares ``FrameTable/fileDigest`` with the file's digest, to detect a change of the file
  /// during the compression.
  package static func pack(
    _ file: MappedBytes, to descriptor: Int32, at output: String, level: Int
  ) throws(DatasetError) -> Result {
    let bytes = ByteView(file.bytes)
    let encoder = try ZstdEncoder(level: level)
    let buffer = MutableByteView.allocate(
      byteCount: ZstdEncoder.limit(of: FrameTable.frameLength), alignment: 16)
    defer { buffer.deallocate() }
    var digests: [[UInt8]] = []
    var lengths: [Int] = []
    var hash = SHA256Digest()
    var offset: UInt64 = 0
    for start in stride(from: 0, to: bytes.count, by: FrameTable.frameLength) {
      let end = min(start + FrameTable.frameLength, bytes.count)
      let frame = bytes[start..<end]
      guard let count = try encoder.pack(frame, to: buffer) else { continue }
      let packed = ByteView(buffer.prefix(count))
      try FileBytes.write(packed, to: descriptor, at: offset, path: output)
      hash.update(packed)
      digests.append(VerityTree.frameDigest(of: frame))
      lengths.append(count)
      offset += UInt64(count)
    }
    let table = FrameTable(
      fileLength: UInt64(bytes.count), digests: digests, compressedLengths: lengths)
    return Result(table: table, sha256: hash.finalize())
  }
}
