internal import Synchronization

/// The requests to a storage and their bytes since a writer or a follower was opened.
public struct ReplicaTraffic: Sendable, Hashable {
  /// The number of requests that read, list or look up objects.
  public var reads = 0
  /// The number of requests that write objects.
  public var writes = 0
  /// The number of requests that delete objects.
  public var deletions = 0
  /// The number of requests that failed, without refused conditions and absent objects.
  public var failures = 0
  /// The number of bytes of objects that were received.
  public var bytesReceived: UInt64 = 0
  /// The number of bytes of objects that were sent.
  public var bytesSent: UInt64 = 0

  /// The number of all requests.
  public var requests: Int { reads + writes + deletions }
}

/// A storage that counts the requests of its users.
final class MeteredStorage: ObjectStorage {
  private let storage: any ObjectStorage
  private let counts = Mutex(ReplicaTraffic())
  private let observer = Mutex(Observer())

  private struct Observer {
    var isFailing = false
    var body: (@Sendable (StorageError?) -> Void)?
  }

  var place: String { storage.place }

  init(_ storage: any ObjectStorage) { self.storage = storage }

  /// The requests so far.
  var traffic: ReplicaTraffic { counts.withLock { $0 } }

  /// Calls a closure with each failure, also if the call is repeated, and with `nil` at the first
  /// success after a failure.
  func onFailure(_ body: @escaping @Sendable (StorageError?) -> Void) {
    observer.withLock { $0.body = body }
  }

  private func note(_ error: StorageError?) {
    let body = observer.withLock { observer in
      defer { observer.isFailing = error != nil }
      return error != nil || observer.isFailing ? observer.body : nil
    }
    body?(error)
  }

  private func counting<R>(
    _ path: WritableKeyPath<ReplicaTraffic, Int> & Sendable,
    _ body: () async throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    counts.withLock { $0[keyPath: path] += 1 }
    do throws(StorageError) {
      let result = try await body()
      note(nil)
      return result
    } catch {
      if error.kind != .notFound, error.kind != .conditionFailed {
        counts.withLock { $0.failures += 1 }
        if error.kind != .cancelled { note(error) }
      }
      throw error
    }
  }

  func get(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
  ) async throws(StorageError) -> StoredObject {
    let object = try await counting(\.reads) { () async throws(StorageError) in
      try await storage.get(key, range: range, byteLimit: byteLimit)
    }
    counts.withLock { $0.bytesReceived += UInt64(object.bytes.count) }
    return object
  }

  func download(
    _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
    take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
  ) async throws(StorageError) -> ObjectHead {
    try await counting(\.reads) { () async throws(StorageError) in
      try await storage.download(key, range: range, byteLimit: byteLimit) {
        [self] (bytes) throws(StorageError) in
        counts.withLock { $0.bytesReceived += UInt64(bytes.count) }
        try take(bytes)
      }
    }
  }

  func put(
    _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
  ) async throws(StorageError) -> ObjectTag {
    if case .bytes(let bytes) = content {
      counts.withLock { $0.bytesSent += UInt64(bytes.count) }
    }
    let further = storage.writeCount(of: content, if: condition) - 1
    counts.withLock { $0.writes += further }
    return try await counting(\.writes) { () async throws(StorageError) in
      try await storage.put(content, at: key, if: condition)
    }
  }

  func endOldWrites(prefix: String, olderThan age: Duration) async throws(StorageError) -> Int {
    // Keys may lack the right for this call, which is no failure of the replica.
    try await storage.endOldWrites(prefix: prefix, olderThan: age)
  }

  /// Adds the bytes of a file that was written, whose size only the caller knows.
  func noteSent(_ count: UInt64) { counts.withLock { $0.bytesSent += count } }

  func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
    try await counting(\.reads) { () async throws(StorageError) in try await storage.head(key) }
  }

  func list(
    prefix: String, after: String?, limit: Int
  ) async throws(StorageError) -> ObjectPage {
    try await counting(\.reads) { () async throws(StorageError) in
      try await storage.list(prefix: prefix, after: after, limit: limit)
    }
  }

  func delete(_ key: ObjectKey) async throws(StorageError) {
    try await counting(\.deletions) { () async throws(StorageError) in
      try await storage.delete(key)
    }
  }
}
