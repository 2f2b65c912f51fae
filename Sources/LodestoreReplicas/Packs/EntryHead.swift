package import LodestoreFormat

/// The head of an entry of a replica's log.
///
/// See Format.md, "Replicas".
package struct EntryHead: Sendable, Hashable {
  /// The kind of an entry; the raw value is the text in the head.
  package enum Kind: String, Sendable, CaseIterable {
    /// The entry has the changes of writes.
    case pack
    /// A new writer has taken over with a higher epoch.
    case fence
    /// The log continues from a base, because the schema has changed or the history has a gap.
    case base
    /// The entry changes nothing.
    case empty
  }

  /// A part of changes that do not fit one entry.
  package struct Part: Sendable, Hashable {
    /// The number of the part, from 1.
    package var number: UInt64
    /// Whether the next entry has more of the same writes.
    package var continues: Bool

    package static let whole = Part(number: 1, continues: false)

    package init(number: UInt64, continues: Bool) {
      self.number = number
      self.continues = continues
    }
  }

  /// The slots whose net changes an entry of the folder `merged` has.
  package struct Merged: Sendable, Hashable {
    package var firstSlot: UInt64
    /// The SHA-256 of the log's entry at the last slot.
    package var lastEntry: [UInt8]

    package init(firstSlot: UInt64, lastEntry: [UInt8]) {
      self.firstSlot = firstSlot
      self.lastEntry = lastEntry
    }
  }

  package var kind: Kind
  package var epoch: UInt64
  /// The entry's slot; of merged slots the last one.
  package var slot: UInt64
  /// The SHA-256 of the entry before; `nil` only in slot 1.
  package var previous: [UInt8]?
  /// The UUID in `replica.json`.
  package var store: UUIDBytes
  /// 16 random bytes that each opening of a writer draws.
  ///
  /// Without them, two machines with copies of one store could make equal bytes for one slot. Each
  /// machine would then find its own bytes in the slot, and report its writes as replicated.
  package var session: UUIDBytes
  /// The number of the first write in the body; `nil` unless this is a pack.
  package var firstWrite: UInt64?
  /// The number of the last write of the log up to this entry.
  package var lastWrite: UInt64
  /// The time of the last write, in seconds since 2001-01-01T00:00:00Z.
  package var time: Double
  /// The ``SchemaFingerprint`` of the catalogue after the entry; 32 bytes.
  package var schema: [UInt8]
  /// The digests after the entry, by the keys of the tree `digests`; none if `part.continues`.
  package var digests: [[UInt8]: ContentDigest]
  package var part = Part.whole
  package var merged: Merged?
  /// The name of the base with which the log continues; only in entries of the kind `base`.
  package var base: ReplicaName?
  /// A text that tells people which machine has written the entry.
  package var writer: String?
  /// The number of changed records and links in the body.
  package internal(set) var changeCount: UInt64 = 0
  /// The number of steps in the body.
  package internal(set) var stepCount: UInt64 = 0
  /// The size of all blocks of the body after unpacking.
  package internal(set) var unpackedLength: UInt64 = 0

  package init(
    _ kind: Kind, epoch: UInt64, slot: UInt64, previous: [UInt8]?, store: UUIDBytes,
    session: UUIDBytes, firstWrite: UInt64? = nil, lastWrite: UInt64, time: Double, schema: [UInt8],
    digests: [[UInt8]: ContentDigest] = [:]
  ) {
    self.kind = kind
    self.epoch = epoch
    self.slot = slot
    self.previous = previous
    self.store = store
    self.session = session
    self.firstWrite = firstWrite
    self.lastWrite = lastWrite
    self.time = time
    self.schema = schema
    self.digests = digests
  }
}
