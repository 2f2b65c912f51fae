internal import LMDB
internal import LodestoreFormat

/// An alarm that calls a closure when a record expires that an observer may show.
final class ExpiryAlarm: Sendable {
  private let alarm = Alarm()
  /// Observers have been informed of all records that expired up to this time; `nil` before the
  /// alarm is first set.
  private let known = Guarded<Double?>(nil)

  /// The maximum time in seconds until the clock is read again.
  private static let longestWait = 60.0

  /// Sets the alarm to the next expiry date of a record of `entities`.
  ///
  /// Sets it to the current time when a record has expired that observers do not know of.
  func set(
    for entities: Set<EntityNumber>, _ core: TransactionCore,
    _ ring: @escaping @Sendable () async -> Void
  ) throws {
    guard let moment = core.moment else { return }
    let known = known.withLock { known in
      // The clock may be set back; observers then learn again of records that expire again.
      let earliest = min(known ?? moment, moment)
      known = earliest
      return earliest
    }
    var next: Double?
    for entity in core.schema.expiring where entities.contains(entity.number) {
      var date = try core.nextExpiry(of: entity)
      // A record has expired since, because the clock was set forward or the date passed between
      // two reads of this commit. The alarm is then due at once.
      if known < moment, try core.hasExpired(of: entity, since: known) { date = moment }
      guard let date else { continue }
      next = min(next ?? date, date)
    }
    guard let next else { return }
    // The minimum delay prevents a busy loop when the clock stands still. The maximum delay makes a
    // change of the clock noticed within a minute.
    let delay = Duration.seconds(min(max(next - moment, 0.01), Self.longestWait))
    alarm.set(after: delay, ring)
  }

  /// Returns the entities with expired records that observers do not know of, and marks these as
  /// known.
  func takeExpired(at moment: Double, _ core: TransactionCore) throws -> Set<EntityNumber> {
    let since = known.withLock { $0 } ?? moment
    let entities = try core.schema.expiring.filter { entity in
      try core.hasExpired(of: entity, since: since)
    }
    known.withLock { $0 = moment }
    return Set(entities.map(\.number))
  }

  /// Cancels the alarm.
  func end() { alarm.end() }
}
