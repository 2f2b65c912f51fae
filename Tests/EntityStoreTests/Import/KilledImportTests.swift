import Foundation
import LodestoreBytes
import Testing

@testable import EntityStore

@Suite(.serialized) struct `A killed import` {
  private static let pageCount = 120

  /// The variable `LODESTORE_KILLS` sets the number of kills.
  @Test func `a killed import continues until its result equals an uninterrupted one`() async throws
  {
    let kills = SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 20
    var numbers = SeededNumbers(salt: 5)
    let expected = try await unkilled()
    var killed = 0
    var finished = 0
    while killed < kills {
      let folder = try TemporaryFolder(isOnDisk: true)
      var last = 0
      var isFinished = false
      while killed < kills, !isFinished {
        let seed = Int(truncatingIfNeeded: numbers.next() >> 1)
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = folder.path as String, seed = seed as Int, count = Self.pageCount as Int] in
          try await KilledImport.run(in: path, pages: count, seed: seed)
        }
        killed += 1
        (last, isFinished) = try checkPages(in: folder.path, atLeast: last)
      }
      guard isFinished else { break }
      finished += 1
      let store = try Store(at: folder.storePath, entities: [Pod.self])
      let found = try outcome(of: store)
      #expect(found.pods == expected.pods, "\(SeededNumbers.replay)")
      #expect(found.counts == expected.counts, "\(SeededNumbers.replay)")
      store.close()
    }
    print("\(killed) kills; \(finished) imports got to their end")
  }

  /// Returns the records without their ids, in the order of ids, and the counts of the report.
  private func outcome(of store: Store) throws -> (pods: [Pod], counts: [Int]) {
    try store.read { snapshot in
      let report = try #require(try snapshot.importReports(of: "Pod").last)
      #expect(report.ending == .finished)
      let pods = try snapshot.fetch(Pod.all)
      #expect(zip(pods, pods.dropFirst()).allSatisfy { $0.id < $1.id })
      return (
        pods.map { pod in
          var pod = pod
          pod.id = .unassigned
          return pod
        }.sorted { ($0.name, $0.version) < ($1.name, $1.version) },
        [report.pages, report.inserted, report.updated, report.unchanged, report.rejected]
      )
    }
  }

  private func unkilled() async throws -> (pods: [Pod], counts: [Int]) {
    try await withTemporaryStore([Pod.self]) { store in
      _ = try await GeneratedPages.run(GeneratedPages(last: Self.pageCount), into: store)
      return try outcome(of: store)
    }
  }

  /// Checks that the store has exactly the pages 1 to n, among them all acknowledged pages.
  ///
  /// Returns whether the import got to its end, after which the next one would start again.
  private func checkPages(
    in folder: String, atLeast before: Int
  ) throws -> (last: Int, isFinished: Bool) {
    let path = folder + "/test.lodestore"
    guard FileManager.default.fileExists(atPath: path) else {
      #expect(before == 0 && KilledImport.acknowledged(in: folder) == 0)
      return (0, false)
    }
    let store = try Store(at: path, entities: [Pod.self])
    let found = try store.read { snapshot in
      let last = try snapshot.fetch(Pod.byName.key("newest", ""))?.stars ?? 0
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
      #expect(try snapshot.count(Pod.all) == count, "\(SeededNumbers.replay)")
      let report = try snapshot.importReports(of: "Pod").last
      if let report { #expect(report.pages == last, "\(SeededNumbers.replay)") }
      return (last, report?.ending == .finished)
    }
    store.close()
    try expectSound(path)
    return found
  }
}

/// The work of the killed process.
enum KilledImport {
  /// Continues the import, with groups of a random size, until a second thread kills the process or
  /// the import is done.
  static func run(in folder: String, pages: Int, seed: Int) async throws {
    var numbers = SeededNumbers(seed: UInt64(seed))
    // The kill comes at a time between before the file is made and some dozens of pages later.
    let delay = UInt32(numbers.oneIn(4) ? numbers.below(5000) : numbers.below(150_000))
    Thread.detachNewThread {
      usleep(delay)
      kill(getpid(), SIGKILL)
    }
    var options = ImportOptions()
    options.resumes = true
    options.groupRecordLimit = numbers.oneIn(2) ? 1 : numbers.below(1000)
    options.groupDuration = .milliseconds(numbers.below(20))
    let store = try Store(at: folder + "/test.lodestore", entities: [Pod.self])
    let file = open(folder + "/acknowledged", O_WRONLY | O_APPEND | O_CREAT, 0o600)
    _ = try await GeneratedPages.run(GeneratedPages(last: pages), into: store, options: options) {
      guard case .committed(let progress) = $0 else { return }
      let line = Array("\(progress.committedPages)\n".utf8)
      _ = line._withBytes { write(file, $0.baseAddress, $0.count) }
    }
    kill(getpid(), SIGKILL)
  }

  /// The highest acknowledged page number, from lines that are complete.
  static func acknowledged(in folder: String) -> Int {
    guard let text = try? String(contentsOfFile: folder + "/acknowledged", encoding: .utf8) else {
      return 0
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    return lines.compactMap { Int($0) }.max() ?? 0
  }
}
