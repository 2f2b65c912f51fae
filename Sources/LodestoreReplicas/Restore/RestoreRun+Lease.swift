extension RestoreRun {
  /// Refuses a takeover during a lease, or waits for the end of the lease, as the options say.
  ///
  /// - Throws: ``ReplicaError`` with the code `busy` while a lease is valid, if the call does not
  ///   wait.
  func respectLease(at time: Double) async throws {
    if options.ignoresLease { return }
    guard let bytes = try await client.object(.lease),
      let lease = try? Lease(reading: bytes, named: ReplicaName.lease.text), lease.until > time
    else { return }
    if options.waitsForLease { return try await waitForLease() }
    // The holder's clock may be wrong by years, and a lease never lasts longer than its duration.
    let remaining = min(lease.until - time, lease.duration?.inSeconds ?? .infinity)
    throw ReplicaError(
      .busy,
      "cannot take over '\(client.place)': \(lease.holder) writes it, and its lease ends in "
        + "\(Int(remaining.rounded(.up))) seconds; stop that writer, wait for the end of the "
        + "lease by ReplicaRestoreOptions.waitsForLease or 'kvdump replica takeover --wait', or "
        + "ignore the lease by ReplicaRestoreOptions.ignoresLease or 'kvdump replica takeover "
        + "--ignore-lease'")
  }

  /// Waits until the lease has not changed for its duration, or has been given back.
  private func waitForLease() async throws {
    var watch = LeaseWatch(assuming: .seconds(90))
    while let bytes = try await client.object(.lease) {
      if watch.look(bytes, slot: 0, at: client.clock.instant()) == .zero { return }
      try await client.clock.sleep(watch.interval(atMost: .seconds(5)))
    }
  }
}
