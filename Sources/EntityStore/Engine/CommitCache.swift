internal import LMDB

/// A few objects that are valid for one commit alone, such as the plans of queries that are asked more
/// than once while nothing is written.
///
/// The first time only a hash is kept. So an object that is never asked for again replaces no other.
final class CommitCache: Sendable {
  typealias Object = AnyObject & Sendable

  /// One object, and the hash of the next one for this slot.
  ///
  /// The last bits of an object's hash are the number of its slot.
  private struct Slot {
    var commit = CommitNumber(0)
    var hash = 0
    var object: (any Object)?
    /// The hash of the last object that was noted for the first time.
    var noted: Int?
  }

  private static let slotCount = 128

  private let slots = Guarded([Slot](repeating: Slot(), count: slotCount))

  /// The object that was kept with `hash`.
  ///
  /// Two objects may have one hash: the caller checks that it is the one that was asked for.
  func object(_ hash: Int, at commit: CommitNumber) -> (any Object)? {
    slots.withLock { slots in
      let slot = slots[hash & (Self.slotCount - 1)]
      return slot.hash == hash && slot.commit == commit ? slot.object : nil
    }
  }

  /// Keeps `object` if it was the last that was noted for its slot before.
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
    // Released outside of the lock: a deinit that runs then may ask the store.
    withExtendedLifetime(before) {}
  }
}
