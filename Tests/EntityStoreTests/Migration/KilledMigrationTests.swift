import Foundation
import Testing

@testable import EntityStore

@Suite(.serialized) struct `A killed migration` {
  private static let count = 1_500

  /// The variable `LODESTORE_KILLS` sets the number of kills.
  @Test func `a killed migration leaves one whole file, and the next opening completes it`()
    async throws
  {
    let kills = SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 4
    var numbers = SeededNumbers(salt: 71)
    let origin = try TemporaryFolder(isOnDisk: true)
    try Movies.make(at: origin.storePath, count: Self.count)
    // The duration of a migration on this machine, by which the kills are spread.
    let start = Date()
    do {
      let folder = try TemporaryFolder(isOnDisk: true)
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: folder.storePath)
      try Store(at: folder.storePath, entities: Movies.new, migrating: Movies.stages).close()
    }
    let microseconds = max(1_000, Int(Date().timeIntervalSince(start) * 1_300_000))
    var (old, new) = (0, 0)
    for _ in 0..<kills {
      let folder = try TemporaryFolder(isOnDisk: true)
      let path = folder.storePath
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: path)
      let delay = numbers.below(microseconds)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, delay = delay as Int] in
        Thread.detachNewThread {
          usleep(UInt32(delay))
          kill(getpid(), SIGKILL)
        }
        _ = try? Store(at: path, entities: Movies.new, migrating: Movies.stages)
        while true { sleep(1) }
      }
      try expectSound(path)
      let core = try StoreCore(path: path, options: StoreOptions())
      let version = try core.environment.read { try core.trees.modelVersion(in: $0) }
      core.close()
      #expect(version == 0 || version == 2, "\(SeededNumbers.replay)")
      if version == 0 {
        let store = try Store(at: path, entities: Movies.old)
        #expect(try await store.fetch(OldMovie.all).map(\.episode) == Array(0..<Self.count))
        store.close()
        old += 1
      } else {
        new += 1
      }
      let store = try Store(at: path, entities: Movies.new, migrating: Movies.stages)
      #expect(try Movies.expectNew(store, count: Self.count), "\(SeededNumbers.replay)")
      store.close()
      try expectSound(path)
    }
    print("\(kills) kills of migrations: \(old) old files, \(new) new ones")
  }
}
