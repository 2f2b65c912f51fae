#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The lease of a running writer.
extension WriterLoop {
  /// The number of intervals after which a lease ends without a renewal.
  private static let missedRenewals = 3

  /// Renews the lease, and notes a lease of a later writer.
  ///
  /// A failure is shown in the status. The writer goes on, because no safety depends on the lease.
  func renewLease() async {
    guard let interval = options.leaseInterval else { return }
    let duration = interval * Self.missedRenewals
    let lease = Lease(
      holder: options.name.map(PackLimits.cut) ?? Lease.processName, epoch: max(position.epoch, 1),
      until: clock.now() + duration.inSeconds, milliseconds: duration.wholeMilliseconds,
      session: session)
    var keeper = leaseKeeper
    do throws(StorageError) {
      let result = try await keeper.renew(lease, on: client.storage)
      if case .taken(let other) = result {
        rival = other
        shared.wake()
      }
    } catch {
      if error.kind != .cancelled {
        let failure = ReplicaError(error)
        shared.change { $0.lastFailure = failure }
      }
    }
    leaseKeeper = keeper
  }

  /// Ends a writer without new commits after a takeover of which the lease tells.
  ///
  /// Only the log decides. A later lease without a fence in the log is replaced at the next
  /// renewal.
  func compareLease() async throws {
    guard let rival else { return }
    let slot = position.slot + 1
    if let bytes = try await client.object(.entry(slot: slot)),
      let entry = try? LogEntry(reading: bytes, slot: slot),
      entry.head.previous == position.hash, entry.head.epoch > max(position.epoch, 1)
    {
      throw ReplicaError.fenced(
        store.path, client.place, by: entry.head.epoch, unshipped: unshipped, slot: slot)
    }
    self.rival = nil
    leaseKeeper.ignored = rival
  }
}

extension Lease {
  /// The holder without a name.
  static var processName: String { "process \(ProcessInfo.processInfo.processIdentifier)" }

  /// The time after which the lease ends without a renewal; `nil` in a lease of an earlier version.
  var duration: Duration? { milliseconds.map { .milliseconds(Int64(clamping: $0)) } }
}

extension Duration {
  /// The duration in milliseconds, rounded up and at least 1.
  var wholeMilliseconds: UInt64 { UInt64(max(1, (inSeconds * 1_000).rounded(.up))) }
}
