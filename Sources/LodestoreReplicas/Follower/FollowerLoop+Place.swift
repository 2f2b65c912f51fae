internal import LodestoreFormat

extension FollowerLoop {
  // MARK: The replica

  /// Compares the replica of the copy with that of the storage, unless the storage cannot be asked.
  ///
  /// A copy is readable without its storage. The first poll that reaches the storage compares.
  func checkReplicaAtOpening() async throws {
    do {
      try await checkReplica(client.giving(upAfter: 1))
    } catch let error as ReplicaError where error.code == .otherReplica {
      file.writable.close()
      shared.store.close()
      throw error
    } catch is ReplicaError {}
  }

  /// A storage without a replica was emptied, which ``confirmPlace()`` reports.
  func checkReplica(_ client: ReplicaClient) async throws {
    guard let bytes = try await client.object(.info) else { return }
    let info = try WriterOpening.reading { () throws(PackError) in
      try ReplicaInfo(reading: bytes, named: ReplicaName.info.text)
    }
    guard info.store == replica else {
      throw ReplicaError.otherReplica(file.path, client.place, replica, info.store)
    }
    hasCheckedReplica = true
  }

  /// Notes that the copy was made of the replica that the storage has.
  func noteCheckedReplica() { hasCheckedReplica = true }

  // MARK: The end of the log

  private static let confirmationInterval = Duration.seconds(60)

  /// Checks that the log still has the entry with which the copy ends.
  ///
  /// A log that was emptied or put back to an earlier state also lacks the next slot, and would
  /// look like one without new entries. The first check compares the entry's hash. Later ones, at
  /// most once a minute, only look whether the entry exists.
  func confirmPlace() async throws {
    let place = position
    guard place.slot > 0 else { return }
    let name = ReplicaName.entry(slot: place.slot)
    if let confirmedAt {
      guard client.clock.elapsed(since: confirmedAt) >= Self.confirmationInterval else { return }
      if try await client.exists(name) { return self.confirmedAt = client.clock.instant() }
    } else if let bytes = try await client.object(name), SHA256.hash(bytes) == place.hash {
      return confirmedAt = client.clock.instant()
    }
    var reader = ChainReader(position: place, floor: cursor.floor, limit: (entries: 1, bytes: 1))
    // A collection in the meantime has deleted the entry. The next poll finds a base.
    if case .read = try await client.run(&reader), reader.floor.slot <= place.slot {
      throw ReplicaError.lostEntry(
        client.place, place.slot, "delete '\(folder.path)' to begin again with a new copy")
    }
  }
}
