import LodestoreBytes
import LodestoreSystem

/// The pages of a file that is written from start to end.
///
/// The pages go into the file and into a verity tree, one frame at a time. The first two pages are
/// not known before the end, and are zeros until ``end(_:)``.
struct PageOutput {
  let pageSize: Int
  private let descriptor: Int32
  private var verity = VerityTree()
  /// Bytes that are not yet in the file.
  private var buffer: [UInt8] = []
  /// The first frame.
  ///
  /// Its first two pages are filled in at the end.
  private var firstFrame: [UInt8] = []
  private var written = 0
  /// The number of the next page.
  private(set) var next: UInt64 = 0

  init(descriptor: Int32, pageSize: Int) throws(PageWriteError) {
    self.descriptor = descriptor
    self.pageSize = pageSize
    buffer.reserveCapacity(VerityTree.frameSize + pageSize)
    try add([UInt8](repeating: 0, count: 2 * pageSize))
  }

  /// Adds whole pages.
  mutating func add(_ pages: [UInt8]) throws(PageWriteError) {
    try pages._withBytes { (bytes) throws(PageWriteError) in try add(bytes) }
  }

  /// Adds bytes, and zeros up to the end of the last page.
  mutating func add(
    _ first: ByteView = ByteView(),
    _ second: ByteView = ByteView()
  ) throws(PageWriteError) {
    try append(first)
    try append(second)
    let count = first.count + second.count
    let pages = (count + pageSize - 1) / pageSize
    buffer.append(contentsOf: repeatElement(0, count: pages * pageSize - count))
    next += UInt64(pages)
    if buffer.count >= VerityTree.frameSize { try flush() }
  }

  private mutating func append(_ bytes: ByteView) throws(PageWriteError) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let piece = bytes.prefix(VerityTree.frameSize)
      buffer.append(contentsOf: piece)
      bytes = bytes.dropFirst(piece.count)
      if buffer.count >= VerityTree.frameSize { try flush() }
    }
  }

  private mutating func flush() throws(PageWriteError) {
    let (descriptor, offset) = (descriptor, written)
    try buffer._withBytes { (bytes) throws(PageWriteError) in
      verity.update(bytes)
      try Self.write(bytes, at: offset, to: descriptor)
    }
    written += buffer.count
    firstFrame += buffer.prefix(VerityTree.frameSize - firstFrame.count)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Writes the first two pages and returns the hashes of the file's frames.
  mutating func end(_ firstPages: [UInt8]) throws(PageWriteError) -> [[UInt8]] {
    try flush()
    verity.finish()
    let descriptor = descriptor
    try firstPages._withBytes { (bytes) throws(PageWriteError) in
      try Self.write(bytes, at: 0, to: descriptor)
    }
    // The first frame was hashed with zeros in place of these pages.
    firstFrame.replaceSubrange(0..<firstPages.count, with: firstPages)
    var frames = verity.frameDigests
    frames[0] = firstFrame._withBytes { VerityTree.frameDigest(of: $0) }
    return frames
  }

  private static func write(
    _ bytes: ByteView, at offset: Int, to descriptor: Int32
  ) throws(PageWriteError) {
    let code = bytes.writeAll(to: descriptor, at: offset)
    guard code == 0 else { throw .system(code: code) }
  }
}
