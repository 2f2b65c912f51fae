/// The work that a writer, a follower or a takeover would begin with.
public struct ReplicaPlan: Sendable, Hashable {
  /// The first thing that would happen.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Action: String, Sendable {
    /// A writer would create the replica, and send a base.
    case create
    /// A writer would send changes.
    case send
    /// A writer would send a base, because the changes since the last entry cannot be packed.
    case sendBase
    /// A copy would be made from a base, and then from the log.
    case download
    /// The log would be applied to the existing copy.
    case apply
    /// A base would replace the existing copy, because the log does not continue it or because the
    /// copy follows by other conditions.
    case replace
  }

  /// The first thing that would happen.
  public var action: Action
  /// The slot that the store or the copy has now; 0 for none.
  public var slot: UInt64
  /// The last slot of the log now.
  public var lastSlot: UInt64
  /// The last write of the log up to that slot.
  public var lastWrite: UInt64
  /// The slot of the base that would be downloaded; `nil` for none.
  public var baseSlot: UInt64?
  /// The number of entries to send or to apply.
  public var entryCount = 0
  /// The bytes to send or to download; `nil` for a base that has to be made first.
  public var byteCount: UInt64? = 0

  init(_ action: Action, slot: UInt64, lastSlot: UInt64, lastWrite: UInt64) {
    self.action = action
    self.slot = slot
    self.lastSlot = lastSlot
    self.lastWrite = lastWrite
  }
}
