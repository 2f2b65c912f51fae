/// Reads and writes the bytes of the objects that the protocol looks into.
///
/// A function that reads returns nil for bytes that are damaged or of a later format. The caller
/// of the machine reads the object again to report the exact fault.
protocol ReplicaCodec: Sendable {
  /// The digest that the next entry names: SHA-256 of all bytes of the entry.
  func digest(of entry: [UInt8]) -> EntryDigest
  /// Reads the head of an entry, and checks its body against the digest in the head.
  func head(of entry: [UInt8]) -> EntryHead?
  /// The bytes of a fence, whose head this is.
  func fence(_ head: EntryHead) -> [UInt8]
  func floor(of object: [UInt8]) -> UInt64?
  /// The bytes of a floor record, which holds the lowest live slot.
  func bytes(ofFloor slot: UInt64) -> [UInt8]
  func base(of object: [UInt8]) -> BaseHead?
}

/// The part of a base's head that the protocol reads.
struct BaseHead: Hashable, Sendable {
  /// The slot after which the base holds the state.
  var slot: UInt64
  /// The digest of that slot's entry.
  ///
  /// A writer that was fenced may have stored a base of a slot that it did not win. The digest
  /// tells such a base from one on the chain.
  var digest: EntryDigest
}

/// The lowest live slot, and the number of the record that says so.
///
/// Records are created once and never deleted, so that the floor cannot fall. A single object
/// would have to be overwritten: a late request of an earlier collector could lower it. A stalled
/// writer would then use a collected slot.
struct Floor: Hashable, Sendable {
  /// The number of the record, or 0 before the first collection.
  var number: UInt64
  /// Slots below this one are never used again.
  var slot: UInt64

  static let none = Floor(number: 0, slot: 0)
}
