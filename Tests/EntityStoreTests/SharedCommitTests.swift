import Foundation
import LodestoreBytes
import Synchronization
import Testing

@testable import EntityStore

@Suite struct `Writes that share a commit` {
  private struct Refusal: Error {}

  @Test func `each write of a shared commit succeeds or fails independently`() async throws {
    try await withTemporaryStore([Film.self, AllTypes.self]) { store in
      try await store.write { tx in
        try tx.insert(Film(title: "first", episode: 1_000))
        try tx.insert([AllTypes(int16: 9, int: 1), AllTypes(int16: 9, int: 2)])
      }
      let kept = try await withThrowingTaskGroup(of: Int?.self) { group in
        for task in 0..<64 {
          group.addTask { try await Self.keep(task, in: store) }
        }
        return try await group.reduce(into: [Int]()) { found, kept in
          if let kept { found.append(kept) }
        }
      }
      #expect(kept.sorted() == (0..<64).filter { $0 % 4 == 0 || $0 % 4 == 3 })
      try await store.read { snapshot throws in
        let films = try snapshot.fetch(Film.byEpisode)
        #expect(
          films.map(\.episode)
            == kept.flatMap { $0 % 4 == 0 ? [$0, $0 + 100] : [$0] }.sorted() + [1_000])
        #expect(try snapshot.fetch(AllTypes.all).map(\.int) == [1, 2])
      }
    }
  }

  /// Inserts two films, which fails in three of four cases; returns `task` if they are stored.
  private static func keep(_ task: Int, in store: Store) async throws -> Int? {
    do {
      return try await store.write { tx in
        try tx.insert(Film(title: "a", episode: task))
        switch task % 4 {
        case 1: throw Refusal()
        case 2: try tx.insert(Film(title: "b", episode: 1_000))
        // A caught error leaves the state before the call.
        case 3: _ = try? tx.update(AllTypes.all) { $0.int16.multiply(by: 9_999) }
        default: try tx.insert(Film(title: "b", episode: task + 100))
        }
        return task
      }
    } catch is Refusal {
      #expect(task % 4 == 1)
    } catch let error as StoreError {
      #expect(task % 4 == 2 && error.code == .uniqueViolation, "\(error)")
    }
    return nil
  }

  @Test func `a reader sees all of a write or nothing of it`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      let isDone = Flag()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          while !isDone.isSet {
            let episodes = try await store.read { try $0.fetch(Film.byEpisode).map(\.episode) }
            let pairs = Set(episodes.map { $0 / 2 })
            #expect(episodes.count == 2 * pairs.count)
          }
        }
        try await withThrowingTaskGroup(of: Void.self) { writers in
          for task in 0..<16 {
            writers.addTask {
              for turn in 0..<10 {
                let episode = 2 * (task * 10 + turn)
                try await store.write { tx in
                  try tx.insert(Film(title: "", episode: episode))
                  try tx.insert(Film(title: "", episode: episode + 1))
                }
                // A read that begins after the acknowledgement sees the write.
                let found = try await store.read { try $0.fetch(Film.byEpisode.key(episode + 1)) }
                #expect(found != nil)
              }
            }
          }
          try await writers.waitForAll()
        }
        isDone.set()
        try await group.waitForAll()
      }
      #expect(try await store.read { try $0.count(Film.all) } == 320)
    }
  }

  @Test func `threads and tasks write at the same time and lose no change`() async throws {
    try await withTemporaryStore([Pod.self]) { store in
      let id = try await store.write { try $0.insert(Pod(name: "counter", version: "")).id }
      @Sendable func count(_ tx: inout WriteTransaction) throws {
        guard var pod = try tx.fetch(id) else { return }
        pod.stars += 1
        try tx.update(pod)
      }
      let threads = Task.detached {
        DispatchQueue.global().sync {
          DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<25 {
              #expect(throws: Never.self) { try store.write(count) as Void }
            }
          }
        }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<32 {
          group.addTask { for _ in 0..<10 { try await store.write { try count(&$0) } } }
        }
        try await group.waitForAll()
      }
      await threads.value
      #expect(try await store.read { try $0.fetch(id)?.stars } == 420)
    }
  }

  @Test func `tasks continue to write after another store has added an entity`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let store = try Store(at: path, entities: [Film.self])
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try Store(at: path, entities: [Pod.self])
      store.close()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for episode in 0..<20 {
        group.addTask {
          try await store.write { _ = try $0.insert(Film(title: "", episode: episode)) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.read { try $0.count(Film.all) } == 20)
    store.close()
    try expectSound(path)
  }

  /// The variable `LODESTORE_KILLS` sets the number of kills.
  @Test func `a killed process has lost nothing that was reported as committed`() async throws {
    let folder = try TemporaryFolder(isOnDisk: true)
    var numbers = SeededNumbers(salt: 41)
    var acknowledged = 0
    for round in 0..<(SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 12) {
      let seed = Int(truncatingIfNeeded: numbers.next() >> 1)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = folder.path as String, round = round as Int, seed = seed as Int] in
        try await KilledTasks.run(in: path, round: round, seed: seed)
      }
      acknowledged += try KilledTasks.check(in: folder.path, round: round)
    }
    #expect(acknowledged > 0)
  }
}

/// A flag that one task sets, and another reads.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}

/// Tasks that insert pairs of films, in a process that is killed.
private enum KilledTasks {
  private struct Refusal: Error {}

  private static let taskCount = 32

  /// Notes each insert that was acknowledged, until the process is killed.
  static func run(in folder: String, round: Int, seed: Int) async throws {
    var numbers = SeededNumbers(seed: UInt64(seed))
    let delay = UInt32(numbers.below(60_000))
    let store = try Store(at: folder + "/test.lodestore", entities: [Film.self])
    let file = open(folder + "/acknowledged.\(round)", O_WRONLY | O_APPEND | O_CREAT, 0o600)
    Thread.detachNewThread {
      usleep(delay)
      kill(getpid(), SIGKILL)
    }
    await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<taskCount {
        group.addTask {
          for turn in 0... {
            let episode = 2 * ((round * 1_000_000 + turn) * taskCount + task)
            // In one of seven turns, the write throws and is undone.
            let isRefused = turn % 7 == 6
            do {
              try await store.write { tx in
                try tx.insert(Film(title: "a", episode: episode))
                try tx.insert(Film(title: "b", episode: episode + 1))
                if isRefused { throw Refusal() }
              }
            } catch is Refusal {
              continue
            }
            withUnsafeBytes(of: episode) { _ = write(file, $0.baseAddress, $0.count) }
          }
        }
      }
    }
  }

  /// Expects each noted pair to be stored as a whole; returns the number of noted pairs.
  static func check(in folder: String, round: Int) throws -> Int {
    let path = folder + "/test.lodestore"
    let noted = try [UInt8](
      Data(contentsOf: URL(fileURLWithPath: folder + "/acknowledged.\(round)")))
    let episodes = noted._withBytes { bytes in
      (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Int.self) }
    }
    let store = try Store(at: path, entities: [Film.self])
    try store.read { snapshot throws in
      let found = Set(try snapshot.fetch(Film.byEpisode).map(\.episode))
      #expect(found.isSuperset(of: episodes), "\(SeededNumbers.replay)")
      #expect(found.allSatisfy { found.contains($0 ^ 1) }, "\(SeededNumbers.replay)")
      #expect(found.allSatisfy { $0 / 2 / taskCount % 1_000_000 % 7 != 6 })
    }
    store.close()
    try expectSound(path)
    return episodes.count
  }
}
