internal import LMDB

/// A few objects that are valid for one commit only, such as the plans of repeated queries.
///
/// When an object is used for the first time, only its hash is stored. An object that is never used
/// again therefore replaces no other object.
final class CommitCache: Sendable {
  typealias Object = AnyObject & Sendable

  /// A place for one object, chosen by the last bits of the object's hash.
  private struct Slot {
    var commit = CommitNumber(0)
    var hash = 0
    var object: (any Object)?
    /// The hash of an object that was used once; at its second use it replaces ``object``.
    var noted: Int?
  }

  private static let slotCount = 128

  private let slots = Guarded([Slot](repeating: Slot(), count: slotCount))

  /// Returns the object that was stored with `hash`.
  ///
  /// Two objects may have one hash, so the caller must check the result.
  func object(_ hash: Int, at commit: CommitNumber) -> (any Object)? {
    slots.withLock { slots in
      let slot = slots[hash & (Self.slotCount - 1)]
      return slot.hash == hash && slot.commit == commit ? slot.object : nil
    }
  }

  /// Stores `object` at its second use, and only its hash at the first one.
  ///
  /// The first use is forgotten when another object with the same slot is used in between.
  func note(_ object: any Object, _ hash: Int, at commit: CommitNumber) {
    let before = slots.withLock { slots -> (any Object)? in
      let index = hash & (Self.slotCount - 1)
      var slot = slots[index]
      let before = slot.object
      if slot.commit != commit {
        slot = Slot(commit: commit, noted: hash)
      } else if slot.noted == hash {
        slot = Slot(commit: commit, hash: hash, object: object)
      } else {
        slot.noted = hash
      }
      slots[index] = slot
      return before
    }
    // The previous object is released outside the lock, because its deinit may access the store.
    withExtendedLifetime(before) {}
  }
}
