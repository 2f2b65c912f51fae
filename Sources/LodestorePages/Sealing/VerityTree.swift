internal import CChecksum
import LodestoreBytes

/// The hash tree that Linux's fs-verity has of a file: SHA-256, blocks of 4,096 bytes, no salt.
///
/// Level 0 has the hash of each block of the file. The concatenated hashes of a level are the
/// blocks of the next level, until a level has one hash: the root. The last block of a level is
/// filled with zeros. A block has room for 128 hashes, so a hash of level 1 stands for a *frame*,
/// 512 KiB of the file. The file's digest is the SHA-256 of a descriptor with the file's length and
/// the root; `fsverity digest FILE` prints it. See the kernel's documentation, "fs-verity:
/// read-only file-based authenticity protection".
///
/// ``update(_:)`` adds bytes of the file to the tree, in order and in pieces of any size. The tree
/// holds one block of each level and the hashes of the frames.
package struct VerityTree: Sendable {
  /// The size of a block of the file and of the tree in bytes.
  package static let blockSize = 4_096
  /// The number of file bytes for which ``frameDigests`` has one hash.
  package static let frameSize = blockSize / SHA256Digest.size * blockSize

  /// The last bytes, which do not fill a block yet.
  private var rest: [UInt8] = []
  /// The hashes of each level that do not fill a block yet.
  private var pending: [[UInt8]] = [[]]
  /// The number of bytes added.
  package private(set) var byteCount: UInt64 = 0
  /// The hashes of level 1, one for each 512 KiB of the file.
  ///
  /// The last hash is added by ``finish()``.
  ///
  /// In fs-verity a file of one block has no level 1. In this list such a file has one hash.
  package private(set) var frameDigests: [[UInt8]] = []
  private var root: [UInt8]?

  package init() { rest.reserveCapacity(Self.blockSize) }

  /// Adds the next bytes of the file.
  package mutating func update(_ bytes: ByteView) {
    precondition(root == nil, "a verity tree that is finished takes no more bytes")
    byteCount += UInt64(bytes.count)
    var bytes = bytes[...]
    if !rest.isEmpty {
      let taken = bytes.prefix(Self.blockSize - rest.count)
      rest.append(contentsOf: taken)
      bytes = bytes.dropFirst(taken.count)
      guard rest.count == Self.blockSize else { return }
      rest._withBytes { addBlocks($0) }
      rest.removeAll(keepingCapacity: true)
    }
    let whole = bytes.prefix(bytes.count / Self.blockSize * Self.blockSize)
    addBlocks(whole)
    rest.append(contentsOf: bytes.dropFirst(whole.count))
  }

  /// Ends the file and returns the root of the tree: 32 zeros for an empty file.
  @discardableResult
  package mutating func finish() -> [UInt8] {
    if let root { return root }
    if !rest.isEmpty {
      rest += [UInt8](repeating: 0, count: Self.blockSize - rest.count)
      rest._withBytes { addBlocks($0) }
      rest = []
    }
    let found = foldLevels()
    root = found
    return found
  }

  /// The fs-verity digest of the file.
  ///
  /// Call ``finish()`` first.
  package var digest: [UInt8] {
    Self.fileDigest(ofRoot: root ?? Self.emptyRoot, byteCount: byteCount)
  }

  // MARK: Frames

  /// The digest of a file of `byteCount` bytes whose frames have these hashes.
  ///
  /// Returns `nil` if a file of that length has another number of frames, or if a hash does not
  /// have 32 bytes. Also returns `nil` for a file of at most one block, whose digest does not
  /// depend on frames. No input traps, so an untrusted list of frames may be compared with a signed
  /// digest.
  package static func digest(ofFrames frames: [[UInt8]], byteCount: UInt64) -> [UInt8]? {
    let frameSize = UInt64(frameSize)
    guard byteCount > UInt64(blockSize), frames.allSatisfy({ $0.count == SHA256Digest.size }),
      UInt64(frames.count) == (byteCount - 1) / frameSize + 1
    else { return nil }
    var tree = VerityTree()
    tree.pending = [[], []]
    for frame in frames { tree.add(frame, level: 1) }
    return fileDigest(ofRoot: tree.foldLevels(), byteCount: byteCount)
  }

  /// The level 1 hash of one frame: 512 KiB, or fewer at the end of a file.
  ///
  /// Ignores bytes beyond the first 512 KiB.
  package static func frameDigest(of bytes: ByteView) -> [UInt8] {
    var tree = VerityTree()
    tree.update(bytes.prefix(frameSize))
    tree.finish()
    return tree.frameDigests.first ?? emptyRoot
  }

  // MARK: The tree

  private static let emptyRoot = [UInt8](repeating: 0, count: SHA256Digest.size)

  /// Adds whole blocks of the file.
  private mutating func addBlocks(_ bytes: ByteView) {
    let batch = 64
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let blocks = bytes.prefix(batch * Self.blockSize)
      let count = blocks.count / Self.blockSize
      let hashes = [UInt8](unsafeUninitializedCapacity: count * SHA256Digest.size) { hashes, size in
        guard let start = hashes.baseAddress else { return }
        lodestore_sha256_of_blocks(blocks.baseAddress, Self.blockSize, count, start)
        size = count * SHA256Digest.size
      }
      addHashes(hashes)
      bytes = bytes.dropFirst(blocks.count)
    }
  }

  /// Adds hashes to level 0.
  private mutating func addHashes(_ hashes: [UInt8]) {
    var hashes = hashes[...]
    while !hashes.isEmpty {
      let taken = hashes.prefix(Self.blockSize - pending[0].count)
      pending[0] += taken
      hashes = hashes.dropFirst(taken.count)
      if pending[0].count == Self.blockSize { foldLevel(0) }
    }
  }

  private mutating func add(_ hash: [UInt8], level: Int) {
    if level == pending.count { pending.append([]) }
    pending[level] += hash
    if pending[level].count == Self.blockSize { foldLevel(level) }
  }

  /// Hashes the collected block of `level` and adds the hash to the next level.
  private mutating func foldLevel(_ level: Int) {
    pending[level] += [UInt8](repeating: 0, count: Self.blockSize - pending[level].count)
    let hash = pending[level]._withBytes { SHA256Digest.digest(of: $0) }
    pending[level].removeAll(keepingCapacity: true)
    if level == 0 { frameDigests.append(hash) }
    add(hash, level: level + 1)
  }

  /// Hashes the incomplete block of each level and returns the root.
  private mutating func foldLevels() -> [UInt8] {
    // In a file of one block the only leaf is the root.
    let leaf = byteCount > 0 && byteCount <= UInt64(Self.blockSize) ? pending[0] : nil
    var level = 0
    while level < pending.count {
      let isTop = level + 1 == pending.count
      if isTop, level > 0, pending[level].count == SHA256Digest.size { break }
      if !pending[level].isEmpty { foldLevel(level) }
      level += 1
    }
    return leaf ?? pending.last.flatMap { $0.isEmpty ? nil : $0 } ?? Self.emptyRoot
  }

  /// The SHA-256 of the descriptor, 256 bytes (Linux: struct fsverity_descriptor).
  private static func fileDigest(ofRoot root: [UInt8], byteCount: UInt64) -> [UInt8] {
    // The fields are: version 1, SHA-256, blocks of 2^12 bytes, no salt, four unused bytes.
    var descriptor: [UInt8] = [1, 1, 12, 0, 0, 0, 0, 0]
    withUnsafeBytes(of: byteCount.littleEndian) { descriptor += $0 }
    descriptor += root
    descriptor += [UInt8](repeating: 0, count: 256 - descriptor.count)
    return descriptor._withBytes { SHA256Digest.digest(of: $0) }
  }
}
