#if Datasets
  import EntityStore
  import Foundation
  import LodestoreFormat
  import LodestoreVerifier
  import Testing

  @testable import LodestoreReplicas

  /// A store and a bucket in a folder of their own.
  final class ReplicaFixture: Sendable {
    private let folder: StorageFolder
    let bucket: ReplicaStorage

    init(_ bucket: ReplicaStorage? = nil) throws {
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
      options.checkpointInterval = .milliseconds(100)
      options.leaseInterval = nil
      options.retention = nil
      // The probe has tests of its own. The server moto does not always pass the probe, because two
      // writes of one object at once may both succeed there.
      options.probesStorage = false
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

    /// Restores a state into a sound file, and returns its notes by their numbers.
    func restored(_ target: ReplicaRestoreTarget = .latest) async throws -> [Note] {
      try await restoredState(target).notes
    }

    /// Restores a state into a sound file, and returns its last write and its notes.
    func restoredState(
      _ target: ReplicaRestoreTarget = .latest
    ) async throws -> (write: UInt64, notes: [Note]) {
      let path = path("restored-\(UUID().uuidString).lodestore")
      let report = try await Replica.restore(bucket, to: target, at: path)
      let notes = try notes(ofFileAt: path)
      for name in [path, path + "-lock"] { unlink(name) }
      return (report.lastWrite, notes)
    }

    /// The notes of a sound file that this process does not have open.
    func notes(ofFileAt path: String) throws -> [Note] {
      try Self.expectSound(path)
      let store = try Store(at: path, entities: [Note.self], options: .readOnly)
      defer { store.close() }
      return try Self.notes(of: store)
    }

    /// Checks a file that this process does not have open.
    static func expectSound(_ path: String) throws {
      let report = try Verifier.verify(path: path)
      #expect(report.isSound, "\(path): \(report.findings.prefix(3))")
    }

    /// Compares a follower's store with another one, stops the follower, and checks its file.
    static func end(_ follower: ReplicaFollower, equalTo store: Store) async throws {
      let copy = follower.store
      #expect(try digests(of: copy) == digests(of: store))
      await follower.stop()
      copy.close()
      try expectSound(copy.path)
    }

    /// Closes a store and checks its file.
    static func end(_ store: Store) throws {
      store.close()
      try expectSound(store.path)
    }

    static func notes(of store: Store) throws -> [Note] {
      try store.read { try $0.fetch(Note.all.sorted(by: \.number)) }
    }

    /// Waits until the writer has merged slots.
    func waitForMergedSlots() async throws {
      let folder = bucketPath + "/merged/1"
      for _ in 0..<6_000 {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        if names.contains(where: { $0.hasSuffix(".lsc") && !$0.hasPrefix(".") }) { return }
        try await Task.sleep(for: .milliseconds(10))
      }
      Issue.record("there are no merged slots")
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
#endif
