internal import LMDB
internal import LodestoreFormat

/// Rings when a record expires that an observer may show.
final class ExpiryAlarm: Sendable {
  private let alarm = Alarm()
  /// Observers know of all records that had expired at this time; `nil` before the first look.
  private let known = Guarded<Double?>(nil)

  /// The longest time until the clock is read again, in seconds.
  private static let longestWait = 60.0

  /// Sets the alarm to the next date of a record of `entities`, or to now where one has passed that
  /// observers do not know of.
  func set(
    for entities: Set<EntityNumber>, _ core: TransactionCore,
    _ ring: @escaping @Sendable () async -> Void
  ) throws {
    guard let moment = core.moment else { return }
    let known = known.withLock { known in
      // A clock may be set back, too: observers hear again of records that expire again.
      let earliest = min(known ?? moment, moment)
      known = earliest
      return earliest
    }
    var next: Double?
    for entity in core.schema.expiring where entities.contains(entity.number) {
      var date = try core.nextExpiry(of: entity)
      // The clock was set ahead, or a read of this commit began before the date and this one after
      // it.
      if known < moment, try core.hasExpired(of: entity, since: known) { date = moment }
      guard let date else { continue }
      next = min(next ?? date, date)
    }
    guard let next else { return }
    // A clock that stands still is asked again, and not without a pause; a step of the clock is
    // noticed within a minute.
    let delay = Duration.seconds(min(max(next - moment, 0.01), Self.longestWait))
    alarm.set(after: delay, ring)
  }

  /// The entities of which a record has expired that observers do not know of; they do from now on.
  func takeExpired(at moment: Double, _ core: TransactionCore) throws -> Set<EntityNumber> {
    let since = known.withLock { $0 } ?? moment
    let entities = try core.schema.expiring.filter { entity in
      try core.hasExpired(of: entity, since: since)
    }
    known.withLock { $0 = moment }
    return Set(entities.map(\.number))
  }

  /// Rings no more.
  func end() { alarm.end() }
}
