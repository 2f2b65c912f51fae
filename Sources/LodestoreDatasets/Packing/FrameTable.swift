package import LodestoreBytes
internal import LodestorePages

/// The frames of a compressed generation: the length of each, and the digest of its unpacked bytes.
///
/// A frame is an independent zstd frame of 512 KiB of the sealed file; the last one has the
/// remaining bytes. The frames are contiguous, so `zstd -d` unpacks the file. The digest of a frame
/// is its hash in level 1 of the fs-verity tree, so all digests together give the digest of the
/// file.
///
/// The table is the file `g/NAME.verity`; see Format.md, "Published datasets".
package struct FrameTable: Sendable, Hashable {
  /// The number of bytes of the sealed file in each frame but the last.
  package static let frameLength = 512 << 10
  /// The first eight bytes of the file.
  static let magic = Array("LDFRAMES".utf8)
  static let version: UInt32 = 1
  static let headerLength = 32
  static let entryLength = 36

  /// The sealed file's length in bytes.
  package let fileLength: UInt64
  /// The digest of each frame.
  package let digests: [[UInt8]]
  /// The offset of each frame in the compressed file, then the compressed file's length.
  private let offsets: [UInt64]

  /// Makes the table of packed frames.
  init(fileLength: UInt64, digests: [[UInt8]], compressedLengths: [Int]) {
    self.fileLength = fileLength
    self.digests = digests
    var offsets: [UInt64] = [0]
    for length in compressedLengths { offsets.append((offsets.last ?? 0) + UInt64(length)) }
    self.offsets = offsets
  }

  package var frameCount: Int { digests.count }
  /// The compressed file's length in bytes.
  package var compressedLength: UInt64 { offsets.last ?? 0 }

  /// The offset of a frame in the compressed file; for ``frameCount``, the end of the file.
  package func compressedOffset(of frame: Int) -> UInt64 { offsets[frame] }

  package func compressedLength(of frame: Int) -> Int { Int(offsets[frame + 1] - offsets[frame]) }

  /// The number of bytes that a frame unpacks to.
  package func length(of frame: Int) -> Int {
    let start = UInt64(frame) * UInt64(Self.frameLength)
    return Int(min(fileLength - start, UInt64(Self.frameLength)))
  }

  // MARK: Limits of the table

  /// The minimum size of a file with frames.
  ///
  /// The fs-verity tree of a file of one block has no level 1.
  static let lowestFileLength: UInt64 = 4_097

  static func frameCount(of fileLength: UInt64) -> UInt64 {
    fileLength / UInt64(frameLength) + (fileLength % UInt64(frameLength) == 0 ? 0 : 1)
  }

  /// The length of the table's file.
  package static func byteCount(of fileLength: UInt64) -> UInt64 {
    UInt64(headerLength) + frameCount(of: fileLength) * UInt64(entryLength)
  }

  /// The maximum size of a compressed frame in bytes: zstd's bound for incompressible bytes, and
  /// some room.
  static let compressedFrameLimit = frameLength + frameLength / 64

  /// The maximum size of a compressed file.
  static func compressedLimit(of fileLength: UInt64) -> UInt64 {
    frameCount(of: fileLength) * UInt64(compressedFrameLimit)
  }
}

// MARK: - The file

extension FrameTable {
  /// Reads the table that a manifest names.
  ///
  /// - Throws: `DatasetError` with the code `damaged` if the bytes do not have the signed digest,
  ///   or if the digests of the frames do not give the digest of the file.
  package init(reading bytes: ByteView, of manifest: DatasetManifest) throws(DatasetError) {
    let entry = manifest.whole.frames
    guard UInt64(bytes.count) == entry.length else {
      throw .damagedFile(
        entry.name, because: "it has \(bytes.count) bytes, expected \(entry.length)")
    }
    guard SHA256Digest.digest(of: bytes) == entry.sha256.bytes else {
      throw .damagedFile(entry.name, because: "its SHA-256 is not the signed one")
    }
    try self.init(reading: bytes, named: entry.name)
    guard fileLength == manifest.length, compressedLength == manifest.whole.length,
      fileDigest == manifest.digest
    else { throw .damagedFile(entry.name, because: "its frames are not those of the signed file") }
  }

  /// Reads a table and trusts its digests.
  package init(reading bytes: ByteView, named name: String) throws(DatasetError) {
    guard bytes.count >= Self.headerLength, bytes.prefix(8).elementsEqual(Self.magic) else {
      throw .damagedFile(name, because: "it is no table of frames")
    }
    let number = { (offset: Int) -> UInt32 in
      UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
    guard number(8) == Self.version else {
      throw DatasetError.Code.newerFormat.error(
        "cannot read '\(name)': it has version \(number(8)), and this library knows version "
          + "\(Self.version); update the program")
    }
    let length = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    guard number(12) == UInt32(Self.frameLength), length >= Self.lowestFileLength,
      length <= PublishedNames.lengthLimit, number(28) == 0,
      UInt64(number(24)) == Self.frameCount(of: length),
      UInt64(bytes.count) == Self.byteCount(of: length)
    else { throw .damagedFile(name, because: "its numbers do not fit each other") }
    var digests: [[UInt8]] = []
    var lengths: [Int] = []
    for frame in 0..<Int(number(24)) {
      let start = Self.headerLength + frame * Self.entryLength
      digests.append(Array(bytes[start..<start + 32]))
      let length = Int(number(start + 32))
      guard length > 0, length <= Self.compressedFrameLimit else {
        throw .damagedFile(name, because: "frame \(frame + 1) has \(length) bytes")
      }
      lengths.append(length)
    }
    self.init(fileLength: length, digests: digests, compressedLengths: lengths)
  }

  /// The content of the table's file.
  package var bytes: [UInt8] {
    var bytes = Self.magic
    bytes.reserveCapacity(Self.headerLength + frameCount * Self.entryLength)
    let append = { (number: UInt32) in withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
    append(Self.version)
    append(UInt32(Self.frameLength))
    withUnsafeBytes(of: fileLength.littleEndian) { bytes += $0 }
    append(UInt32(frameCount))
    append(0)
    for frame in 0..<frameCount {
      bytes += digests[frame]
      append(UInt32(compressedLength(of: frame)))
    }
    return bytes
  }

  /// The fs-verity digest of the file with these frames.
  package var fileDigest: FileDigest? {
    VerityTree.digest(ofFrames: digests, byteCount: fileLength).flatMap(FileDigest.init(bytes:))
  }
}
