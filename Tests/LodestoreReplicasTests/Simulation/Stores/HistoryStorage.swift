#if Datasets
  @testable import LodestoreReplicas

  /// A request to the bucket of a history.
  enum HistoryCall: Sendable {
    case get(String, Range<UInt64>?)
    case put(String, [UInt8], PutCondition)
    case head(String)
    case list(prefix: String, after: String?, limit: Int)
    case delete(String)

    var operation: StorageError.Operation {
      switch self {
      case .get: .get
      case .put: .put
      case .head: .head
      case .list: .list
      case .delete: .delete
      }
    }

    var key: String {
      switch self {
      case .get(let key, _), .put(let key, _, _), .head(let key), .delete(let key): key
      case .list(let prefix, _, _): prefix
      }
    }

    func error(_ kind: StorageError.Kind, mayHaveHappened: Bool = false) -> StorageError {
      StorageError(
        kind, operation, key: key, place: HistoryBucket.place, reason: "\(kind)",
        mayHaveHappened: mayHaveHappened)
    }
  }

  /// The answer to a request that has succeeded.
  enum HistoryAnswer: Sendable {
    case object(StoredObject)
    case head(ObjectHead)
    case page(ObjectPage)
    case done
  }

  typealias HistoryResult = Result<HistoryAnswer, StorageError>

  /// The objects of a history, on which each request is one step.
  struct HistoryBucket {
    static let place = "the simulated bucket"

    private(set) var objects: [String: [UInt8]] = [:]
    /// Whether conditions are ignored, as by rclone's server.
    var overwrites = false

    mutating func execute(_ call: HistoryCall) -> HistoryResult {
      switch call {
      case .get(let key, let range):
        guard let bytes = objects[key] else { return .failure(call.error(.notFound)) }
        guard let range else {
          return .success(.object(StoredObject(head: Self.head(bytes), bytes: bytes)))
        }
        guard range.lowerBound < bytes.count else { return .failure(call.error(.badRange)) }
        let end = min(range.upperBound, UInt64(bytes.count))
        let part = Array(bytes[Int(range.lowerBound)..<Int(end)])
        return .success(.object(StoredObject(head: Self.head(bytes), bytes: part)))
      case .put(let key, let bytes, let condition):
        if !isMet(condition, key) { return .failure(call.error(.conditionFailed)) }
        objects[key] = bytes
        return .success(.head(Self.head(bytes)))
      case .head(let key):
        guard let bytes = objects[key] else { return .failure(call.error(.notFound)) }
        return .success(.head(Self.head(bytes)))
      case .list(let prefix, let after, let limit):
        let keys = objects.keys.filter { $0.hasPrefix(prefix) && (after.map($0.isAfter) ?? true) }
        let page = keys.sorted { $1.isAfter($0) }.prefix(limit)
        let entries = page.map {
          ObjectPage.Entry(key: $0, head: Self.head(objects[$0] ?? []))
        }
        return .success(.page(ObjectPage(entries: entries, isLast: keys.count == page.count)))
      case .delete(let key):
        objects[key] = nil
        return .success(.done)
      }
    }

    private func isMet(_ condition: PutCondition, _ key: String) -> Bool {
      switch condition {
      case .none: true
      case .absent: overwrites || objects[key] == nil
      case .matches(let tag): objects[key].map { Self.head($0).tag == tag } ?? false
      }
    }

    private static func head(_ bytes: [UInt8]) -> ObjectHead {
      var hash: UInt64 = 0
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      return ObjectHead(
        byteCount: UInt64(bytes.count), tag: ObjectTag(String(hash, radix: 16)))
    }
  }

  extension String {
    fileprivate func isAfter(_ other: String) -> Bool {
      other.utf8.lexicographicallyPrecedes(utf8)
    }
  }

  /// The bucket as a life sees it through its network.
  struct HistoryStorage: ObjectStorage {
    let life: HistoryLife

    var place: String { HistoryBucket.place }

    private func send(_ call: HistoryCall) async throws(StorageError) -> HistoryAnswer {
      try await life.parked(whenCancelled: .failure(call.error(.cancelled, mayHaveHappened: true)))
      {
        life.history.transmit(call, of: life, $0)
      }.get()
    }

    private func wrong(_ call: HistoryCall) -> StorageError { call.error(.badAnswer) }

    func get(
      _ key: ObjectKey, range: Range<UInt64>?, byteLimit: Int
    ) async throws(StorageError) -> StoredObject {
      let call = HistoryCall.get(key.text, range)
      guard case .object(let object) = try await send(call) else { throw wrong(call) }
      guard object.bytes.count <= byteLimit else { throw call.error(.tooLarge) }
      return object
    }

    func download(
      _ key: ObjectKey, range: Range<UInt64>?, byteLimit: UInt64,
      take: @escaping @Sendable ([UInt8]) throws(StorageError) -> Void
    ) async throws(StorageError) -> ObjectHead {
      let object = try await get(key, range: range, byteLimit: Int(clamping: byteLimit))
      if life.history.cutsDownload() {
        try take(Array(object.bytes.prefix(object.bytes.count / 2)))
        throw HistoryCall.get(key.text, range).error(.cut)
      }
      try take(object.bytes)
      return object.head
    }

    func put(
      _ content: ObjectContent, at key: ObjectKey, if condition: PutCondition
    ) async throws(StorageError) -> ObjectTag {
      let bytes: [UInt8]
      switch content {
      case .bytes(let given): bytes = given
      case .file(let path, _):
        guard let found = HistoryFiles.bytes(of: path) else {
          throw HistoryCall.put(key.text, [], condition).error(.badRequest)
        }
        bytes = found
      }
      let call = HistoryCall.put(key.text, bytes, condition)
      guard case .head(let head) = try await send(call) else { throw wrong(call) }
      return head.tag
    }

    func head(_ key: ObjectKey) async throws(StorageError) -> ObjectHead {
      let call = HistoryCall.head(key.text)
      guard case .head(let head) = try await send(call) else { throw wrong(call) }
      return head
    }

    func list(
      prefix: String, after: String?, limit: Int
    ) async throws(StorageError) -> ObjectPage {
      let call = HistoryCall.list(prefix: prefix, after: after, limit: limit)
      guard case .page(let page) = try await send(call) else { throw wrong(call) }
      return page
    }

    func delete(_ key: ObjectKey) async throws(StorageError) {
      _ = try await send(.delete(key.text))
    }
  }
#endif
