extension RestoreRun {
  /// Checks that the restored state is the wanted one.
  func check(_ report: ReplicaRestoreReport, _ target: ReplicaRestoreTarget) throws {
    let isReached =
      switch target {
      case .latest, .time: true
      case .write(let number): report.lastWrite == number
      case .slot(let slot): report.slot == slot
      }
    guard !isReached else { return }
    throw ReplicaError(
      .notKept,
      "cannot restore \(target.words) from '\(client.place)': the last state before it has write "
        + "\(report.lastWrite) in slot \(report.slot)"
        + (report.incompleteReason.map { ", because \($0)" } ?? ", where the log ends")
        + "; choose another state, which Replica.writes(of:options:) and 'kvdump replica log' list",
      slot: report.slot)
  }

  /// Checks that the log has no entries after its end.
  ///
  /// A storage that was put back to an earlier state may have later entries, of a writer that did
  /// not know. The state before such a gap is not the newest one.
  ///
  /// - Parameter place: The place after which the next slot was absent.
  func checkEnd(after place: ChainPosition, _ floor: Floor) async throws {
    let next = place.slot + 1
    let later = try await client.entries(in: .log, after: .entry(slot: next))
    guard let first = later.first?.name.collectedSlot else { return }
    var reader = ChainReader(position: place, floor: floor, limit: (entries: 1, bytes: 1))
    switch try await client.run(&reader) {
    case .read(let entries, _):
      // An entry in the slot was written in the meantime.
      guard entries.isEmpty else { return }
      throw ReplicaError.gap(client.place, next...max(next, first - 1))
    case .collected(let floor):
      throw ReplicaError(
        .notKept,
        "cannot restore from '\(client.place)': the log was collected up to slot \(floor.slot) "
          + "during the restore; begin again", slot: next)
    case .refused(let error): throw ReplicaError(error)
    }
  }
}

extension ReplicaRestoreTarget {
  /// Whether no later entry of the log could belong to the target.
  func isReached(by report: ReplicaRestoreReport) -> Bool {
    switch self {
    case .latest, .time: false
    case .write(let number): report.lastWrite >= number
    case .slot(let slot): report.slot >= slot
    }
  }
}

extension ReplicaError {
  /// The log has lost slots, and has later ones.
  static func gap(_ place: String, _ slots: ClosedRange<UInt64>) -> ReplicaError {
    ReplicaError(
      .damaged,
      "cannot use the log in '\(place)': slots \(slots.lowerBound) to \(slots.upperBound) are "
        + "missing, and later ones are there, so the storage was emptied or put back to an earlier "
        + "state; put the missing objects back, or write to another prefix",
      slot: slots.lowerBound)
  }

  /// The log does not have the last entry any more.
  static func lostEntry(_ place: String, _ slot: UInt64, _ advice: String) -> ReplicaError {
    ReplicaError(
      .damaged,
      "cannot go on with the log in '\(place)': it does not have the known entry of slot \(slot) "
        + "any more, so the storage was emptied or put back to an earlier state; \(advice)",
      slot: slot)
  }
}
