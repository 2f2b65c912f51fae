import LodestoreBytes

/// The keys of a tree that keeps the order of what records lead to.
///
/// See Format.md, "Relationships".
package enum LinkOrderKey {
  /// The bytes of a key of either kind.
  package static let length = 17
  /// The highest position; the lowest is 1.
  package static let highestPosition: UInt64 = 1 << 63 - 1

  /// What a key says.
  package enum Content: Hashable, Sendable {
    /// `owner` leads to `other`; the body is its position.
    case link(owner: UInt64, other: UInt64)
    /// `owner` leads to something at `position`; the body is its id.
    case position(owner: UInt64, position: UInt64)
  }

  package static func link(_ owner: UInt64, _ other: UInt64) -> [UInt8] {
    bigEndianBytes(owner) + [0] + bigEndianBytes(other)
  }

  package static func position(_ owner: UInt64, _ position: UInt64) -> [UInt8] {
    bigEndianBytes(owner) + [1] + bigEndianBytes(position)
  }

  /// Whether `number` is a position: arithmetic on others may fail.
  package static func isPosition(_ number: UInt64) -> Bool {
    (1...highestPosition).contains(number)
  }

  /// What `key` says; `nil` for one of another form, or with a position that is none.
  package static func content(_ key: ByteView) -> Content? {
    guard key.count == length else { return nil }
    let owner = key.bigEndianUInt64(at: 0)
    let rest = key.bigEndianUInt64(at: 9)
    switch key[8] {
    case 0: return .link(owner: owner, other: rest)
    case 1: return isPosition(rest) ? .position(owner: owner, position: rest) : nil
    default: return nil
    }
  }
}
