import LodestoreDatasets
import LodestoreFormat

@testable import LodestoreReplicas

/// The replica of all histories, and entries whose bodies are the values of their writes.
///
/// Heads, hashes and small objects are those of real replicas. The protocol does not look into
/// bodies, so a body is words of eight bytes.
enum SimulatedReplica {
  static let store = UUIDBytes(high: 0, low: 1)
  private static let schema = [UInt8](repeating: 7, count: SchemaFingerprint.size)

  /// The head of an entry after a position; `lastWrite` is that of the position without another one.
  static func head(
    _ kind: EntryHead.Kind, after position: ChainPosition, lastWrite: UInt64? = nil,
    session: UInt64, time: Double
  ) -> EntryHead {
    EntryHead(
      kind, epoch: position.epoch, slot: position.slot + 1,
      previous: position.slot == 0 ? nil : position.hash, store: store,
      session: UUIDBytes(high: 0, low: session),
      firstWrite: kind == .pack ? position.lastWrite + 1 : nil,
      lastWrite: lastWrite ?? position.lastWrite, time: time, schema: schema)
  }

  static func entry(_ head: EntryHead, values: [UInt64] = []) throws(PackError) -> LogEntry {
    let bytes = bytes(values)
    return try LogEntry(
      head,
      PackBody(
        bytes: bytes, changeCount: UInt64(values.count), stepCount: 0,
        unpackedLength: UInt64(bytes.count)))
  }

  static func values(of entry: LogEntry) -> [UInt64] { words(entry.bytes[entry.bodyStart...]) }

  /// The digests that the entry of a changed schema has.
  static func digests(of state: SimulatedState) -> [[UInt8]: ContentDigest] {
    [DigestedContent.buckets.key: ContentDigest(linkFrom: state.lastWrite, to: state.digest)]
  }

  /// The head of a base with the state after an entry.
  static func base(after entry: EntryHead, hash: [UInt8], verity: UInt64) -> BaseHead? {
    let verityBytes = bigEndianBytes(verity) + [UInt8](repeating: 0, count: 24)
    guard let hash = FileDigest(bytes: hash), let schema = FileDigest(bytes: schema),
      let digest = FileDigest(bytes: verityBytes)
    else { return nil }
    let file = BaseHead.File(length: 16, sha256: digest)
    return BaseHead(
      slot: entry.slot, entry: hash, epoch: entry.epoch, store: store, lastWrite: entry.lastWrite,
      time: entry.time, schema: schema, digests: [:], length: 16, verity: digest, packed: file,
      frames: file)
  }

  static func bytes(_ words: [UInt64]) -> [UInt8] {
    words.withUnsafeBytes { Array($0) }
  }

  static func words(_ bytes: some Collection<UInt8>) -> [UInt64] {
    Array(bytes).withUnsafeBytes { raw in
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
