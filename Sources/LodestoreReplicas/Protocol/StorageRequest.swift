/// A request to the storage, in which the bytes of objects are opaque.
enum StorageRequest: Sendable, Hashable {
  case get(ObjectName)
  /// Stores the object only if none of its name exists (`If-None-Match: *`).
  case putIfAbsent(ObjectName, [UInt8])
  /// Deletes the object. An absent object is deleted, too.
  case delete(ObjectName)
  /// Lists the names of a folder, in ascending order, with names of a higher slot left out.
  case list(ObjectFolder, upTo: UInt64)
}

/// The answer to a request.
enum StorageOutcome: Sendable, Hashable {
  /// The bytes of the object.
  case object([UInt8])
  /// No object has the name (404).
  case absent
  /// The object was stored (200).
  case stored
  /// The object was not stored, because one of its name exists (412).
  case exists
  /// The object is deleted.
  case deleted
  /// The names that were listed.
  case names([ObjectName])
  /// The request may have been executed, may not have been, or may be executed later.
  ///
  /// 409, 429, 5xx, timeouts and cut connections are unclear. The machine repeats its request.
  case unclear
}

/// The next step of a machine of the protocol.
enum ProtocolAction<Result: Sendable>: Sendable {
  /// Send the request, and pass its answer to `receive`.
  case request(StorageRequest)
  /// Wait, longer with each failure, and call `next` again.
  case wait(failures: Int)
  /// The machine has ended.
  case finished(Result)
}

/// The number of unclear answers in a row, and whether the wait after the last is due.
struct Failures: Sendable {
  private var count = 0
  private var isWaitDue = false

  mutating func add() {
    count += 1
    isWaitDue = true
  }

  mutating func clear() { self = Failures() }

  /// The number of failures to wait for, once after each failure.
  mutating func takeWait() -> Int? {
    guard isWaitDue else { return nil }
    isWaitDue = false
    return count
  }
}
