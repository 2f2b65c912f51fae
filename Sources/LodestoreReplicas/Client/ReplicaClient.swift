internal import LodestoreFormat

/// The relation of a base to the log.
enum BasePlace: Sendable {
  /// The base continues the entry of its slot.
  case onChain
  /// The slot has another entry.
  ///
  /// A writer that was fenced, or ended before its entry, may have stored a base of a slot that it
  /// did not win.
  case beside
  /// The entry of the slot cannot be read.
  case damaged
  /// The slot has no entry: it was collected, or the log does not have it yet.
  case noEntry
}

/// Sends the requests of writers, followers and restores to a storage.
///
/// Calls with an unclear outcome are repeated, with growing waits.
struct ReplicaClient: Sendable {
  let storage: MeteredStorage
  let clock: ReplicaClock
  private var driver: ProtocolDriver

  init(_ storage: MeteredStorage, clock: ReplicaClock = .system, failureLimit: Int? = nil) {
    self.storage = storage
    self.clock = clock
    driver = ProtocolDriver(storage)
    driver.failureLimit = failureLimit
    driver.wait = { try await clock.wait(after: $0, $1) }
  }

  var place: String { storage.place }

  /// Returns this client with another limit of failures in a row; `nil` for no limit.
  func giving(upAfter limit: Int?) -> ReplicaClient {
    var client = self
    client.driver.failureLimit = limit
    return client
  }

  /// Runs a machine of the protocol to its end.
  ///
  /// - Throws: ``ReplicaError`` for a request that the storage refuses, and after too many
  ///   failures; `CancellationError`.
  func run<Machine: ProtocolMachine>(_ machine: inout Machine) async throws -> Machine.Result {
    do throws(StorageError) {
      return try await driver.run(&machine)
    } catch { throw Self.converted(error) }
  }

  /// Waits before the caller repeats a call that has failed in passing.
  ///
  /// - Parameter failures: The number of failures in a row, from 1.
  /// - Throws: ``ReplicaError`` for the last failure of the limit; `CancellationError`.
  func waitForRepetition(_ failures: Int, _ error: StorageError) async throws {
    do throws(StorageError) {
      try await wait(orGiveUpAfter: failures, error)
    } catch { throw Self.converted(error) }
  }

  /// The error of a call for programs: a cancelled call throws `CancellationError`.
  static func converted(_ error: StorageError) -> any Error {
    error.kind == .cancelled ? CancellationError() : ReplicaError(error)
  }

  /// Repeats a call until its outcome is known.
  func repeating<R>(_ body: () async throws(StorageError) -> R) async throws -> R {
    do throws(StorageError) {
      return try await repeated(body)
    } catch { throw Self.converted(error) }
  }

  private func repeated<R>(
    _ body: () async throws(StorageError) -> R
  ) async throws(StorageError) -> R {
    var failures = 0
    while true {
      do throws(StorageError) {
        return try await body()
      } catch {
        guard error.isWorthRepeating || error.mayHaveHappened else { throw error }
        failures += 1
        try await wait(orGiveUpAfter: failures, error)
      }
    }
  }

  /// Waits before a repetition, or throws the error if it is the last one of the limit.
  func wait(orGiveUpAfter failures: Int, _ error: StorageError) async throws(StorageError) {
    if let limit = driver.failureLimit, failures >= limit { throw error }
    try await wait(failures, error)
  }

  /// Waits before a repetition.
  private func wait(_ failures: Int, _ error: StorageError) async throws(StorageError) {
    var asked: Duration?
    if case .throttled(let retryAfter) = error.kind { asked = retryAfter }
    do {
      try await driver.wait(failures, asked)
    } catch {
      throw StorageError(
        .cancelled, .open, key: "", place: place, reason: "the task was cancelled")
    }
  }

  // MARK: Single objects

  /// The bytes of an object; `nil` if it does not exist.
  func object(_ name: ReplicaName, byteLimit: Int = PackLimits.entry) async throws -> [UInt8]? {
    do throws(StorageError) {
      return try await repeated { () async throws(StorageError) in
        try await storage.get(name.key, byteLimit: byteLimit).bytes
      }
    } catch {
      if error.kind == .notFound { return nil }
      throw Self.converted(error)
    }
  }

  /// The head of an entry and the size of the whole object; `nil` if the entry does not exist.
  ///
  /// Only the beginning of the object is downloaded.
  func head(of name: ReplicaName) async throws -> (head: EntryHead, byteCount: UInt64)? {
    var length: UInt64 = 16 << 10
    while true {
      let count = length
      let found: StoredObject
      do throws(StorageError) {
        found = try await repeated { () async throws(StorageError) in
          try await storage.get(name.key, range: 0..<count, byteLimit: Int(count))
        }
      } catch {
        if error.kind == .notFound { return nil }
        throw Self.converted(error)
      }
      var slot: UInt64?
      if case .entry(let number) = name { slot = number }
      let wanted = slot
      let head = try WriterOpening.reading { () throws(PackError) in
        try LogEntry.head(reading: found.bytes, slot: wanted)
      }
      if let head { return (head, found.head.byteCount) }
      guard length < PackLimits.head, UInt64(found.bytes.count) == length else {
        throw ReplicaError(
          .damaged, "cannot read '\(name.text)' in '\(place)': its head is not whole", slot: slot)
      }
      length = UInt64(PackLimits.head) + 64
    }
  }

  /// Returns whether an object exists.
  func exists(_ name: ReplicaName) async throws -> Bool {
    do throws(StorageError) {
      _ = try await repeated { () async throws(StorageError) in
        try await storage.head(name.key)
      }
      return true
    } catch {
      if error.kind == .notFound { return false }
      throw Self.converted(error)
    }
  }

  /// Creates an object; returns whether the storage has an object of the name with these bytes.
  func create(_ name: ReplicaName, _ bytes: [UInt8]) async throws -> Bool {
    do throws(StorageError) {
      try await repeated { () async throws(StorageError) in
        _ = try await storage.put(.bytes(bytes), at: name.key, if: .absent)
      }
      return true
    } catch {
      guard error.kind == .conditionFailed else { throw Self.converted(error) }
      return try await object(name) == bytes
    }
  }

  /// Replaces an object on which nothing depends.
  func replace(_ name: ReplicaName, _ content: ObjectContent) async throws {
    try await repeating { () async throws(StorageError) in
      _ = try await storage.put(content, at: name.key, if: .none)
    }
  }

  func remove(_ name: ReplicaName) async throws {
    try await repeating { () async throws(StorageError) in try await storage.delete(name.key) }
  }

  // MARK: Lists

  /// The names in a folder with the sizes of their objects, in ascending order.
  ///
  /// - Parameter below: the part of the keys after the folder, for folders in a folder.
  func entries(
    in folder: ReplicaFolder, below: String = "", after: ReplicaName? = nil
  ) async throws -> [(name: ReplicaName, byteCount: UInt64)] {
    var found: [(name: ReplicaName, byteCount: UInt64)] = []
    var after = after?.text
    while true {
      let start = after
      let page = try await repeating { () async throws(StorageError) in
        try await storage.list(prefix: "\(folder.rawValue)/\(below)", after: start, limit: 1_000)
      }
      for entry in page.entries {
        if let name = ReplicaName(entry.key) { found.append((name, entry.head.byteCount)) }
      }
      guard !page.isLast, let key = page.entries.last?.key else { return found }
      after = key
    }
  }

  /// The heads of all bases in ascending order of their slots.
  ///
  /// Heads that disappear during the call, or that cannot be read, are left out.
  func bases() async throws -> [BaseHead] { try await listedBases().heads }

  /// The heads of all bases as ``bases()`` has them, and those that are left out.
  func listedBases() async throws -> ListedBases {
    var bases = ListedBases()
    for (name, _) in try await entries(in: .base) where name.isHeadOfBase {
      guard let bytes = try await object(name) else {
        bases.isCollected = true
        continue
      }
      if let head = try? BaseHead(reading: bytes, named: name.text) {
        bases.heads.append(head)
      } else {
        bases.unreadable.append(name)
      }
    }
    bases.heads.sort { $0.slot < $1.slot }
    return bases
  }

  /// Returns whether the floor is above a slot.
  func isCollected(_ slot: UInt64) async throws -> Bool {
    var search = FloorSearch(known: .none)
    while !search.isFinished {
      search.receive(try await object(search.name).map { .object($0) } ?? .absent)
    }
    return search.floor.slot > slot
  }

  /// Compares the entry of a base's slot with the one that the base continues.
  func place(of base: BaseHead) async throws -> BasePlace {
    guard let bytes = try await object(.entry(slot: base.slot)) else { return .noEntry }
    if SHA256.hash(bytes) == base.entry.bytes { return .onChain }
    return (try? LogEntry(reading: bytes, slot: base.slot)) == nil ? .damaged : .beside
  }
}

/// The bases of one list.
struct ListedBases: Sendable {
  /// The heads in ascending order of their slots.
  var heads: [BaseHead] = []
  /// The names of heads that cannot be read.
  var unreadable: [ReplicaName] = []
  /// Whether a head was deleted after it was listed.
  var isCollected = false
}
