import Synchronization

/// A few objects that were worked out of what a commit holds, and hold for that commit alone; such as
/// the plans of queries that are asked more than once while nothing is written.
///
/// The first time only a hash is kept, so that what never comes again costs next to nothing and pushes
/// nothing out.
final class CommitCache: Sendable {
  typealias Object = AnyObject & Sendable

  /// The place of all objects whose hashes end alike.
  private struct Slot {
    var commit = CommitNumber(0)
    var hash = 0
    var object: (any Object)?
    /// The hash that was noted last without an object.
    var noted: Int?
  }

  private static let slotCount = 128

  private let slots = Mutex([Slot](repeating: Slot(), count: slotCount))

  /// The object that was kept with `hash`: another one where hashes are equal, which the caller checks.
  func object(_ hash: Int, at commit: CommitNumber) -> (any Object)? {
    slots.withLock { slots in
      let slot = slots[hash & (Self.slotCount - 1)]
      return slot.hash == hash && slot.commit == commit ? slot.object : nil
    }
  }

  /// Keeps `object` where its hash was the last that was noted at its place.
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
    // Not under the lock: with it may go what asks the store again.
    withExtendedLifetime(before) {}
  }
}
