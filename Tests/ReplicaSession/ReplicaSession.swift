import EntityStore
import Foundation
import LodestoreReplicas
import Synchronization

/// The program that tests of replicas start as further processes.
///
///     replica-session write STORE BUCKET FIRST LAST [STEP COUNT]
///                        makes the writes FIRST to LAST, each when the storage has the one before
///     replica-session plain STORE FIRST LAST
///                        makes the writes FIRST to LAST without a replica
///     replica-session follow FOLDER BUCKET [STEP COUNT]
///                        applies the log as it is
///     replica-session restore PATH BUCKET [STEP COUNT]
///                        restores the newest state
///     replica-session takeover PATH BUCKET [STEP COUNT]
///                        takes over
///     replica-session upload FILE BUCKET KEY [STEP COUNT]
///                        writes a file as an object
///     replica-session download KEY BUCKET
///                        reads an object, and forgets it
///
/// BUCKET is a folder, or the address of a bucket whose keys are in the environment. With a step
/// the process kills itself the COUNTth time that it makes the step. Steps are those of a writer, a
/// follower or a restore, and those of the storage, as in `before-put-log` and `after-get-base`.
/// The step `part` is made after each part of a file that is uploaded in parts.
///
/// Variables of the environment change the session:
/// - `LODESTORE_STOPS`: the process stops itself at the step, by SIGSTOP, after the line `stopped`.
/// - `LODESTORE_LEASE`: the milliseconds between two renewals of a writer's lease.
/// - `LODESTORE_DESCRIPTORS`: the number of file descriptors that the process may have.
///
/// Each command prints one line at its end: the last slot and write, or the code of the error.
/// `upload` and `download` print the size of the object and the most memory of the process in KiB.
/// `write` prints a line before that for each write that the storage has.
@main struct ReplicaSession {
  static func main() async {
    do {
      print(try await run(Array(CommandLine.arguments.dropFirst())))
    } catch let error as ReplicaError {
      print(error.code.description)
    } catch {
      print("failed: \(error)")
    }
  }

  /// The number that a variable of the environment has.
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  private static func limitDescriptors(to count: rlim_t) {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit(rlim_cur: count, rlim_max: count)
    setrlimit(resource, &limit)
  }

  private static func run(_ words: [String]) async throws -> String {
    guard words.count >= 3 else { return "usage" }
    if let count = number("LODESTORE_DESCRIPTORS") { limitDescriptors(to: rlim_t(count)) }
    if words[0] == "plain", words.count == 4 {
      guard let first = Int(words[2]), let last = Int(words[3]), first <= last else {
        return "usage"
      }
      let store = try Store(at: words[1], entities: [Note.self], options: Note.options)
      for number in first...last {
        try await store.write { tx in try Note.change(number, &tx) }
      }
      return "done"
    }
    let count = ["write": 5, "upload": 4][words[0]] ?? 3
    let death = Death(words.dropFirst(count))
    let storage: any ObjectStorage =
      words[2].hasPrefix("http")
      ? try S3Storage(words[2], credentials: .environment, options: options(death))
      : try FolderStorage(path: words[2])
    let bucket = ReplicaStorage(DeadlyStorage(storage: storage, death: death))
    switch words[0] {
    case "upload" where words.count >= 4:
      guard let key = ObjectKey(words[3]) else { return "usage" }
      _ = try await storage.put(.file(path: words[1]), at: key, if: .none)
      return "\(try await storage.head(key).byteCount) \(peakMemory)"
    case "download":
      guard let key = ObjectKey(words[1]) else { return "usage" }
      let head = try await storage.download(key, range: nil, byteLimit: .max) { _ in }
      return "\(head.byteCount) \(peakMemory)"
    case "write" where words.count >= 5:
      guard let first = Int(words[3]), let last = Int(words[4]) else { return "usage" }
      return try await write(first, last, at: words[1], to: bucket, death)
    case "follow": return try await follow(words[1], bucket, death)
    case "restore", "takeover":
      var options = ReplicaRestoreOptions()
      options.ignoresLease = true
      options.setStepHook { death.make($0.rawValue) }
      if words[0] == "takeover" {
        let report = try await Replica.takeOver(bucket, at: words[1], options: options)
        return "\(report.slot) \(report.lastWrite)"
      }
      let report = try await Replica.restore(bucket, at: words[1], options: options)
      return "\(report.slot) \(report.lastWrite)"
    default: return "usage"
    }
  }

  /// The most memory of this process in KiB; 0 where the system does not tell.
  private static var peakMemory: Int {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  /// Options under which files larger than `LODESTORE_PART_SIZE` are written in parts of this size.
  private static func options(_ death: Death) -> S3Storage.Options {
    var options = S3Storage.Options()
    if let size = number("LODESTORE_PART_SIZE").map({ UInt64($0) }) {
      (options.partsThreshold, options.partSize) = (size + 1, size)
    }
    options.onPart = { _ in death.make("part") }
    return options
  }

  private static func write(
    _ first: Int, _ last: Int, at path: String, to bucket: ReplicaStorage, _ death: Death
  ) async throws -> String {
    var options = ReplicaWriterOptions()
    options.durability = .replicated
    options.checkpointInterval = .milliseconds(100)
    options.leaseInterval = number("LODESTORE_LEASE").map { .milliseconds($0) }
    options.retention = .zero
    options.probesStorage = false
    options.setStepHook { death.make($0.rawValue) }
    let store = try Store(at: path, entities: [Note.self], options: Note.options)
    let writer = try await Replica.writer(store, to: bucket, options: options)
    for number in first...max(first, last) where number <= last {
      try await writer.write { tx in
        if try tx.count(Note.where { $0.number == number }) == 0 {
          try Note.change(number, &tx)
        }
      }
      // Output of a process that is killed must not wait in a buffer.
      FileHandle.standardOutput.write(Data("acknowledged \(number)\n".utf8))
      if number == (first + last) / 2 {
        try await writer.writeBase()
        try await writer.collect()
      }
      if number % 4 == 0 { try await Task.sleep(for: .milliseconds(110)) }
    }
    try await writer.stop()
    return "\(writer.status.slot) \(writer.status.replicatedWrite)"
  }

  private static func follow(
    _ folder: String, _ bucket: ReplicaStorage, _ death: Death
  ) async throws -> String {
    var options = ReplicaFollowerOptions()
    options.transactionSizeLimitInBytes = 200
    options.pollInterval = .seconds(60)
    options.id = "session"
    options.setStepHook { death.make($0.rawValue) }
    let follower = try await Replica.follower(
      at: folder, of: bucket, entities: [Note.self], options: options)
    try await follower.catchUp()
    await follower.stop()
    return "\(follower.status.slot) \(follower.status.lastWrite)"
  }
}

/// Kills or stops the process at a step.
final class Death: Sendable {
  private let stops = ProcessInfo.processInfo.environment["LODESTORE_STOPS"] != nil
  private let step: String?
  private let count: Int
  private let seen = Mutex(0)

  init(_ words: ArraySlice<String>) {
    step = words.first
    count = words.dropFirst().first.flatMap { Int($0) } ?? 1
  }

  func make(_ made: String) {
    guard made == step else { return }
    let number = seen.withLock { seen in
      seen += 1
      return seen
    }
    guard number == count else { return }
    if stops { FileHandle.standardOutput.write(Data("stopped\n".utf8)) }
    kill(getpid(), stops ? SIGSTOP : SIGKILL)
  }
}
