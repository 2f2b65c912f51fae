internal import EntityStore
internal import LodestoreFormat

/// The ways of a follower past changes that it cannot apply, and past entries that it cannot read.
extension FollowerLoop {
  private static let passingInterval = Duration.seconds(60)

  /// The failure of changes that do not fit the content of the copy; `nil` for other errors.
  ///
  /// A program that writes into the file of a copy can make records that the changes contradict.
  func contentFailure(_ error: any Error) -> ReplicaError? {
    if let error = error as? ReplayError { return ReplicaError(error, file.path) }
    guard let error = (error as? ReplicaError)?.cause as? StoreError, error.isOfContent else {
      return nil
    }
    return ReplicaError(
      .diverged,
      "cannot apply changes in '\(file.path)': the copy has other content than the writer's store: "
        + error.message, cause: error)
  }

  /// Begins again at the newest base after changes that do not fit the store, once for a place.
  func mend(_ failure: ReplicaError) async throws {
    // The transactions before the failed one have moved the place.
    position = try file.mark().position(of: replica)
    guard mendedSlot != position.slot else {
      restart()
      throw failure
    }
    mendedSlot = position.slot
    shared.change { $0.lastFailure = failure }
    pending = []
    cursor = FollowerCursor(
      store: replica, position: nil, floor: cursor.floor, readsMerged: true)
  }

  /// Replaces the copy by a base that lies beyond a damaged entry.
  ///
  /// The search is made at once, and then at most once a minute.
  ///
  /// - Returns: Whether the storage has such a base.
  func passDamage() async throws -> Bool {
    if let passedAt, client.clock.elapsed(since: passedAt) < Self.passingInterval { return false }
    passedAt = client.clock.instant()
    var search = BaseSearch(store: replica, lowest: position.slot + 1, floor: cursor.floor)
    guard case .found(let base) = try await client.run(&search) else { return false }
    do {
      try await swap(base)
    } catch is BaseDownload.Unusable { return false }
    cursor = FollowerCursor(
      store: replica, position: base.position, floor: search.floor, readsMerged: true)
    return true
  }
}

extension StoreError {
  /// Whether the content of a store refuses a change, and a repetition would fail equally.
  fileprivate var isOfContent: Bool {
    switch code {
    case .brokenTransaction: (cause as? StoreError)?.isOfContent ?? false
    case .uniqueViolation, .noSuchRecord, .missingTarget, .deleteDenied, .invalidID, .invalidValue,
      .unstorableValue, .undecodableValue, .damaged:
      true
    default: false
    }
  }
}

extension Error {
  /// Whether the bytes of an entry break the rules of the format.
  var isOfDamagedEntry: Bool {
    ((self as? ReplicaError)?.cause as? PackError)?.code == .damaged
  }
}
