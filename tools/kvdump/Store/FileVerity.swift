import LodestoreBytes
import LodestorePages

/// The fs-verity digest of a file.
enum FileVerity {
  private static let pieceSize = 1 << 20

  static func digest(ofFileAt path: String) throws -> [UInt8] {
    let file = try PageFile(path: path)
    var tree = VerityTree()
    let buffer = MutableByteView.allocate(byteCount: pieceSize, alignment: 16)
    defer { buffer.deallocate() }
    var offset = 0
    while true {
      let count = try file.read(into: buffer, at: offset)
      tree.update(ByteView(buffer[..<count]))
      offset += count
      if count < buffer.count { break }
    }
    tree.finish()
    return tree.digest
  }
}
