/// Checks that a storage keeps the rules that replicas depend on.
///
/// Some services accept a condition and ignore it. Two writers would then overwrite each other's
/// log without an error, so such a storage is refused before anything is written to it.
package struct StorageProbe: Sendable {
  /// The folder of the probe's objects.
  package static let folder = "probe"

  /// A rule that the storage broke.
  package struct Untrustworthy: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Rule: String, Sendable, Hashable, CaseIterable {
      /// A second write with the condition "absent" must fail.
      case absentIsChecked
      /// A failed write must leave the object as it was.
      case failedWriteChangesNothing
      /// An object must be readable as soon as it was written.
      case readsAfterWrite
      /// Lists must have an object as soon as it was written.
      case listsAfterWrite
      /// Reads and lists must lack an object as soon as it was deleted.
      case goneAfterDelete
      /// Exactly one of several writes at once may succeed.
      case oneWinner
    }

    package var rule: Rule
    package var message: String
    package var description: String { message }
  }

  package enum Failure: Error, Sendable {
    /// The storage must not be used.
    case untrustworthy(Untrustworthy)
    /// A call failed, so nothing is known about the storage.
    case storage(StorageError)
  }

  /// The number of writes at once.
  package var racers = 8
  /// The number of repetitions of a call that failed in passing.
  package var repetitions = 5
  /// Waits before a repetition, whose number counts from 1.
  package var wait: @Sendable (_ repetition: Int, _ asked: Duration?) async throws -> Void =
    StorageWait.standard

  package init() {}

  /// Writes, reads, lists and deletes objects of random names in ``folder``.
  ///
  /// The objects are deleted again, also after a failure if the storage allows it.
  package func check(_ storage: some ObjectStorage) async throws(Failure) {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    guard let key = ObjectKey("\(Self.folder)/\(name)"),
      let raced = ObjectKey("\(Self.folder)/\(name)-race")
    else { return }
    do {
      try await checkOne(storage, key)
      try await checkRace(storage, raced)
    } catch {
      for key in [key, raced] { try? await storage.delete(key) }
      throw error
    }
  }

  // MARK: One object

  private func checkOne(_ storage: some ObjectStorage, _ key: ObjectKey) async throws(Failure) {
    let content = Array("first of \(key.text)".utf8)
    let other = Array("second of \(key.text)".utf8)
    // Writes whose answers were lost, and which may arrive later.
    var lateCount = 0
    try await create(storage, key, content, &lateCount)
    var isRefused = false
    do throws(StorageError) {
      try await put(other, at: key, in: storage, &lateCount)
    } catch {
      guard error.kind == .conditionFailed else { throw .storage(error) }
      isRefused = true
    }
    let found = try await self.content(of: key, in: storage)
    guard isRefused else {
      throw broken(
        .absentIsChecked, storage,
        "it accepted a second write of '\(key.text)' under the condition that there is no object"
          + (found == other ? ", and overwrote the first" : ""))
    }
    guard let found else {
      throw broken(.readsAfterWrite, storage, "it has no '\(key.text)', which was just written")
    }
    guard found == content else {
      throw broken(
        .failedWriteChangesNothing, storage,
        "it refused a second write of '\(key.text)' and changed the object")
    }
    guard try await lists(key, in: storage) else {
      throw broken(.listsAfterWrite, storage, "its list lacks '\(key.text)', just written")
    }
    for _ in 0...lateCount {
      try await delete(key, in: storage)
      let isRead = try await self.content(of: key, in: storage) != nil
      let isListed = try await lists(key, in: storage)
      if !isRead, !isListed { return }
    }
    throw broken(.goneAfterDelete, storage, "it still shows '\(key.text)', just deleted")
  }

  /// Creates the object, or finds it created by a repetition whose answer was lost.
  private func create(
    _ storage: some ObjectStorage, _ key: ObjectKey, _ content: [UInt8], _ lateCount: inout Int
  ) async throws(Failure) {
    do throws(StorageError) {
      try await put(content, at: key, in: storage, &lateCount)
    } catch {
      guard error.kind == .conditionFailed else { throw .storage(error) }
      guard try await self.content(of: key, in: storage) == content else {
        throw broken(
          .absentIsChecked, storage,
          "it refused to create '\(key.text)', whose name is random and new")
      }
    }
  }

  // MARK: Writes at once

  private func checkRace(_ storage: some ObjectStorage, _ key: ObjectKey) async throws(Failure) {
    let results = await withTaskGroup(of: (Int, StorageError?).self) { group in
      for number in 0..<racers {
        group.addTask {
          do throws(StorageError) {
            _ = try await storage.put(.bytes(Self.content(number, key)), at: key, if: .absent)
            return (number, nil)
          } catch {
            return (number, error)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let winners = results.filter { $0.1 == nil }.map(\.0)
    let unknown = results.filter { $0.1?.mayHaveHappened == true }.map(\.0)
    let found = try await content(of: key, in: storage)
    try await delete(key, in: storage)
    guard winners.count <= 1 else {
      throw broken(
        .oneWinner, storage,
        "it accepted \(winners.count) of \(racers) writes of '\(key.text)' at once, each under the "
          + "condition that there is no object")
    }
    if let winner = winners.first {
      guard found == Self.content(winner, key) else {
        throw broken(
          .oneWinner, storage,
          "it accepted a write of '\(key.text)' and has the content of a refused one")
      }
    } else if unknown.isEmpty, let error = results.compactMap(\.1).first {
      // Services may answer all of them with "again", and have no object afterwards.
      guard found == nil else {
        throw broken(
          .oneWinner, storage, "it refused all writes of '\(key.text)' and has an object")
      }
      guard error.isWorthRepeating else { throw .storage(error) }
    }
  }

  private static func content(_ number: Int, _ key: ObjectKey) -> [UInt8] {
    Array("writer \(number) of \(key.text)".utf8)
  }

  // MARK: Calls

  private func content(
    of key: ObjectKey, in storage: some ObjectStorage
  ) async throws(Failure) -> [UInt8]? {
    do throws(StorageError) {
      return try await repeated { () throws(StorageError) in
        try await storage.get(key, byteLimit: 4096).bytes
      }
    } catch {
      guard error.kind == .notFound else { throw .storage(error) }
      return nil
    }
  }

  private func lists(
    _ key: ObjectKey, in storage: some ObjectStorage
  ) async throws(Failure) -> Bool {
    do throws(StorageError) {
      // The name is the whole prefix, so objects of other probes are not listed.
      return try await repeated { () throws(StorageError) in
        try await storage.list(prefix: key.text, after: nil, limit: 10).entries
          .contains { $0.key == key.text }
      }
    } catch {
      throw .storage(error)
    }
  }

  /// Writes an object that must not exist, and counts the requests that may arrive later.
  private func put(
    _ content: [UInt8], at key: ObjectKey, in storage: some ObjectStorage, _ lateCount: inout Int
  ) async throws(StorageError) {
    try await repeated { () throws(StorageError) in
      do throws(StorageError) {
        _ = try await storage.put(.bytes(content), at: key, if: .absent)
      } catch {
        if error.mayHaveHappened { lateCount += 1 }
        throw error
      }
    }
  }

  private func delete(_ key: ObjectKey, in storage: some ObjectStorage) async throws(Failure) {
    do throws(StorageError) {
      try await repeated { () throws(StorageError) in try await storage.delete(key) }
    } catch {
      throw .storage(error)
    }
  }

  /// Repeats a call that failed in passing.
  private func repeated<R: Sendable>(
    _ call: () async throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    var repetition = 0
    while true {
      do throws(StorageError) {
        return try await call()
      } catch {
        repetition += 1
        guard error.isWorthRepeating, repetition <= repetitions else { throw error }
        var asked: Duration?
        if case .throttled(let wait?) = error.kind { asked = wait }
        do { try await wait(repetition, asked) } catch { throw StorageError(cancelled: error) }
      }
    }
  }

  private func broken(
    _ rule: Untrustworthy.Rule, _ storage: some ObjectStorage, _ reason: String
  ) -> Failure {
    .untrustworthy(
      Untrustworthy(
        rule: rule,
        message: "cannot trust the storage '\(storage.place)': \(StorageError.visible(reason)); "
          + "replicas need conditional writes (If-None-Match: *), so use a service that has them, "
          + "such as Amazon S3 or SeaweedFS"))
  }
}

extension StorageError {
  fileprivate init(cancelled error: any Error) {
    self.init(.cancelled, .open, key: "", place: "the storage", reason: "\(error)")
  }
}
