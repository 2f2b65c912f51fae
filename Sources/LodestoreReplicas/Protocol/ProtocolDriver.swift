/// Drives machines of the protocol on a storage: sends their requests, and waits when they ask.
///
/// Calls that fail in passing are repeated until they succeed, until ``failureLimit``, or until the
/// task is cancelled.
struct ProtocolDriver: Sendable {
  let storage: any ObjectStorage
  /// The number of failures in a row after which a call throws; `nil` for no limit.
  var failureLimit: Int?
  /// Waits after a failure, whose number counts from 1, for the time that the storage asks for or
  /// longer.
  var wait: @Sendable (_ failures: Int, _ asked: Duration?) async throws -> Void =
    StorageWait.standard
  /// The number of objects that one call lists.
  var pageLimit = 1000
  /// Receives each call's request, and its outcome or its error.
  var report: @Sendable (StorageRequest, Swift.Result<StorageOutcome, StorageError>) -> Void = {
    _, _ in
  }

  init(_ storage: any ObjectStorage) { self.storage = storage }

  /// Drives a machine to its next result.
  ///
  /// - Throws: ``StorageError`` for failures that a repetition cannot end. The machine has not
  ///   received an answer then, so driving it again repeats the request.
  func run<Machine: ProtocolMachine>(
    _ machine: inout Machine
  ) async throws(StorageError) -> Machine.Result {
    var last: StorageError?
    while true {
      switch machine.next() {
      case .finished(let result): return result
      case .wait(let failures):
        if let failureLimit, failures >= failureLimit, let last { throw last }
        try await pause(failures, last)
      case .request(let request):
        do throws(StorageError) {
          let outcome = try await answer(to: request)
          report(request, .success(outcome))
          machine.receive(outcome)
        } catch {
          report(request, .failure(error))
          guard error.isWorthRepeating else { throw error }
          last = error
          machine.receive(.unclear)
        }
      }
    }
  }

  /// Sends one request until its outcome is clear.
  ///
  /// `.exists` may then mean that an earlier try has stored the object.
  func send(_ request: StorageRequest) async throws(StorageError) -> StorageOutcome {
    var machine = SingleRequest(request)
    return try await run(&machine)
  }

  /// Returns the bytes of an object; `nil` if the object does not exist.
  func get(_ name: ReplicaName) async throws(StorageError) -> [UInt8]? {
    guard case .object(let bytes) = try await send(.get(name)) else { return nil }
    return bytes
  }

  // MARK: Calls

  private func pause(_ failures: Int, _ last: StorageError?) async throws(StorageError) {
    var asked: Duration?
    if case .throttled(let duration?)? = last?.kind { asked = duration }
    do {
      try await wait(failures, asked)
    } catch {
      throw StorageError(
        .cancelled, last?.operation ?? .open, key: last?.key ?? "", place: storage.place,
        reason: "\(error)")
    }
  }

  private func answer(
    to request: StorageRequest
  ) async throws(StorageError) -> StorageOutcome {
    switch request {
    case .get(let name):
      do throws(StorageError) {
        return .object(try await storage.get(name.key, byteLimit: name.byteLimit).bytes)
      } catch {
        guard error.kind == .notFound else { throw error }
        return .absent
      }
    case .putIfAbsent(let name, let bytes):
      do throws(StorageError) {
        _ = try await storage.put(.bytes(bytes), at: name.key, if: .absent)
        return .stored
      } catch {
        guard error.kind == .conditionFailed else { throw error }
        return .exists
      }
    case .delete(let name):
      try await storage.delete(name.key)
      return .deleted
    case .list(.merged, let slot): return .names(try await mergedNames(upTo: slot))
    case .list(let folder, let slot):
      return .names(try await names("\(folder.rawValue)/", upTo: slot))
    }
  }

  /// The names of one folder, without those of later slots and without foreign names.
  private func names(
    _ prefix: String, upTo slot: UInt64
  ) async throws(StorageError) -> [ReplicaName] {
    var names: [ReplicaName] = []
    var last: String?
    while true {
      let page = try await storage.list(prefix: prefix, after: last, limit: pageLimit)
      for entry in page.entries {
        guard let name = ReplicaName(entry.key) else { continue }
        // A range of merged slots sorts by its first slot, and may end later.
        if let found = name.firstSlot, found > slot { return names }
        if name.collectedSlot.map({ $0 <= slot }) ?? true { names.append(name) }
      }
      guard !page.isLast, let key = page.entries.last?.key else { return names }
      last = key
    }
  }

  /// The names of all levels that can have entries up to the slot.
  private func mergedNames(upTo slot: UInt64) async throws(StorageError) -> [ReplicaName] {
    var names: [ReplicaName] = []
    var length = ReplicaName.mergeFactor
    for level in 1...ReplicaName.highestLevel where length <= slot {
      names += try await self.names("merged/\(level)/", upTo: slot)
      length *= ReplicaName.mergeFactor
    }
    return names
  }
}

/// Sends one request and repeats it while its outcome is unclear.
private struct SingleRequest: ProtocolMachine {
  private let request: StorageRequest
  private var outcome: StorageOutcome?
  private var failures = Failures()

  init(_ request: StorageRequest) { self.request = request }

  mutating func next() -> ProtocolAction<StorageOutcome> {
    if let count = failures.takeWait() { return .wait(failures: count) }
    return outcome.map { .finished($0) } ?? .request(request)
  }

  mutating func receive(_ outcome: StorageOutcome) {
    if case .unclear = outcome { return failures.add() }
    self.outcome = outcome
  }
}

extension ReplicaName {
  /// The maximum size of the object in bytes.
  fileprivate var byteLimit: Int {
    switch self {
    case .entry, .merged: PackLimits.entry
    case .base(_, _, .file), .base(_, _, .frames): PackLimits.unpacked
    default: ReplicaObject.byteLimit
    }
  }

  /// The first slot of the object, by which names of a folder sort; `nil` for objects without one.
  fileprivate var firstSlot: UInt64? {
    if case .merged(_, let slots) = self { slots.lowerBound } else { collectedSlot }
  }
}
