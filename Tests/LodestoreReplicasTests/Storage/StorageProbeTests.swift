import Foundation
import Synchronization
import Testing

@testable import LodestoreReplicas

/// The probe that refuses storages which break the rules of replicas.
@Suite(.serialized) struct StorageProbeTests {
  private func refusal(
    _ storage: some ObjectStorage
  ) async throws -> StorageProbe.Untrustworthy {
    var probe = StorageProbe()
    probe.wait = { _, _ in }
    do throws(StorageProbe.Failure) {
      try await probe.check(storage)
    } catch {
      guard case .untrustworthy(let found) = error else { throw error }
      return found
    }
    throw StorageError(.badAnswer, .open, key: "", place: storage.place, reason: "not refused")
  }

  @Test func `rclone's server is refused, because it overwrites`() async throws {
    guard let server = try StorageServer(.rclone) else { return }
    let found = try await refusal(try server.storage("place"))
    #expect(found.rule == .absentIsChecked)
    #expect(found.message.contains("accepted a second write"))
    #expect(found.message.contains("and overwrote the first"))
    #expect(found.message.contains("use a service that has them"))
    withExtendedLifetime(server) {}
  }

  @Test(arguments: [
    (LyingStorage.Lie.overwrites, StorageProbe.Untrustworthy.Rule.absentIsChecked),
    (.ignoresSecondWrite, .absentIsChecked), (.refusesAndOverwrites, .failedWriteChangesNothing),
    (.readsLate, .readsAfterWrite), (.listsLate, .listsAfterWrite),
    (.deletesLate, .goneAfterDelete), (.listsDeleted, .goneAfterDelete),
    (.losesRaces, .oneWinner),
  ])
  func `a storage that lies is refused by name`(
    of lie: LyingStorage.Lie, rule: StorageProbe.Untrustworthy.Rule
  ) async throws {
    #expect(try await refusal(LyingStorage(lie)).rule == rule)
  }

  @Test func `a storage that loses answers and asks to wait is trusted`() async throws {
    for seed in 0..<UInt64(200) {
      let storage = LyingStorage(.none)
      storage.random.withLock { $0 = SeededRandom(seed: seed) }
      var probe = StorageProbe()
      probe.repetitions = 50
      probe.wait = { _, _ in }
      do throws(StorageProbe.Failure) {
        try await probe.check(storage)
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }

  @Test func `a write that arrives after its repetition was deleted is no lie`() async throws {
    let objects = LyingStorage(.none)
    // The operations that make the first write late, and deliver it.
    let steps = Mutex<[StorageError.Operation]>([.put, .delete, .get])
    let storage = WatchedStorage(objects) { (operation, name) throws(StorageError) in
      guard steps.withLock({ $0.first }) == operation, let key = ObjectKey(name) else { return }
      steps.withLock { _ = $0.removeFirst() }
      if operation == .put {
        throw StorageError(
          .cut, .put, key: name, place: "memory", reason: "late", mayHaveHappened: true)
      }
      if operation == .get { _ = try await objects.put(.bytes([]), at: key, if: .absent) }
    }
    var probe = StorageProbe()
    probe.wait = { _, _ in }
    try await probe.check(storage)
    #expect(steps.withLock { $0.isEmpty })
  }

  @Test func `a storage that fails is no liar`() async throws {
    let folder = try StorageFolder()
    let storage = try FolderStorage(path: folder.path)
    try FileManager.default.removeItem(atPath: folder.path)
    do throws(StorageProbe.Failure) {
      try await StorageProbe().check(storage)
      Issue.record("the probe passed")
    } catch {
      guard case .storage(let found) = error else { throw error }
      #expect(found.kind == .noBucket)
    }
  }
}

/// A storage in memory that keeps all rules but one.
final class LyingStorage: ObjectStorage {
  enum Lie: Sendable {
    case none
    case overwrites, ignoresSecondWrite, refusesAndOverwrites
    case readsLate, listsLate, deletesLate, listsDeleted
    /// Writes at once all succeed.
    case losesRaces
  }

  private let lie: Lie
  private let objects = Mutex<[String: [UInt8]]>([:])
  private let deleted = Mutex<[String: [UInt8]]>([:])
  /// Draws failures in passing; `nil` for none.
  let random = Mutex<SeededRandom?>(nil)

  let place = "memory"

  init(_ lie: Lie) { self.lie = lie }

  private func error(
    _ kind: StorageError.Kind, _ operation: StorageError.Operation, lost: Bool = false
  ) -> StorageError {
    StorageError(
      kind, operation, key: "", place: place, reason: "drawn", mayHaveHappened: lost)
  }

  /// Fails before or after the call's effect, as drawn.
  private func passing<R>(
    _ operation: StorageError.Operation, _ call: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let draw = random.withLock { random -> Int in
      guard var source = random else { return 9 }
      defer { random = source }
      return Int.random(in: 0..<10, using: &source)
    }
    if draw == 0 { throw error(.throttled(retryAfter: .seconds(1)), operation) }
    if draw == 1 { throw error(.conflictAgain, operation) }
    let result = try call()
    if draw == 2 { throw error(.cut, operation, lost: true) }
    return result
  }

  func get(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
  ) async throws(StorageError) -> StoredObject {
    try passing(.get) { () throws(StorageError) in
      let late = lie == .deletesLate ? deleted.withLock { $0[key.text] } : nil
      guard lie != .readsLate, let bytes = objects.withLock({ $0[key.text] }) ?? late else {
        throw error(.notFound, .get)
      }
      return StoredObject(
        head: ObjectHead(byteCount: UInt64(bytes.count), tag: ObjectTag("t")), bytes: bytes)
    }
  }

  func put(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
  ) async throws(StorageError) -> ObjectTag {
    guard case .bytes(let bytes) = content else { throw error(.unsupported, .put) }
    // The other writers of the race come before the check.
    if lie == .losesRaces, key.text.hasSuffix("race") {
      for _ in 0..<20 { await Task.yield() }
    }
    return try passing(.put) { () throws(StorageError) in
      let isRefused = objects.withLock { objects in
        let isThere = objects[key.text] != nil && condition == .absent
        let isBlind =
          lie == .overwrites || lie == .losesRaces && key.text.hasSuffix("race")
        if !isThere || isBlind || lie == .refusesAndOverwrites { objects[key.text] = bytes }
        return isThere && !isBlind && lie != .ignoresSecondWrite
      }
      guard !isRefused else { throw error(.conditionFailed, .put) }
      return ObjectTag("t")
    }
  }

  func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
    try await get(key, byteLimit: .max).head
  }

  func list(
    prefix: String, after: String?, limit: Int
  ) async throws(StorageError) -> ObjectPage {
    try passing(.list) { () throws(StorageError) in
      var keys = objects.withLock { Array($0.keys) }
      if lie == .listsLate { keys = [] }
      if lie == .listsDeleted { keys += deleted.withLock { Array($0.keys) } }
      let entries = keys.filter { $0.hasPrefix(prefix) && $0 > after ?? "" }.sorted().map {
        ObjectPage.Entry(key: $0, head: ObjectHead(byteCount: 1, tag: ObjectTag("t")))
      }
      return ObjectPage(entries: entries, isLast: true)
    }
  }

  func delete(_ key: ObjectKey) async throws(StorageError) {
    try passing(.delete) { () throws(StorageError) in
      let bytes = objects.withLock { $0.removeValue(forKey: key.text) }
      deleted.withLock { $0[key.text] = bytes }
    }
  }
}
