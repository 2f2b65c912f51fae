import LodestoreBytes

/// The sum of one 128-bit number for each pair of a tree, modulo 2^128.
///
/// See Format.md, "Digests". The order of the pairs does not matter, so a writer adds the pairs it
/// puts and subtracts the pairs it removes.
package struct ContentDigest: Hashable, Sendable {
  private var low: UInt64
  private var high: UInt64

  /// The number of bytes of a stored digest.
  package static let size = 16

  /// The digest of a tree without pairs.
  @inline(__always)
  package init() { (low, high) = (0, 0) }

  /// The number of one pair: the two 128-bit products that Format.md describes.
  @inline(__always)
  private init(mixing first: UInt64, _ second: UInt64) {
    let outer = (first ^ 0xa409_3822_299f_31d0).multipliedFullWidth(
      by: second ^ 0xbe54_66cf_34e9_0c6c)
    let inner = (outer.low ^ 0xc0ac_29b7_c97c_50dd).multipliedFullWidth(
      by: outer.high ^ 0x3f84_d5b5_b547_0917)
    low = inner.low ^ outer.high
    high = inner.high ^ outer.low
  }

  /// The number of a record, from its id and the checksum at its end.
  @inline(__always)
  init(record id: UInt64, checksum: UInt32) { self.init(mixing: id, UInt64(checksum)) }

  /// The number of a link from the record `id` of side `from` to the record `other` of side `to`.
  @inline(__always)
  package init(linkFrom id: UInt64, to other: UInt64) { self.init(mixing: id, other) }

  /// The number of a pair whose body begins with a checksum.
  package init(key: ByteView, checksum: UInt32) {
    var sum = Checksum()
    sum.combine(key)
    self.init(mixing: UInt64(sum.value), UInt64(checksum))
  }

  /// The number of one pair of a tree with a digest; `nil` if the pair does not have the tree's
  /// form.
  package init?(of content: DigestedContent, key: ByteView, body: ByteView) {
    switch content {
    case .records:
      guard key.count == 8, body.count >= RecordLayout.headerSize + RecordLayout.checksumSize else {
        return nil
      }
      self.init(record: key.uint64(at: 0), checksum: body.recordChecksum)
    case .links:
      guard let id = KeyDecoder.leadingID(key), let other = KeyDecoder.recordIDSuffix(key),
        key.count == KeyDecoder.lengthOfLeadingID(key) + 8
      else { return nil }
      self.init(linkFrom: id, to: other)
    case .buckets:
      guard body.count >= 4 else { return nil }
      self.init(key: key, checksum: body.uint32(at: 0))
    }
  }

  @inline(__always)
  package static func += (sum: inout ContentDigest, other: ContentDigest) {
    let (low, overflow) = sum.low.addingReportingOverflow(other.low)
    sum.low = low
    sum.high = sum.high &+ other.high &+ (overflow ? 1 : 0)
  }

  @inline(__always)
  package static func -= (sum: inout ContentDigest, other: ContentDigest) {
    let (low, overflow) = sum.low.subtractingReportingOverflow(other.low)
    sum.low = low
    sum.high = sum.high &- other.high &- (overflow ? 1 : 0)
  }

  // MARK: Records

  /// Adds a record, given the checksum at its end.
  package mutating func add(record id: UInt64, checksum: UInt32) {
    self += ContentDigest(record: id, checksum: checksum)
  }

  /// Subtracts a record, given the checksum it had.
  package mutating func remove(record id: UInt64, checksum: UInt32) {
    self -= ContentDigest(record: id, checksum: checksum)
  }

  /// Replaces the number of a record whose bytes changed.
  package mutating func replace(record id: UInt64, checksum old: UInt32, by new: UInt32) {
    self -= ContentDigest(record: id, checksum: old)
    self += ContentDigest(record: id, checksum: new)
  }

  // MARK: The file

  package var bytes: [UInt8] { littleEndianBytes(low) + littleEndianBytes(high) }

  /// Reads a stored digest; `nil` if it does not have ``size`` bytes.
  package init?(bytes: ByteView) {
    guard bytes.count == Self.size else { return nil }
    low = bytes.uint64(at: 0)
    high = bytes.uint64(at: 8)
  }
}

extension ContentDigest: CustomStringConvertible {
  /// The digest as 32 hexadecimal digits, most significant first.
  package var description: String { hex(high) + hex(low) }
}

/// The content that one digest covers; a key of the tree `digests`.
///
/// See Format.md, "Digests".
package enum DigestedContent: Hashable, Sendable {
  case records(entity: EntityNumber)
  case links(relationship: UInt32)
  case buckets

  package var key: [UInt8] {
    switch self {
    case .records(let entity): [1] + bigEndianBytes(entity.rawValue)
    case .links(let relationship): [2] + bigEndianBytes(relationship)
    case .buckets: [3]
    }
  }

  /// Decodes a key of the tree `digests`; `nil` for an unknown form.
  package init?(key: ByteView) {
    switch (key.first, key.count) {
    case (1, 5): self = .records(entity: EntityNumber(key.bigEndianUInt32(at: 1)))
    case (2, 5): self = .links(relationship: key.bigEndianUInt32(at: 1))
    case (3, 1): self = .buckets
    default: return nil
    }
  }

  /// The content of a tree; `nil` for a tree without a digest.
  ///
  /// The two trees of a relationship hold the same links, so only the tree of side `from` has a
  /// digest.
  package init?(of tree: TreeName) {
    switch tree {
    case .records(let entity): self = .records(entity: entity)
    case .links(let relationship, .from): self = .links(relationship: relationship)
    case .buckets: self = .buckets
    default: return nil
    }
  }
}

extension ByteView {
  /// The checksum at the end of a record, which must have at least six bytes.
  @inline(__always)
  package var recordChecksum: UInt32 { uint32(at: count &- RecordLayout.checksumSize) }
}
