/// A request of a machine of the protocol to the storage.
enum StorageRequest: Sendable, Hashable {
  case get(ReplicaName)
  /// Stores the object only if none of its name exists (`If-None-Match: *`).
  case putIfAbsent(ReplicaName, [UInt8])
  /// Deletes the object, and succeeds if it is absent.
  case delete(ReplicaName)
  /// Lists the names of a folder whose slot is at most `upTo`, in ascending order.
  case list(ReplicaFolder, upTo: UInt64)
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
  case names([ReplicaName])
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
  /// The machine has ended, or needs an answer of its caller to go on.
  case finished(Result)
}

/// A part of the protocol as a state machine without input and output.
///
/// `next` and `receive` alternate until `next` returns `.finished`. ``ProtocolDriver`` does that on
/// a storage. A machine is a value: a copy that is not driven further changes nothing.
protocol ProtocolMachine: Sendable {
  associatedtype Result: Sendable

  /// The next step; the same one until the answer to its request is received.
  mutating func next() -> ProtocolAction<Result>

  /// Takes the answer to the last request.
  mutating func receive(_ outcome: StorageOutcome)
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
