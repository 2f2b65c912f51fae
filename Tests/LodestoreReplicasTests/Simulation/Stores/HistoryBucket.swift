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
    struct Object {
      var head: ObjectHead
      var bytes: [UInt8]
      /// The number of the write, and its time.
      var number: Int
      var time: Int64
    }

    static let place = "the simulated bucket"

    private(set) var objects: [String: Object] = [:]
    private var lastNumber = 0
    /// Deleted objects and the times of their deletion, for lists that lag.
    private var deleted: [String: (object: Object, time: Int64)] = [:]
    /// Whether conditions are ignored, as by rclone's server.
    var overwrites = false

    /// Executes a request.
    ///
    /// - Parameter lag: The age of the list that a request for a list gets.
    mutating func execute(_ call: HistoryCall, at time: Int64, lag: Int64) -> HistoryResult {
      switch call {
      case .get(let key, let range):
        guard let object = objects[key] else { return .failure(call.error(.notFound)) }
        guard let range else {
          return .success(.object(StoredObject(head: object.head, bytes: object.bytes)))
        }
        guard range.lowerBound < object.bytes.count else {
          return .failure(call.error(.badRange))
        }
        let end = min(range.upperBound, UInt64(object.bytes.count))
        let part = Array(object.bytes[Int(range.lowerBound)..<Int(end)])
        return .success(.object(StoredObject(head: object.head, bytes: part)))
      case .put(let key, let bytes, let condition):
        if !isMet(condition, key) { return .failure(call.error(.conditionFailed)) }
        lastNumber += 1
        let head = Self.head(bytes)
        objects[key] = Object(head: head, bytes: bytes, number: lastNumber, time: time)
        return .success(.head(head))
      case .head(let key):
        guard let object = objects[key] else { return .failure(call.error(.notFound)) }
        return .success(.head(object.head))
      case .list(let prefix, let after, let limit):
        return .success(.page(page(prefix, after, limit, at: time - lag)))
      case .delete(let key):
        if let object = objects.removeValue(forKey: key) { deleted[key] = (object, time) }
        return .success(.done)
      }
    }

    private func page(
      _ prefix: String, _ after: String?, _ limit: Int, at time: Int64
    ) -> ObjectPage {
      var found: [(key: String, object: Object)] = []
      func take(_ key: String, _ object: Object) {
        guard object.time <= time, key.hasPrefix(prefix), after.map({ $0 < key }) ?? true else {
          return
        }
        found.append((key, object))
      }
      for (key, object) in objects { take(key, object) }
      for (key, value) in deleted where value.time > time && objects[key] == nil {
        take(key, value.object)
      }
      found.sort {
        let (left, right) = (Self.order($0.key), Self.order($1.key))
        return left == right ? $0.object.number < $1.object.number : left < right
      }
      let entries = found.prefix(limit).map {
        ObjectPage.Entry(key: $0.key, head: $0.object.head)
      }
      return ObjectPage(entries: entries, isLast: entries.count == found.count)
    }

    /// The part of a key by which lists are sorted.
    ///
    /// Random parts of keys are left out, because they would change the order from run to run.
    private static func order(_ key: String) -> Substring {
      switch ReplicaName(key) {
      case .base: key.prefix { $0 != "-" }
      case .follower: key.prefix { $0 != "-" }
      default: key[...]
      }
    }

    private func isMet(_ condition: PutCondition, _ key: String) -> Bool {
      switch condition {
      case .none: true
      case .absent: overwrites || objects[key] == nil
      case .matches(let tag): objects[key]?.head.tag == tag
      }
    }

    private static func head(_ bytes: [UInt8]) -> ObjectHead {
      var hash: UInt64 = 0
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      return ObjectHead(
        byteCount: UInt64(bytes.count), tag: ObjectTag(String(hash, radix: 16)))
    }
  }
#endif
