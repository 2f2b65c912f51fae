internal import LodestoreFormat

/// Writes, renews and removes the lease of one session.
///
/// A renewal replaces the lease only while its tag is the known one (`If-Match`), if the storage
/// checks such a condition. On other storages it reads the lease first. Two machines may then both
/// write the lease, which costs a takeover its order and nothing else.
struct LeaseKeeper: Sendable {
  /// The end of a renewal.
  enum Result: Sendable, Equatable {
    case renewed
    /// Another session has the lease with a later epoch; nothing was written.
    case taken(Lease)
  }

  /// Whether the storage checks the condition `If-Match`.
  enum Support: Sendable {
    case unknown, checked, ignored
  }

  let session: UUIDBytes
  /// A lease of a later epoch that is replaced, because the log has no fence of that epoch.
  var ignored: Lease?
  private(set) var support = Support.unknown
  private var tag: ObjectTag?

  /// The number of attempts to replace a lease that others change.
  private static let attempts = 3
  private static let byteLimit = ReplicaObject.byteLimit

  init(session: UUIDBytes) { self.session = session }

  /// Writes the lease in place of any lease without a later epoch.
  mutating func renew(
    _ lease: Lease, on storage: MeteredStorage
  ) async throws(StorageError) -> Result {
    var attempt = 1
    while true {
      if tag == nil {
        let found = try await Self.find(on: storage)
        if let other = found?.lease, other.session != session, other.epoch > lease.epoch,
          other != ignored
        {
          return .taken(other)
        }
        tag = found?.tag
      }
      do throws(StorageError) {
        try await write(lease, over: tag, on: storage)
        return .renewed
      } catch {
        tag = nil
        guard error.isConflict, attempt < Self.attempts else { throw error }
        attempt += 1
      }
    }
  }

  /// Writes the lease in place of the one that was seen, or of none.
  ///
  /// - Returns: `false` if the lease has changed.
  mutating func claim(
    _ lease: Lease, insteadOf seen: [UInt8]?, on storage: MeteredStorage
  ) async throws(StorageError) -> Bool {
    let found = try await Self.find(on: storage)
    guard found?.bytes == seen else { return false }
    do throws(StorageError) {
      try await write(lease, over: found?.tag, on: storage)
      return true
    } catch {
      tag = nil
      if error.isConflict { return false }
      throw error
    }
  }

  /// Removes the lease of this session, or of a writer before it.
  ///
  /// A lease that stays ends by itself, so a failure does not matter.
  mutating func release(epoch: UInt64, on storage: MeteredStorage) async {
    tag = nil
    guard let lease = (try? await Self.find(on: storage))?.lease,
      lease.session == session || lease.epoch < epoch
    else { return }
    try? await storage.delete(ReplicaName.lease.key)
  }

  // MARK: Calls

  /// The lease in place; `nil` without a lease.
  static func find(
    on storage: MeteredStorage
  ) async throws(StorageError) -> (lease: Lease?, bytes: [UInt8], tag: ObjectTag)? {
    do throws(StorageError) {
      let object = try await storage.get(ReplicaName.lease.key, byteLimit: byteLimit)
      let lease = try? Lease(reading: object.bytes, named: ReplicaName.lease.text)
      return (lease, object.bytes, object.head.tag)
    } catch {
      guard error.kind == .notFound else { throw error }
      return nil
    }
  }

  private mutating func write(
    _ lease: Lease, over found: ObjectTag?, on storage: MeteredStorage
  ) async throws(StorageError) {
    let bytes = lease.bytes
    let condition: PutCondition =
      support == .ignored ? .none : found.map { .matches($0) } ?? .absent
    do throws(StorageError) {
      let new = try await storage.put(.bytes(bytes), at: ReplicaName.lease.key, if: condition)
      tag = support == .ignored ? nil : new
    } catch {
      guard error.isRefusedCondition, condition != .none else { throw error }
      support = .ignored
      return try await write(lease, over: nil, on: storage)
    }
    if support == .unknown { await probe(bytes, on: storage) }
  }

  /// Finds out whether the storage checks the condition.
  ///
  /// The content of the write is that of the object in place, so a storage that ignores the
  /// condition changes nothing.
  private mutating func probe(_ bytes: [UInt8], on storage: MeteredStorage) async {
    let other = ObjectTag(String(repeating: "0", count: 32))
    do throws(StorageError) {
      tag = try await storage.put(.bytes(bytes), at: ReplicaName.lease.key, if: .matches(other))
      support = .ignored
    } catch {
      if error.isConflict { support = .checked }
      if error.isRefusedCondition { support = .ignored }
    }
    if support == .ignored { tag = nil }
  }
}

extension StorageError {
  /// Whether the object in place is not the one of the condition.
  ///
  /// Amazon answers 404 to a condition on an object that does not exist.
  fileprivate var isConflict: Bool { kind == .conditionFailed || kind == .notFound }

  /// Whether the storage does not know the condition.
  fileprivate var isRefusedCondition: Bool {
    switch kind {
    case .unsupported, .badRequest, .badAnswer: true
    default: false
    }
  }
}
