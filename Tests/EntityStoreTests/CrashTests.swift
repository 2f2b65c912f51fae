import Foundation
import Testing

@testable import EntityStore

@Suite(.serialized) struct `A killed process` {
  /// `LODESTORE_KILLS` asks for more.
  @Test func `loses no page that was acknowledged, and leaves none in part`() async throws {
    let kills = SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 20
    var numbers = SeededNumbers(salt: 5)
    var furthest = 0
    // The same file through several kills, so that each starts on what the last one left.
    for start in stride(from: 0, to: kills, by: 4) {
      let folder = try TemporaryFolder(isOnDisk: true)
      var last = 0
      for _ in start..<min(start + 4, kills) {
        let seed = Int(truncatingIfNeeded: numbers.next() >> 1)
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = folder.path as String, seed = seed as Int] in
          try await KilledImport.run(in: path, seed: seed)
        }
        last = try checkPages(in: folder.path, atLeast: last)
      }
      furthest = max(furthest, last)
    }
    print("\(kills) kills; the longest import came to page \(furthest)")
    #expect(furthest > 0, "no page was ever committed")
  }

  /// Checks that exactly the pages 1 to n are there, and that n covers what was acknowledged.
  private func checkPages(in folder: String, atLeast before: Int) throws -> Int {
    let path = folder + "/test.lodestore"
    guard FileManager.default.fileExists(atPath: path) else {
      #expect(before == 0 && KilledImport.acknowledged(in: folder) == 0)
      return 0
    }
    let store = try Store(at: path, entities: [Pod.self])
    let last = try store.read { snapshot in
      let last = try snapshot.fetch(Pod.byName, key: "newest", "")?.stars ?? 0
      #expect(
        last >= max(before, KilledImport.acknowledged(in: folder)), "\(SeededNumbers.replay)")
      for page in 1..<(last + 1) {
        let expected = GeneratedPages.records(page).dropLast()
        let found = try snapshot.fetch(Pod.byName, keys: expected.map { ($0.name, $0.version) })
        let isWhole = zip(expected, found).allSatisfy { expected, found in
          var found = found
          found?.id = .unassigned
          return found == expected
        }
        #expect(isWhole, "page \(page) of \(last), \(SeededNumbers.replay)")
      }
      let count = last == 0 ? 0 : last * (GeneratedPages.recordCount - 1) + 1
      #expect(try snapshot.count(of: Pod.self) == count, "\(SeededNumbers.replay)")
      return last
    }
    store.close()
    try expectSound(path)
    return last
  }
}

/// What the killed process does.
enum KilledImport {
  /// Imports pages from where the store is until a second thread kills the process.
  static func run(in folder: String, seed: Int) async throws {
    var numbers = SeededNumbers(seed: UInt64(seed))
    // From before the file is made to some dozens of pages.
    let delay = UInt32(numbers.oneIn(4) ? numbers.below(5000) : numbers.below(150_000))
    Thread.detachNewThread {
      usleep(delay)
      kill(getpid(), SIGKILL)
    }
    let store = try Store(at: folder + "/test.lodestore", entities: [Pod.self])
    let last = try await store.read { try $0.fetch(Pod.byName, key: "newest", "")?.stars ?? 0 }
    let file = open(folder + "/acknowledged", O_WRONLY | O_APPEND | O_CREAT, 0o600)
    let pages = GeneratedPages(first: last + 1, last: .max - 1) { page in
      let line = Array("\(page)\n".utf8)
      _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    }
    _ = try await GeneratedPages.run(pages, into: store)
  }

  /// The highest page number whose line is whole.
  static func acknowledged(in folder: String) -> Int {
    guard let text = try? String(contentsOfFile: folder + "/acknowledged", encoding: .utf8) else {
      return 0
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    return lines.compactMap { Int($0) }.max() ?? 0
  }
}
