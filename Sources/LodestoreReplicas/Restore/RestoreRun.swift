internal import EntityStore
internal import LodestoreFormat
internal import LodestoreSystem

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Makes a new store of a replica's base and log.
struct RestoreRun: Sendable {
  let client: ReplicaClient
  let options: ReplicaRestoreOptions
  let replica: UUIDBytes
  let registration: RestoreRegistration

  /// Runs `body`, and removes the registration afterwards.
  func registered<R>(_ body: () async throws -> R) async throws -> R {
    do {
      let result = try await body()
      await registration.end()
      return result
    } catch {
      await registration.end()
      throw error
    }
  }

  /// A store that is not at its path yet.
  struct Restored: Sendable {
    var file: FollowerFile
    var position: ChainPosition
    var floor: Floor
    var report: ReplicaRestoreReport
    /// The base with which the log continues, if the target is not before it.
    var next: BaseHead?
  }

  var report: @Sendable (ReplicaProgress) -> Void { options.onProgress ?? { _ in } }

  // MARK: The run

  /// Restores a state into files whose paths begin with `scratch`.
  func restore(
    to target: ReplicaRestoreTarget, scratch: String, role: ReplicaMark.Role = .follower
  ) async throws -> Restored {
    var unusable: [UInt64: ReplicaError] = [:]
    var next: BaseHead?
    while true {
      let base =
        if let next { next } else { try await self.base(for: target, except: unusable) }
      next = nil
      do {
        let restored = try await restore(from: base, to: target, scratch, role)
        if let newer = restored.next, unusable[newer.slot] == nil {
          next = newer
          restored.file.writable.close()
        } else {
          return try checked(restored, target)
        }
      } catch let failure as BaseDownload.Unusable {
        unusable[base.slot] = failure.error
      }
      removeFiles(scratch)
    }
  }

  private func removeFiles(_ scratch: String) {
    for end in [".sealed", ".copy", ".copy-lock"] { unlink(scratch + end) }
  }

  private func restore(
    from base: BaseHead, to target: ReplicaRestoreTarget, _ scratch: String,
    _ role: ReplicaMark.Role
  ) async throws -> Restored {
    let (sealed, copy) = (scratch + ".sealed", scratch + ".copy")
    // A collection up to the slot before the base's keeps the base.
    await registration.keep(after: base.slot - 1, lastWrite: base.lastWrite)
    try await BaseDownload(client: client, onProgress: report).sealedFile(of: base, to: sealed)
    options.onStep(.downloaded)
    report(ReplicaProgress(.copying, completed: 0))
    let file = try await BaseUpload.onThread {
      for name in [copy, copy + "-lock"] { unlink(name) }
      let file = try FollowerFile.make(
        at: copy, from: sealed, base, role: role, floor: .none)
      unlink(sealed)
      return file
    }
    options.onStep(.copied)
    var restored = Restored(
      file: file, position: base.position, floor: .none,
      report: ReplicaRestoreReport(
        baseSlot: base.slot, slot: base.slot, lastWrite: base.lastWrite,
        time: Date(timeIntervalSinceReferenceDate: base.time),
        byteCount: base.packed.length + base.frames.length))
    do {
      try await applyLog(to: &restored, target, role)
      return restored
    } catch {
      file.writable.close()
      throw error
    }
  }

  private func checked(
    _ restored: Restored, _ target: ReplicaRestoreTarget
  ) throws -> Restored {
    do {
      try check(restored.report, target)
      return restored
    } catch {
      restored.file.writable.close()
      throw error
    }
  }
}
