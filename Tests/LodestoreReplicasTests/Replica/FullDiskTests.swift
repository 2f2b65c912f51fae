#if Datasets
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestoreReplicas

  /// Followers, restores and writers whose disk is full.
  @Suite("Replicas on a full disk", .timeLimit(.minutes(30)))
  struct FullDiskTests {
    /// A replica of some hundred notes with long titles.
    private func replica() async throws -> (ReplicaFixture, Store, ReplicaWriter) {
      let fixture = try ReplicaFixture()
      let store = try fixture.store()
      try await write(1...300, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      return (fixture, store, writer)
    }

    private func write(_ numbers: ClosedRange<Int>, to store: Store) async throws {
      try await store.write { tx in
        for number in numbers {
          // Random text, which no compression makes small.
          let title = (0..<40).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }
          try tx.insert(Note(title: title.joined(), number: number))
        }
      }
    }

    private func expectFull(_ body: () async throws -> Void) async {
      let error = await #expect(throws: ReplicaError.self) { try await body() }
      #expect(error?.code == .inputOutput, "\(String(reflecting: error))")
    }

    @Test func `A restore on a full disk leaves nothing, and succeeds later`() async throws {
      guard let disk = try SmallDisk(megabytes: 8) else { return }
      let (fixture, store, writer) = try await replica()
      try await writer.stop()
      let path = disk.path + "/restored.lodestore"
      for rest in [0, 20_000, 300_000] {
        disk.fill(leaving: rest)
        await expectFull { try await Replica.restore(fixture.bucket, at: path) }
        #expect(try disk.files() == [], "with \(rest) bytes left")
        disk.free()
      }
      try await Replica.restore(fixture.bucket, at: path)
      #expect(try fixture.notes(ofFileAt: path) == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }

    @Test func `A takeover on a full disk fences nobody without a store, and succeeds later`()
      async throws
    {
      guard let disk = try SmallDisk(megabytes: 8) else { return }
      let (fixture, store, writer) = try await replica()
      let path = disk.path + "/new.lodestore"
      disk.fill(leaving: 20_000)
      await expectFull { _ = try await Replica.takeOver(fixture.bucket, at: path) }
      #expect(try disk.files() == [])
      // The former writer goes on.
      try await write(301...310, to: store)
      try await writer.flush()
      disk.free()
      #expect(try await Replica.takeOver(fixture.bucket, at: path).epoch == 2)
      #expect(try fixture.notes(ofFileAt: path) == ReplicaFixture.notes(of: store))
      await #expect(throws: ReplicaError.self) {
        try await write(311...320, to: store)
        try await writer.flush()
      }
      try ReplicaFixture.end(store)
    }

    @Test func `A follower on a full disk reports it, and continues when there is room`()
      async throws
    {
      guard let disk = try SmallDisk(megabytes: 8) else { return }
      let (fixture, store, writer) = try await replica()
      var options = ReplicaFollowerOptions()
      options.pollInterval = .seconds(600)
      let (folder, chosen) = (disk.path + "/copy", options)
      func open() async throws -> ReplicaFollower {
        try await Replica.follower(
          at: folder, of: fixture.bucket, entities: [Note.self], options: chosen)
      }
      for rest in [0, 20_000, 300_000] {
        disk.fill(leaving: rest)
        await expectFull { _ = try await open() }
        disk.free()
      }
      let follower = try await open()
      try await follower.catchUp()
      disk.fill()
      try await write(301...600, to: store)
      try await writer.flush()
      await expectFull { try await follower.catchUp() }
      #expect(follower.status.lastFailure?.code == .inputOutput && follower.status.end == nil)
      #expect(try await follower.store.read { try $0.count(Note.all) } == 300)
      disk.free()
      try await follower.catchUp()
      try await writer.stop()
      try await ReplicaFixture.end(follower, equalTo: store)
      try ReplicaFixture.end(store)
    }

    @Test func `A writer on a full disk continues when there is room`() async throws {
      guard let disk = try SmallDisk(megabytes: 8) else { return }
      let fixture = try ReplicaFixture()
      let store = try Store(
        at: disk.path + "/store.lodestore", entities: [Note.self], options: Note.options)
      try await write(1...300, to: store)
      let writer = try await fixture.writer(store)
      try await writer.flush()
      disk.fill()
      // A base needs room next to the store, and a mark in it.
      await expectErrorInWords("base") { try await writer.writeBase() }
      await #expect(throws: StoreError.self) { try await write(301...600, to: store) }
      disk.free()
      try await write(301...320, to: store)
      try await writer.flush()
      try await writer.stop()
      #expect(try disk.files().filter { $0.contains("-base-") } == [])
      #expect(try await fixture.restored() == ReplicaFixture.notes(of: store))
      try ReplicaFixture.end(store)
    }
  }

  /// A file system of some megabytes in memory, which goes with the object.
  final class SmallDisk {
    /// The mount point.
    let path: String
    private let folder: StorageFolder
    private var isMounted = false

    /// Mounts the file system; `nil` with a printed reason where that is not possible.
    init?(megabytes: Int) throws {
      folder = try StorageFolder()
      path = folder.path + "/disk"
      #if os(Linux)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path) else {
          print("skipped: tmpfs cannot be mounted, which only root may")
          return nil
        }
        isMounted = true
      #else
        print("skipped: tmpfs can be mounted on Linux only")
        return nil
      #endif
    }

    deinit { if isMounted { _ = Self.run("umount", "-l", path) } }

    private static func run(_ name: String, _ arguments: String...) -> Bool {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["PATH=/usr/sbin:/sbin:/usr/bin:/bin", name] + arguments
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }

    private var ballast: String { path + "/ballast" }

    /// Fills the file system, except for about `rest` bytes.
    func fill(leaving rest: Int = 0) {
      let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      guard file >= 0 else { return }
      defer { close(file) }
      let bytes = [UInt8](repeating: 1, count: 4_096)
      while write(file, bytes, bytes.count) == bytes.count {}
      var status = stat()
      if rest > 0, fstat(file, &status) == 0 { ftruncate(file, status.st_size - off_t(rest)) }
    }

    func free() { unlink(ballast) }

    /// The names of the files without the ballast.
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).sorted().filter { $0 != "ballast" }
    }
  }
#endif
