internal import EntityStore
internal import LodestoreFormat

/// The choice of the replica that a store writes.
///
/// A store belongs to the replica that its mark names. A store without a mark belongs to the
/// replica that it began, because the process may have ended before it recorded the mark.
extension WriterOpening {
  /// Finds the replica that the store continues; `nil` if the storage has none.
  ///
  /// - Parameter own: The UUID of the store's file.
  /// - Returns: The UUID of the replica, and the store's mark if it belongs to that replica.
  /// - Throws: ``ReplicaError`` with the code `otherReplica` or `otherStore`.
  func replica(
    of own: UUIDBytes, _ mark: ReplicaMark?
  ) async throws -> (id: UUIDBytes, mark: ReplicaMark?)? {
    guard let info = try await storedInfo() else {
      guard let mark, !beginsNewReplica else { return nil }
      throw ReplicaError.noReplica(store.path, client.place, mark.replica)
    }
    guard let mark else {
      if info.firstStore == own { return (info.store, nil) }
      throw ReplicaError.otherStore(store.path, client.place, own, info)
    }
    if mark.replica == info.store { return (info.store, mark) }
    // An earlier attempt to begin this replica may have ended before the store's mark named it.
    if beginsNewReplica, info.firstStore == own {
      let isEmpty = try await isEmpty
      if isEmpty { return (info.store, nil) }
    }
    throw ReplicaError.otherReplica(store.path, client.place, mark.replica, info.store)
  }

  /// Creates a replica.
  func createdReplica(
    for own: UUIDBytes, _ mark: ReplicaMark?
  ) async throws -> (id: UUIDBytes, mark: ReplicaMark?) {
    let new = ReplicaInfo(store: .random, firstStore: own, createdAt: client.clock.now())
    if try await client.create(.info, new.bytes) { return (new.store, nil) }
    // Another process has created the replica since.
    guard let found = try await replica(of: own, mark) else {
      throw ReplicaError.missing(.info)
    }
    return found
  }

  private func storedInfo() async throws -> ReplicaInfo? {
    guard let bytes = try await client.object(.info) else { return nil }
    return try Self.reading { () throws(PackError) in
      try ReplicaInfo(reading: bytes, named: ReplicaName.info.text)
    }
  }

  /// Whether the storage has no entry.
  ///
  /// A base without its entry is not on the chain.
  var isEmpty: Bool {
    get async throws { try await client.entries(in: .log).isEmpty }
  }
}

extension ReplicaError {
  fileprivate static func otherStore(
    _ path: String, _ place: String, _ own: UUIDBytes, _ info: ReplicaInfo
  ) -> ReplicaError {
    ReplicaError(
      .otherStore,
      "cannot replicate '\(path)' to '\(place)': the replica was begun by store "
        + "\(info.firstStore.text), and this is store \(own.text); use another prefix, or continue "
        + "the replica by Replica.takeOver, or by 'kvdump replica takeover'")
  }

  /// The failure of a store, or of a copy, that belongs to another replica.
  static func otherReplica(
    _ path: String, _ place: String, _ known: UUIDBytes, _ found: UUIDBytes
  ) -> ReplicaError {
    ReplicaError(
      .otherReplica,
      "cannot use '\(path)' with '\(place)': the store belongs to replica \(known.text), and this "
        + "is replica \(found.text); use the storage of replica \(known.text). "
        + Self.newReplicaAdvice)
  }

  fileprivate static func noReplica(
    _ path: String, _ place: String, _ known: UUIDBytes
  ) -> ReplicaError {
    ReplicaError(
      .otherReplica,
      "cannot replicate '\(path)' to '\(place)': the store belongs to replica \(known.text), and "
        + "the storage has no replica; check the address. " + Self.newReplicaAdvice)
  }

  private static let newReplicaAdvice =
    "To leave that replica and begin a new one under an empty prefix, set "
    + "ReplicaWriterOptions.beginsNewReplica, or use 'kvdump replicate --new'"
}
