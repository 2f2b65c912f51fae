#if Datasets
  @testable import LodestoreReplicas

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
