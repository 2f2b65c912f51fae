package import LodestoreBytes
internal import LodestorePages

/// Unpacks a compressed generation into a file, frame by frame, from pieces of any size.
///
/// Each frame is checked against its digest before it is written. The unpacker holds one compressed
/// and one unpacked frame, 1 MiB together. After a failure, or in another process, a new unpacker
/// can continue at the first missing frame.
package final class FrameUnpacker {
  private let table: FrameTable
  private let descriptor: Int32?
  private let path: String
  private var pending: [UInt8] = []
  private let frame: MutableByteView
  private let decoder: ZstdDecoder

  /// The number of frames in the file, from its beginning.
  package private(set) var completedFrames: Int

  /// Begins after the frames that the file already has.
  ///
  /// - Parameters:
  ///   - descriptor: The file, open for writing; the caller keeps it open. If `nil`, frames are
  ///     only checked.
  ///   - path: The file's path, for messages.
  ///   - skippingFrames: The number of frames that the file already has, counted by
  ///     ``completeFrames(in:table:path:)``.
  package init(
    _ table: FrameTable, to descriptor: Int32?, path: String, skippingFrames: Int = 0
  ) throws(DatasetError) {
    precondition((0...table.frameCount).contains(skippingFrames))
    self.table = table
    self.descriptor = descriptor
    self.path = path
    completedFrames = skippingFrames
    decoder = try ZstdDecoder()
    frame = .allocate(byteCount: FrameTable.frameLength, alignment: 4_096)
  }

  deinit { frame.deallocate() }

  /// The offset in the compressed file at which the next frame begins.
  ///
  /// A download continues there.
  package var compressedBytesOfCompletedFrames: UInt64 {
    table.compressedOffset(of: completedFrames)
  }

  /// The offset in the compressed file of the next byte that ``take(_:)`` expects, after the
  /// partial frame that this object holds.
  package var takenBytes: UInt64 { compressedBytesOfCompletedFrames + UInt64(pending.count) }

  /// Takes the next bytes of the compressed file.
  ///
  /// - Throws: `DatasetError` with the code `damaged` if a frame does not unpack to the bytes of
  ///   its digest, or if there are more bytes than frames. All frames before this frame are in the
  ///   file, and the unpacker accepts no further bytes.
  package func take(_ bytes: ByteView) throws(DatasetError) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      guard completedFrames < table.frameCount else {
        throw .damagedFrames(
          found: table.compressedLength + UInt64(bytes.count), expected: table.compressedLength)
      }
      let length = table.compressedLength(of: completedFrames)
      if pending.isEmpty, bytes.count >= length {
        try unpack(bytes.prefix(length))
        bytes = bytes.dropFirst(length)
        continue
      }
      let piece = bytes.prefix(length - pending.count)
      pending += piece
      bytes = bytes.dropFirst(piece.count)
      guard pending.count == length else { return }
      try pending._withBytes { (bytes) throws(DatasetError) in try unpack(bytes) }
      pending.removeAll(keepingCapacity: true)
    }
  }

  /// Checks that all frames are in the file, and truncates the file after them.
  ///
  /// The caller syncs the file to the disk.
  package func finish() throws(DatasetError) {
    guard completedFrames == table.frameCount, pending.isEmpty else {
      throw .damagedFrames(
        found: compressedBytesOfCompletedFrames + UInt64(pending.count),
        expected: table.compressedLength)
    }
    if let descriptor { try FileBytes.cut(descriptor, to: table.fileLength, path: path) }
  }

  private func unpack(_ compressed: ByteView) throws(DatasetError) {
    let index = completedFrames
    let output = frame.prefix(table.length(of: index))
    if let reason = decoder.unpack(compressed, to: output) {
      throw .damagedFrame(index, of: table.frameCount, because: reason)
    }
    let bytes = ByteView(output)
    guard VerityTree.frameDigest(of: bytes) == table.digests[index] else {
      throw .damagedFrame(
        index, of: table.frameCount, because: "its bytes do not have the signed digest")
    }
    if let descriptor {
      try FileBytes.write(
        bytes, to: descriptor, at: UInt64(index) * UInt64(FrameTable.frameLength), path: path)
    }
    completedFrames = index + 1
  }

  /// Counts the frames at the beginning of a file that match their digests.
  ///
  /// Reads the file up to the first frame that is missing or has other bytes.
  package static func completeFrames(
    in descriptor: Int32, table: FrameTable, path: String
  ) throws(DatasetError) -> Int {
    let buffer = MutableByteView.allocate(byteCount: FrameTable.frameLength, alignment: 4_096)
    defer { buffer.deallocate() }
    for index in 0..<table.frameCount {
      let frame = buffer.prefix(table.length(of: index))
      let count = try FileBytes.read(
        into: frame, from: descriptor, at: UInt64(index) * UInt64(FrameTable.frameLength),
        path: path)
      guard count == frame.count,
        VerityTree.frameDigest(of: ByteView(frame)) == table.digests[index]
      else { return index }
    }
    return table.frameCount
  }
}
