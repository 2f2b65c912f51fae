/// The kinds of entries in a slot of the log.
enum EntryKind: UInt8, Sendable {
  /// The entry holds steps of writes.
  case pack = 1
  /// The entry begins a new epoch and holds no steps.
  case fence = 2
  /// The entry sends its readers to the base of its slot: the schema has changed.
  case base = 3
  /// The entry holds neither steps nor a new epoch.
  case empty = 4
}

/// The SHA-256 of an entry's bytes, as four big-endian words.
struct EntryDigest: Hashable, Sendable {
  var words: (UInt64, UInt64, UInt64, UInt64)

  /// The digest that the entry of slot 1 names as the one before it.
  static let zero = EntryDigest(words: (0, 0, 0, 0))

  static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// A UUID, or 16 random bytes, as two big-endian words.
struct ReplicaIdentity: Hashable, Sendable {
  var high: UInt64
  var low: UInt64
}

/// The part of an entry's head that the protocol reads.
struct EntryHead: Hashable, Sendable {
  var kind: EntryKind
  /// The epoch, which never falls along the chain and rises with each fence.
  var epoch: UInt64
  /// Slots start at 1 and have no gaps.
  var slot: UInt64
  /// The digest of the entry before.
  var previous: EntryDigest
  /// The UUID of the writer's store.
  var store: ReplicaIdentity
  /// 16 random bytes that each opening of a writer draws.
  ///
  /// Without them, two machines with copies of one store could make equal bytes for one slot. Each
  /// machine would then find its own bytes in the slot, and report its write as replicated.
  var session: ReplicaIdentity
  /// The number of the first write in the entry, or `lastWrite + 1` when the entry has no writes.
  var firstWrite: UInt64
  /// The number of the last write in the entry or before it.
  var lastWrite: UInt64
}

/// The end of the part of a chain that a process knows.
struct ChainPosition: Hashable, Sendable {
  /// The last slot, or 0 before the first entry.
  var slot: UInt64
  /// The digest of that slot's entry.
  var digest: EntryDigest
  /// The epoch of that entry.
  var epoch: UInt64
  /// The last write of that entry or before it.
  var lastWrite: UInt64

  /// The position before the first entry.
  static let origin = ChainPosition(slot: 0, digest: .zero, epoch: 0, lastWrite: 0)

  init(slot: UInt64, digest: EntryDigest, epoch: UInt64, lastWrite: UInt64) {
    (self.slot, self.digest, self.epoch, self.lastWrite) = (slot, digest, epoch, lastWrite)
  }

  /// The position after an entry.
  init(after head: EntryHead, digest: EntryDigest) {
    self.init(slot: head.slot, digest: digest, epoch: head.epoch, lastWrite: head.lastWrite)
  }

  /// The reason why an entry with this head cannot follow the position, or nil.
  func fault(of head: EntryHead) -> ChainFault? {
    if head.slot != slot + 1 { return .wrongSlot }
    if head.previous != digest { return .brokenChain }
    if head.epoch < epoch { return .epochFell }
    if head.kind == .fence, head.epoch == epoch { return .epochFell }
    if head.kind != .fence, head.epoch != epoch { return .epochWithoutFence }
    if head.firstWrite != lastWrite + 1 || head.lastWrite < lastWrite { return .writesMissing }
    return nil
  }
}

/// The reasons why an object of the storage cannot be a part of the chain.
enum ChainFault: Sendable, Hashable {
  /// The bytes are no entry, floor record or head of a base.
  case unreadable
  /// The entry names another slot than its object's name.
  case wrongSlot
  /// The entry names another digest as the one of the entry before.
  case brokenChain
  /// The epoch is lower than the one before, or a fence did not raise it.
  case epochFell
  /// The epoch rose in an entry that is no fence.
  case epochWithoutFence
  /// The write numbers do not continue those of the entry before.
  case writesMissing
  /// An object that must exist is absent.
  case absent
  /// A floor record is not higher than the one before.
  case floorFell
}
