import LodestoreBytes

/// The keys of the tree `history`.
///
/// See Format.md, "History".
package enum HistoryKey: Sendable, Hashable {
  /// A part of a write.
  case part(write: UInt64, part: UInt32)
  /// A record as it was before a write changed or deleted it.
  case image(entity: EntityNumber, id: UInt64, write: UInt64)
  /// The preserved values of a deleted record.
  case tombstone(entity: EntityNumber, id: UInt64, write: UInt64)
  /// The position up to which a consumer has read.
  case consumer(String)
  /// The position up to which the history has been purged.
  case purged

  package static let longestConsumerName = 64

  package var bytes: [UInt8] {
    switch self {
    case .part(let write, let part): [1] + bigEndianBytes(write) + bigEndianBytes(part)
    case .image(let entity, let id, let write):
      [2] + bigEndianBytes(entity.rawValue) + bigEndianBytes(id) + bigEndianBytes(write)
    case .tombstone(let entity, let id, let write):
      [3] + bigEndianBytes(entity.rawValue) + bigEndianBytes(id) + bigEndianBytes(write)
    case .consumer(let name): [4] + Array(name.utf8)
    case .purged: [5]
    }
  }

  /// The number of the write; `nil` for a position mark.
  package var write: UInt64? {
    switch self {
    case .part(let number, _), .image(_, _, let number), .tombstone(_, _, let number): number
    case .consumer, .purged: nil
    }
  }

  /// Returns this key with the number of another write.
  package func with(write: UInt64) -> HistoryKey {
    switch self {
    case .part(_, let part): .part(write: write, part: part)
    case .image(let entity, let id, _): .image(entity: entity, id: id, write: write)
    case .tombstone(let entity, let id, _):
      .tombstone(entity: entity, id: id, write: write)
    case .consumer, .purged: self
    }
  }

  /// The prefix of the keys of all images, the records before a change.
  ///
  /// The prefix is also the first key after the parts.
  package static let images: [UInt8] = [2]
  package static let consumers: [UInt8] = [4]

  /// The highest allowed number of a write.
  ///
  /// The number after it still fits an integer.
  package static let lastWrite = UInt64(1 << 62)

  /// Decodes a key; `nil` for a form that this version does not know.
  package init?(_ bytes: ByteView) {
    guard let kind = bytes.first else { return nil }
    func word(_ offset: Int) -> UInt64 { bytes.bigEndianUInt64(at: offset) }
    switch (kind, bytes.count) {
    case (1, 13) where word(1) <= Self.lastWrite:
      self = .part(write: word(1), part: bytes.bigEndianUInt32(at: 9))
    case (2, 21), (3, 21):
      guard word(5) < 1 << 63, word(13) <= Self.lastWrite else { return nil }
      let entity = EntityNumber(bytes.bigEndianUInt32(at: 1))
      self =
        kind == 2
        ? .image(entity: entity, id: word(5), write: word(13))
        : .tombstone(entity: entity, id: word(5), write: word(13))
    case (4, 2...(Self.longestConsumerName + 1)):
      guard let name = String(validating: bytes.dropFirst(), as: UTF8.self) else { return nil }
      self = .consumer(name)
    case (5, 1): self = .purged
    default: return nil
    }
  }
}
