internal import LMDB
internal import LodestoreBytes

/// The part of a sorted run in a scratch file that is in memory.
struct RunWindow: ~Copyable {
  private let file: ScratchFile
  private var bytes: OwnedBytes
  /// The part of the run that has not been read from the file.
  private var left: Range<Int>
  /// The part of ``bytes`` that has been read from the file and not yet passed by ``pass(_:)``.
  private var range = 0..<0

  /// Creates a window at the beginning of a run.
  ///
  /// - Parameter size: the number of bytes read at a time; more if an entry is longer.
  init(_ run: Range<Int>, size: Int, in file: ScratchFile) {
    self.file = file
    left = run
    bytes = OwnedBytes(byteCount: size, alignment: 16)
  }

  /// The bytes that have been read, but not passed; valid until the next call of ``has(_:)``.
  @inline(__always)
  var unread: ByteView { ByteView(bytes.view)[range] }

  @inline(__always)
  mutating func pass(_ count: Int) { range = range.lowerBound + count..<range.upperBound }

  /// Reads at least `count` bytes that have not been passed; returns false if the run has fewer.
  @inline(__always)
  mutating func has(_ count: Int) throws(LMDBError) -> Bool {
    if range.count >= count { return true }
    return try fill(count)
  }

  @inline(never)
  private mutating func fill(_ count: Int) throws(LMDBError) -> Bool {
    guard range.count + left.count >= count else { return false }
    let kept = range.count
    if count > bytes.count {
      let larger = OwnedBytes(byteCount: count, alignment: 16)
      larger.view.copyMemory(from: unread)
      bytes = larger
    } else if let start = bytes.view.baseAddress {
      start.copyMemory(from: start + range.lowerBound, byteCount: kept)
    }
    let added = min(left.count, bytes.count - kept)
    try file.read(
      at: left.lowerBound, into: bytes.view[kept..<kept + added])
    left = left.lowerBound + added..<left.upperBound
    range = 0..<kept + added
    return true
  }
}
