/// The registration of a restore or a takeover, which keeps its part of the log from a collection.
///
/// A restore works without it, for example with keys that only read. A collection may then end the
/// restore.
actor RestoreRegistration {
  private let client: ReplicaClient
  private let id = "restore-" + String(UInt64.random(in: .min ... .max), radix: 36)
  private var place: (slot: UInt64, lastWrite: UInt64)?
  private var renewal: Task<Void, Never>?

  /// The time in seconds after which the registration of a killed restore ends.
  private static let duration = 3_600.0
  private static let interval = Duration.seconds(600)

  init(_ client: ReplicaClient) { self.client = client.giving(upAfter: 1) }

  /// Keeps the slots after a slot, and the bases of these slots, until ``end()``.
  func keep(after slot: UInt64, lastWrite: UInt64) async {
    place = (slot, lastWrite)
    await write()
    guard renewal == nil else { return }
    renewal = Task(executorPreference: client.clock.executor) { [weak self, clock = client.clock] in
      while (try? await clock.sleep(Self.interval)) != nil { await self?.write() }
    }
  }

  private func write() async {
    guard let place else { return }
    let time = client.clock.now()
    let mark = FollowerMark(
      id: id, slot: place.slot, lastWrite: place.lastWrite, time: time,
      until: time + Self.duration)
    try? await client.replace(.follower(id: id), .bytes(mark.bytes))
  }

  /// Removes the registration, also in a cancelled task.
  func end() async {
    guard place != nil else { return }
    place = nil
    renewal?.cancel()
    await renewal?.value
    let (client, id) = (client, id)
    await Task(executorPreference: client.clock.executor) {
      try? await client.remove(.follower(id: id))
    }.value
  }
}
