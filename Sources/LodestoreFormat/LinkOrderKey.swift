import LodestoreBytes

/// The keys of a tree that stores the order of a record's links.
///
/// See Format.md, "Relationships".
package enum LinkOrderKey {
  /// The number of bytes of either kind of key.
  package static let length = 17
  /// The highest position.
  ///
  /// The lowest is 1.
  package static let highestPosition: UInt64 = 1 << 63 - 1

  /// The meaning of a key.
  package enum Content: Hashable, Sendable {
    /// A link from `owner` to `other`. The body is the link's position.
    case link(owner: UInt64, other: UInt64)
    /// The link of `owner` at `position`. The body is the id of the linked record.
    case position(owner: UInt64, position: UInt64)
  }

  package static func link(_ owner: UInt64, _ other: UInt64) -> [UInt8] {
    bigEndianBytes(owner) + [0] + bigEndianBytes(other)
  }

  package static func position(_ owner: UInt64, _ position: UInt64) -> [UInt8] {
    bigEndianBytes(owner) + [1] + bigEndianBytes(position)
  }

  /// Whether `number` is a valid position.
  ///
  /// Arithmetic on other numbers may overflow.
  package static func isPosition(_ number: UInt64) -> Bool {
    (1...highestPosition).contains(number)
  }

  /// Decodes `key`; `nil` if its form or position is invalid.
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
