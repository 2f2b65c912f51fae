import Foundation
import Synchronization
import Testing

@testable import EntityStore
@testable import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

private final class Requests: Sendable {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .sequentiallyConsistent) }
  func add() { number.add(1, ordering: .sequentiallyConsistent) }
}

/// The notification of observers, apart from their reaction.
@Suite struct `The center of observers` {
  /// One later read shows all commits, so the observer is served only once.
  ///
  /// An earlier read can fail if the file cannot be read for a moment.
  @Test func `the center has an observer read once after a read that failed`() async throws {
    let observer = Observer()
    observer.start(at: 3)
    observer.wake(5)
    let requests = Requests()
    // A commit is pending, so the observer asks to be served.
    let first = Task { await observer.wait { requests.add() } }
    while requests.count == 0 { await Task.yield() }
    first.cancel()
    #expect(await first.value == .ended)

    let other = Observer()
    other.wake(5)
    other.start(at: 5)
    let second = Task { await other.wait { requests.add() } }
    try await Task.sleep(for: .milliseconds(50))
    #expect(requests.count == 1)
    other.end()
    #expect(await second.value == .ended)
  }

  @Test func `the center keeps no commits without observers`() async throws {
    try await withTemporaryStore([Player.self]) { store in
      let first = Task {
        for try await update in store.updates(of: Player.all) {
          if update.items.count > 0 { return }
        }
      }
      while first.isCancelled == false, store.observations.isIdle { await Task.yield() }
      try await store.insert(Player(name: "first"))
      try await first.value
      while !store.observations.isIdle { await Task.yield() }
      for number in 0..<500 { try await store.insert(Player(name: "\(number)")) }
      #expect(store.observations.keptCommitCount == 0)

      // Observers that begin later are notified as before.
      let updates = Turner(store.updates(of: Player.all))
      #expect(try await within { try await updates.next() }?.items.count == 501)
      try await store.insert(Player(name: "last"))
      let news = try await within { try await updates.next() }
      #expect(news?.items.count == 502 && news?.difference?.inserted.count == 1)
    }
  }

  /// A watch that was stopped before its start does nothing when it is started.
  @Test func `the center starts no watch that was stopped before`() throws {
    let folder = try TemporaryFolder()
    let calls = Requests()
    try Data([1]).write(to: URL(fileURLWithPath: folder.path + "/file"))
    let watch = FileWatch(path: folder.path + "/file") { calls.add() }
    watch.stop()
    #expect(watch.start())
    usleep(600_000)
    #expect(calls.count == 0)
  }

  /// A thread that waits for each event would be woken by each write, at the writer's cost.
  @Test func `a watch rests after each call, and ends during a rest`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file"
    try Data([1]).write(to: URL(fileURLWithPath: path))
    let calls = Requests()
    let watch = FileWatch(path: path, restMilliseconds: 60_000) { calls.add() }
    #expect(watch.start())
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    for _ in 0..<100 {
      try file.write(contentsOf: Data([2]))
      usleep(5_000)
    }
    #expect(calls.count == 1)
    let start = ContinuousClock.now
    watch.stop()
    #expect(start.duration(to: .now) < .seconds(30))
  }

  /// Without a watch and without checks, commits of other processes would never be noticed.
  @Test func `the center checks for commits periodically if no descriptors remain for a watch`()
    async
  {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 64, rlim_max: 64)
      #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      #else
        let resource = RLIMIT_NOFILE
      #endif
      guard setrlimit(resource, &limit) == 0 else { exit(2) }
      var held: [Int32] = []
      while true {
        let next = open("/dev/null", O_RDONLY)
        if next < 0 { break }
        held.append(next)
      }
      let calls = Requests()
      let watch = FileWatch(path: "/dev/null") { calls.add() }
      for descriptor in held { close(descriptor) }
      guard !held.isEmpty, watch.start() else { exit(3) }
      for _ in 0..<1_200 where calls.count < 2 { usleep(50_000) }
      watch.stop()
      let count = calls.count
      usleep(600_000)
      exit(count >= 2 && calls.count == count ? 0 : 4)
    }
  }
}
