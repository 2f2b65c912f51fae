#if Datasets
  import EntityStore
  import Foundation
  import Synchronization
  import Testing

  @testable import LodestoreReplicas

  /// Writers that the system stops for longer than their lease, and continues.
  @Suite("Stopped writers of replicas", .timeLimit(.minutes(30)))
  struct StoppedProcessTests {
    @Test(.enabled(if: ReplicaProcess.program != nil), arguments: [3, 14])
    func `A writer that was stopped beyond its lease ends fenced, and nothing is lost`(
      writes: Int
    ) async throws {
      let fixture = try ReplicaFixture()
      let path = fixture.path("store.lodestore")
      let writer = try RunningSession(
        ["write", path, fixture.bucketPath, "1", "1000000"], ["LODESTORE_LEASE": "200"])
      try await writer.wait { $0.acknowledged >= writes }
      writer.send(SIGSTOP)
      var options = ReplicaStandbyOptions()
      options.leasePollInterval = .milliseconds(50)
      options.storeOptions = Note.options
      let standby = try await Replica.standby(
        at: fixture.path("copy"), of: fixture.bucket, entities: [Note.self], options: options)
      let taken = try await standby.waitToTakeOver()
      let last = try Self.lastWrite(of: taken)
      let successor = try await fixture.writer(taken)
      for number in 101...104 {
        try ReplicaFixture.write(number...number, to: taken)
        try await successor.flush()
      }
      writer.send(SIGCONT)
      #expect(try await writer.end() == "fenced")
      #expect(writer.acknowledged <= last)
      try await successor.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: taken))
      // The store of the former writer keeps the writes that no replica has.
      let store = try fixture.store()
      let own = try Self.lastWrite(of: store)
      let count = try Replica.exportDiverged(store, to: fixture.path("diverged"))
      #expect(count >= own - last)
      try ReplicaFixture.end(store)
    }

    private static let steps = [
      ("opened", 1), ("before-put-log", 1), ("before-put-log", 3), ("after-put-log", 2),
      ("before-get-floor", 1), ("before-get-floor", 5), ("packed", 2), ("marked", 2),
      ("before-put-base", 1), ("before-put-base", 3), ("uploaded", 1), ("before-put-floor", 1),
      ("after-put-floor", 1), ("before-delete-log", 2),
    ]

    @Test(.enabled(if: ReplicaProcess.program != nil), arguments: steps)
    func `A writer stopped at any step ends fenced after its slots were collected`(
      step: String, count: Int
    ) async throws {
      let fixture = try ReplicaFixture()
      let path = fixture.path("store.lodestore")
      try await fixture.begin(path)
      let writer = try RunningSession(
        ["write", path, fixture.bucketPath, "5", "40", step, "\(count)"], ["LODESTORE_STOPS": "1"])
      try await writer.wait { $0.isStopped }
      var options = ReplicaRestoreOptions()
      options.ignoresLease = true
      let new = fixture.path("new.lodestore")
      _ = try await Replica.takeOver(fixture.bucket, at: new, options: options)
      let taken = try fixture.store("new.lodestore")
      let last = try Self.lastWrite(of: taken)
      let successor = try await fixture.writer(taken) { $0.retention = .zero }
      for number in 101...104 {
        try ReplicaFixture.write(number...number, to: taken)
        try await successor.flush()
      }
      try await successor.writeBase()
      try await successor.collect()
      writer.send(SIGCONT)
      #expect(try await writer.end() == "fenced")
      #expect(writer.acknowledged <= last)
      // The entry of the stopped writer has filled a collected slot, and is removed again.
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.bucketPath + "/log")
      let slots = names.compactMap { ReplicaName("log/" + $0)?.collectedSlot }
      #expect(slots.min() == successor.status.baseSlot)
      ReplicaFixture.expectSlots(slots)
      try await successor.stop()
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: taken))
      try ReplicaFixture.end(taken)
    }

    /// The number of the last write of a session.
    private static func lastWrite(of store: Store) throws -> Int {
      try ReplicaFixture.notes(of: store).last?.number ?? 0
    }
  }

  extension ReplicaFixture {
    /// Makes a replica with four writes and a base.
    fileprivate func begin(_ path: String) async throws {
      let store = try Store(at: path, entities: [Note.self], options: Note.options)
      let writer = try await writer(store)
      try Self.write(1...4, to: store)
      try await writer.stop()
      store.close()
    }

    /// Checks that the slots of a log have no gap.
    fileprivate static func expectSlots(_ slots: [UInt64]) {
      guard let first = slots.min(), let last = slots.max() else { return }
      #expect(slots.sorted() == Array(first...last))
    }
  }

  /// A process of the program `replica-session` whose lines are read while it runs.
  final class RunningSession {
    private let process: Process
    private let lines: Lines
    private let isOver = DispatchSemaphore(value: 0)

    private final class Lines: Sendable { let text = Mutex("") }

    init(_ words: [String], _ variables: [String: String]) throws {
      process = try ReplicaProcess.process(words, variables)
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let (lines, isOver) = (Lines(), isOver)
      self.lines = lines
      let descriptor = output.fileHandleForReading.fileDescriptor
      Thread.detachNewThread {
        withExtendedLifetime(output) {
          var bytes = [UInt8](repeating: 0, count: 4_096)
          while case let count = read(descriptor, &bytes, bytes.count), count > 0 {
            let piece = String(decoding: bytes[..<count], as: UTF8.self)
            lines.text.withLock { $0 += piece }
          }
        }
        isOver.signal()
      }
    }

    deinit {
      kill(process.processIdentifier, SIGCONT)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    private var words: [Substring] {
      lines.text.withLock { $0 }.split(separator: "\n")
    }

    /// The number of the last write that the process has reported as replicated.
    var acknowledged: Int {
      let line = words.last { $0.hasPrefix("acknowledged ") }
      return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// Whether the process has stopped itself.
    var isStopped: Bool { words.contains("stopped") }

    /// Waits until the lines fulfil a condition; fails if the process ends before.
    func wait(until isMet: (RunningSession) -> Bool) async throws {
      while !isMet(self) {
        try #require(process.isRunning, "the process has ended: \(words.last ?? "")")
        try await Task.sleep(for: .milliseconds(2))
      }
    }

    var isRunning: Bool { process.isRunning }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the end; returns the last line.
    func end() async throws -> String? {
      while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
      isOver.wait()
      isOver.signal()
      return words.last.map(String.init)
    }
  }
#endif
