import Foundation
import LodestoreBytes
import LodestorePages
import Testing

@Suite("The verity tree")
struct VerityTreeTests {
  private static let block = VerityTree.blockSize
  private static let frame = VerityTree.frameSize

  /// Sizes around the limits of blocks and frames, and sizes whose tree has a third level.
  private static let sizes = [
    0, 1, 4_095, block, block + 1, 2 * block, 127 * block, frame - 1, frame, frame + 1,
    frame + block, 2 * frame, 3 * frame - 5, 128 * frame, 128 * frame + 1,
  ]

  /// Bytes that repeat after 9,973, so that no two of the first blocks are equal.
  private static func bytes(_ count: Int) -> [UInt8] {
    var word: UInt32 = 0x9e37_79b9
    let period: [UInt8] = (0..<9_973).map { _ in
      word = word &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: word >> 24)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + period.count)
    while bytes.count < count { bytes += period }
    return Array(bytes.prefix(count))
  }

  private static func tree(of bytes: [UInt8]) -> VerityTree {
    var tree = VerityTree()
    bytes._withBytes { tree.update($0) }
    tree.finish()
    return tree
  }

  @Test func `a verity tree has the digest that fsverity calculates`() throws {
    guard let tool = FSVerityTool.path else { return }
    let folder = try StoreFolder()
    for size in Self.sizes {
      let bytes = Self.bytes(size)
      let path = folder.path + "/file"
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      #expect(
        Self.tree(of: bytes).digest.hexadecimal == (try FSVerityTool.digest(of: path, by: tool)),
        "\(size) bytes")
    }
  }

  /// The expected digests were printed by `fsverity digest`, so the test also works if that program
  /// is not installed.
  @Test(arguments: [
    (0, "3d248ca542a24fc62d1c43b916eae5016878e2533c88238480b26128a1f1af95"),
    (4_096, "16170d7017c7c7468e2616600cd4eac349ea032492009fe2b55710c3da8d9b66"),
    (1_048_577, "8e811e0ac9ef377a6db00bff62abb4c04670ccbfe0c29f90a5bb2056f66f3e40"),
  ])
  func `a verity tree has the recorded digest of fsverity`(size: Int, digest: String) {
    #expect(Self.tree(of: Self.bytes(size)).digest.hexadecimal == digest)
  }

  @Test func `a verity tree has one digest for all divisions of the bytes into pieces`() {
    var random = DamageGenerator(seed: 46)
    let bytes = Self.bytes(Self.frame + 3 * Self.block + 17)
    let whole = Self.tree(of: bytes)
    for most in [1_000, 5_000, 20_000, Self.frame] {
      var tree = VerityTree()
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 0...most, using: &random))
        piece._withBytes { tree.update($0) }
        rest = rest.dropFirst(piece.count)
      }
      tree.finish()
      #expect(tree.digest == whole.digest)
      #expect(tree.frameDigests == whole.frameDigests)
    }
  }

  @Test func `a verity tree has its digest again from the hashes of its frames`() throws {
    for size in Self.sizes {
      let bytes = Self.bytes(size)
      let tree = Self.tree(of: bytes)
      let found = VerityTree.digest(ofFrames: tree.frameDigests, byteCount: tree.byteCount)
      #expect(found == (size > Self.block ? tree.digest : nil), "\(size) bytes")
      let frames = stride(from: 0, to: size, by: Self.frame).map { start in
        bytes[start..<min(start + Self.frame, size)]._withBytes {
          VerityTree.frameDigest(of: $0)
        }
      }
      #expect(frames == tree.frameDigests, "\(size) bytes")
    }
  }

  @Test func `a verity tree refuses hashes of frames that do not fit the length of the file`() {
    let tree = Self.tree(of: Self.bytes(2 * Self.frame))
    let frames = tree.frameDigests
    let count = UInt64(2 * Self.frame)
    #expect(VerityTree.digest(ofFrames: frames, byteCount: count) == tree.digest)
    #expect(VerityTree.digest(ofFrames: frames, byteCount: count + 1) == nil)
    #expect(VerityTree.digest(ofFrames: frames, byteCount: 0) == nil)
    #expect(VerityTree.digest(ofFrames: frames, byteCount: .max) == nil)
    #expect(VerityTree.digest(ofFrames: [frames[0]], byteCount: count) == nil)
    #expect(VerityTree.digest(ofFrames: [frames[0], []], byteCount: count) == nil)
    #expect(VerityTree.digest(ofFrames: [], byteCount: count) == nil)
    #expect(
      VerityTree.digest(ofFrames: frames.reversed(), byteCount: count).map { $0 != tree.digest }
        == true)
  }
}
