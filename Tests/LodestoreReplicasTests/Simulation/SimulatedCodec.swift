@testable import LodestoreReplicas

/// Entries and other objects as words of eight bytes, and a digest of 64 bits.
struct SimulatedCodec: ReplicaCodec {
  func digest(of entry: [UInt8]) -> EntryDigest {
    EntryDigest(words: (Self.words(entry).reduce(0x1234_5678, mix), 0, 0, 0))
  }

  func head(of entry: [UInt8]) -> EntryHead? { SimulatedEntry(bytes: entry)?.head }

  func fence(_ head: EntryHead) -> [UInt8] { SimulatedEntry(head: head, writes: []).bytes }

  func floor(of object: [UInt8]) -> UInt64? { object.count == 8 ? Self.words(object)[0] : nil }

  func bytes(ofFloor slot: UInt64) -> [UInt8] { Self.bytes([slot]) }

  func base(of object: [UInt8]) -> BaseHead? {
    let words = Self.words(object)
    guard words.count == 2 else { return nil }
    return BaseHead(slot: words[0], digest: EntryDigest(words: (words[1], 0, 0, 0)))
  }

  static func bytes(_ words: [UInt64]) -> [UInt8] {
    words.withUnsafeBytes { Array($0) }
  }

  static func words(_ bytes: [UInt8]) -> [UInt64] {
    bytes.withUnsafeBytes { raw in
      (0..<raw.count / 8).map { raw.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
    }
  }
}

/// Mixes a word into a hash.
func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
  let product = (hash ^ word &+ 0x9e37_79b9_7f4a_7c15).multipliedFullWidth(
    by: 0xbf58_476d_1ce4_e5b9)
  return product.high ^ product.low &+ hash << 7
}

/// An entry whose body is the values of its writes.
struct SimulatedEntry {
  var head: EntryHead
  /// The time of the writer's clock, which the protocol never reads.
  var time: UInt64 = 0
  var writes: [UInt64]

  init(head: EntryHead, time: UInt64 = 0, writes: [UInt64]) {
    self.head = head
    self.time = time
    self.writes = writes
  }

  init?(bytes: [UInt8]) {
    let words = SimulatedCodec.words(bytes)
    guard words.count >= 9, let kind = EntryKind(rawValue: UInt8(truncatingIfNeeded: words[0]))
    else { return nil }
    head = EntryHead(
      kind: kind, epoch: words[1], slot: words[2],
      previous: EntryDigest(words: (words[3], 0, 0, 0)),
      store: ReplicaIdentity(high: 0, low: words[4]),
      session: ReplicaIdentity(high: 0, low: words[5]),
      firstWrite: words[6], lastWrite: words[7])
    time = words[8]
    writes = Array(words[9...])
  }

  var bytes: [UInt8] {
    SimulatedCodec.bytes(
      [
        UInt64(head.kind.rawValue), head.epoch, head.slot, head.previous.words.0, head.store.low,
        head.session.low, head.firstWrite, head.lastWrite, time,
      ] + writes)
  }
}
