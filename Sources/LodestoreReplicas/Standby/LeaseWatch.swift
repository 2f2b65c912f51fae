/// Decides whether a writer has ended, by the time without a sign of it.
///
/// A sign is a change of the lease, or a new entry of the log. All times are those of this
/// machine's clock, which only measures durations. A wrong decision is safe: the takeover's fence
/// stops a writer that is alive.
struct LeaseWatch: Sendable {
  /// The duration of a lease that states none; `nil` for no takeover without a stated duration.
  let assumedDuration: Duration?
  /// The lease that was seen last; `nil` if there was none.
  private(set) var lease: Lease?
  /// The bytes of the lease that was seen last; `nil` if there was none.
  private(set) var bytes: [UInt8]?
  private var duration: Duration?
  private var slot: UInt64 = 0
  private var lastSign: ReplicaClock.Instant?
  private var lastLook: ReplicaClock.Instant?

  init(assuming duration: Duration?) {
    assumedDuration = duration
    self.duration = duration
  }

  /// The interval of looks that a wait allows.
  ///
  /// - Parameter wish: The longest interval.
  func interval(atMost wish: Duration) -> Duration {
    max(.milliseconds(10), duration.map { min(wish, $0 / 6) } ?? wish)
  }

  /// Takes the lease and the last slot that the storage has.
  ///
  /// - Returns: The wait until the writer counts as ended; zero if it has ended. `nil` if no lease
  ///   was ever seen, so that nothing is known about a writer.
  mutating func look(
    _ found: [UInt8]?, slot: UInt64, at time: ReplicaClock.Instant
  ) -> Duration? {
    // After a long pause of this process, the writer gets the whole duration again.
    let isLate = lastLook.map { look in
      duration.map { look.duration(to: time) > max($0 / 2, .milliseconds(100)) } ?? false
    }
    let isSign = found != bytes || slot != self.slot || lastSign == nil || isLate ?? true
    (bytes, self.slot, lastLook) = (found, slot, time)
    lease = found.flatMap { try? Lease(reading: $0, named: ReplicaName.lease.text) }
    if let lease { duration = lease.duration ?? assumedDuration }
    if isSign { lastSign = time }
    guard let duration, let lastSign else { return nil }
    return max(.zero, duration - lastSign.duration(to: time))
  }

  /// Restarts the wait after a failure of the storage, which may have stopped renewals, too.
  mutating func fail() { lastSign = nil }
}
