import Synchronization

@testable import LodestoreReplicas

/// A storage whose calls pass through closures of a test, which may wait, fail, or change objects.
final class WatchedStorage: ObjectStorage {
  /// Takes the operation, and the key of the object or the prefix of a list.
  typealias Watch =
    @Sendable (StorageError.Operation, String) async throws(StorageError) -> Void

  private let storage: any ObjectStorage
  private let watch: Mutex<Watch>

  var place: String { storage.place }

  init(_ storage: any ObjectStorage, before watch: @escaping Watch = { _, _ in }) {
    self.storage = storage
    self.watch = Mutex(watch)
  }

  /// Replaces the closure that is called before each call.
  func setBefore(_ new: @escaping Watch) { watch.withLock { $0 = new } }

  private func before(_ operation: StorageError.Operation, _ name: String)
    async throws(StorageError)
  {
    let watch = watch.withLock { $0 }
    try await watch(operation, name)
  }

  func get(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
  ) async throws(StorageError) -> StoredObject {
    try await before(.get, key.text)
    return try await storage.get(key, range: range, byteLimit: byteLimit)
  }

  func download(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
    take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
  ) async throws(StorageError) -> ObjectHead {
    try await before(.get, key.text)
    return try await storage.download(key, range: range, byteLimit: byteLimit, take: take)
  }

  func put(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
  ) async throws(StorageError) -> ObjectTag {
    try await before(.put, key.text)
    return try await storage.put(content, at: key, if: condition)
  }

  func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
    try await before(.head, key.text)
    return try await storage.head(key)
  }

  func list(
    prefix: String, after: String?, limit: Int
  ) async throws(StorageError) -> ObjectPage {
    try await before(.list, prefix)
    return try await storage.list(prefix: prefix, after: after, limit: limit)
  }

  func delete(_ key: ObjectKey) async throws(StorageError) {
    try await before(.delete, key.text)
    try await storage.delete(key)
  }
}
