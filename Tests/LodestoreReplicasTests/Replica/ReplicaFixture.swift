#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import Testing

  @testable import LodestoreReplicas

  /// A store and a bucket in a folder of their own.
  final class ReplicaFixture {
    private let folder: StorageFolder
    let bucket: Bucket

    init(_ bucket: Bucket? = nil) throws {
      folder = try StorageFolder()
      try FileManager.default.createDirectory(
        atPath: folder.path + "/bucket", withIntermediateDirectories: true)
      self.bucket = try bucket ?? .folder(folder.path + "/bucket")
    }

    func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    var bucketPath: String { path("bucket") }

    func store(_ name: String = "store.lodestore") throws -> Store {
      try Store(at: path(name), entities: [Note.self], options: Note.options)
    }

    /// Options under which every step happens at once.
    static var options: ReplicaWriterOptions {
      var options = ReplicaWriterOptions()
      options.flushInterval = .milliseconds(5)
      options.markInterval = .milliseconds(100)
      options.leaseInterval = nil
      options.keepsStatesFor = nil
      return options
    }

    func writer(
      _ store: Store, _ change: (inout ReplicaWriterOptions) -> Void = { _ in }
    ) async throws -> ReplicaWriter {
      var options = Self.options
      change(&options)
      return try await Replica.writer(store, to: bucket, options: options)
    }

    func follower(
      _ name: String = "copy", _ types: [any Entity.Type] = [Note.self],
      _ change: (inout ReplicaFollowerOptions) -> Void = { _ in }
    ) async throws -> ReplicaFollower {
      var options = ReplicaFollowerOptions()
      options.pollInterval = .seconds(600)
      change(&options)
      return try await Replica.follower(
        at: path(name), of: bucket, entities: types, options: options)
    }

    /// Restores a state, and returns its notes by their numbers.
    func restored(_ target: RestoreTarget = .latest) async throws -> [Note] {
      let path = path("restored-\(UUID().uuidString).lodestore")
      try await Replica.restore(bucket, to: target, at: path)
      let store = try Store(at: path, entities: [Note.self], options: .readOnly)
      defer { store.close() }
      return try Self.notes(of: store)
    }

    static func notes(of store: Store) throws -> [Note] {
      try store.read { try $0.fetch(Note.all.sorted(by: \.number)) }
    }

    /// Makes the changes of one write after another.
    static func write(_ numbers: ClosedRange<Int>, to store: Store) throws {
      for number in numbers { try store.write { try Note.change(number, &$0) } }
    }

    /// The digests of all content but the library's.
    static func digests(of store: Store) throws -> ReplayDigests {
      try store.read { try $0.replayFacts().digests }
    }
  }

  /// A process of the program `replica-session`, which is built next to the tests.
  enum ReplicaProcess {
    /// The path of the program; `nil` with a printed message if it is not built.
    static let program: String? = {
      if let path = ProcessInfo.processInfo.environment["LODESTORE_REPLICA_SESSION"] {
        return path
      }
      let path = CommandLine.arguments.first.map {
        URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/replica-session"
      }
      if let path, FileManager.default.isExecutableFile(atPath: path) { return path }
      print("skipped: no replica-session beside the tests")
      return nil
    }()

    /// Runs the program; returns its line, or `nil` if a signal has ended it.
    static func run(_ words: [String]) async throws -> String? {
      let program = try #require(Self.program)
      return try await Task.detached {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = words
        process.standardOutput = output
        try process.run()
        let text = String(
          decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationReason == .uncaughtSignal { return nil }
        return text.split(separator: "\n").last.map(String.init) ?? ""
      }.value
    }
  }
#endif
