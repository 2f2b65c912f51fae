/// The division of a file into the parts of one upload.
///
/// All parts but the last one have the same size. Services accept 10,000 parts of 5 MiB to 5 GiB,
/// and a last part of any size.
struct UploadParts: Sendable, Hashable {
  static let countLimit: UInt64 = 10_000
  static let sizeLimit: UInt64 = 5 << 30

  let byteCount: UInt64
  let partSize: UInt64

  /// Divides a file into parts of a wished size, or of a larger one if there were too many parts.
  ///
  /// - Returns: `nil` for an empty file, and for one that is larger than all parts together.
  init?(byteCount: UInt64, wishedSize: UInt64) {
    guard byteCount > 0, byteCount <= Self.countLimit * Self.sizeLimit else { return nil }
    let needed = (byteCount + Self.countLimit - 1) / Self.countLimit
    // Parts of whole mebibytes begin at the beginning of pages.
    let rounded = ((needed + (1 << 20) - 1) >> 20) << 20
    self.byteCount = byteCount
    partSize = min(needed <= wishedSize ? max(wishedSize, 1) : rounded, Self.sizeLimit)
  }

  var count: Int { Int((byteCount + partSize - 1) / partSize) }

  /// The positions in the file of a part, whose number counts from 1.
  func range(ofPart number: Int) -> Range<UInt64> {
    let start = UInt64(number - 1) * partSize
    return start..<min(start + partSize, byteCount)
  }
}
