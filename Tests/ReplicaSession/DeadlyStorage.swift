import LodestoreReplicas

/// A storage whose calls are steps at which the process can kill itself.
struct DeadlyStorage: ObjectStorage {
  let storage: any ObjectStorage
  let death: Death

  var place: String { storage.place }

  /// - Parameter name: A key or a prefix, whose first part is in the name of the step.
  private func call<R>(
    _ operation: StorageError.Operation, _ name: String,
    _ body: () async throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    let folder = name.prefix { $0 != "/" && $0 != "." }
    death.make("before-\(operation)-\(folder)")
    // An answer may also be that there is no object.
    defer { death.make("after-\(operation)-\(folder)") }
    return try await body()
  }

  func get(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
  ) async throws(StorageError) -> StoredObject {
    try await call(.get, key.text) { () async throws(StorageError) in
      try await storage.get(key, range: range, byteLimit: byteLimit)
    }
  }

  func download(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
    take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
  ) async throws(StorageError) -> ObjectHead {
    try await call(.get, key.text) { () async throws(StorageError) in
      try await storage.download(key, range: range, byteLimit: byteLimit, take: take)
    }
  }

  func put(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
  ) async throws(StorageError) -> ObjectTag {
    try await call(.put, key.text) { () async throws(StorageError) in
      try await storage.put(content, at: key, if: condition)
    }
  }

  func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
    try await call(.head, key.text) { () async throws(StorageError) in
      try await storage.head(key)
    }
  }

  func list(
    prefix: String, after: String?, limit: Int
  ) async throws(StorageError) -> ObjectPage {
    try await call(.list, prefix) { () async throws(StorageError) in
      try await storage.list(prefix: prefix, after: after, limit: limit)
    }
  }

  func delete(_ key: ObjectKey) async throws(StorageError) {
    try await call(.delete, key.text) { () async throws(StorageError) in
      try await storage.delete(key)
    }
  }
}
