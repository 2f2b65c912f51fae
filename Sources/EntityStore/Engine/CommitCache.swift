import Synchronization

/// A few objects that were worked out of what a commit holds, and hold for that commit alone; such as
/// the plans of queries that are asked more than once while nothing is written.
///
/// The first time only a hash is kept, so that what never comes again costs next to nothing and pushes
/// out little.
final class CommitCache: Sendable {
  typealias Object = AnyObject & Sendable

  /// The place of all objects whose hashes end alike: the one asked for last.
  private struct Slot {
    var hash = 0
    var commit = CommitNumber(0)
    /// `nil` where it was asked for once.
    var object: (any Object)?
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

  /// Keeps `object` where one with `hash` was noted before.
  func note(_ object: any Object, _ hash: Int, at commit: CommitNumber) {
    slots.withLock { slots in
      let index = hash & (Self.slotCount - 1)
      let isKnown = slots[index].hash == hash && slots[index].commit == commit
      slots[index] = Slot(hash: hash, commit: commit, object: isKnown ? object : nil)
    }
  }
}
