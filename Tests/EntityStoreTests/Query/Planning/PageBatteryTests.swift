import Foundation
import Testing

@testable import EntityStore

/// A file read without LMDB gives the same answers to queries as the file read by LMDB.
@Suite struct PageBatteryTests {
  private static let count = 3_000
  private static let queryCount =
    SeededNumbers.environmentNumber("LODESTORE_PAGE_QUERIES") ?? 300

  @Test func `each query has the same answer and plan in the pages as through LMDB`() throws {
    let seed = Int(truncatingIfNeeded: SeededNumbers.runSeed)
    var random = RandomQueries(seed: seed, count: Self.count)
    let queries =
      Battery(count: Self.count).queries + (0..<Self.queryCount).map { _ in random.next() }
    try withFile { path in
      // A process can have only one environment of a file open, so the two reads are one after the
      // other.
      let expected = try read(path, inPages: false) { try answers(queries, $0) }
      let found = try read(path, inPages: true) { try answers(queries, $0) }
      for (query, (one, other)) in zip(queries, zip(expected, found)) {
        #expect(one.answer == other.answer, "\(query), \(SeededNumbers.replay)")
        #expect(one.plan == other.plan, "\(query), \(SeededNumbers.replay)")
      }
    }
  }

  @Test func `random conditions have the answers of a plain evaluation in the pages, too`() throws {
    let count = SeededNumbers.environmentNumber("LODESTORE_ORACLE_CONDITIONS") ?? 60
    try withSpecimens(count: 120, salt: 4_320) { store, records in
      let path = store.path
      store.close()
      try read(path, [Specimen.self], inPages: true) { snapshot in
        var check = try OracleCheck(snapshot.access.core, records, salt: 4_321)
        for _ in 0..<count where check.failureCount < 12 { try check.next() }
        #expect(check.unsupportedCount * 20 < count)
      }
    }
  }

  // MARK: Files

  private func withFile(_ body: (String) throws -> Void) throws {
    try withTemporaryPath { path in
      let store = try Store(at: path, entities: [Sighting.self, Broad.self])
      try store.write { tx in
        _ = try tx.insert((0..<Self.count).map { Sighting.numbered($0, of: Self.count) })
        let broadCount = Self.count / 10
        _ = try tx.insert((0..<broadCount).map { Broad.numbered($0, of: broadCount) })
      }
      store.close()
      try body(path)
    }
  }

  private func read<R>(
    _ path: String, _ entities: [any Entity.Type] = [Sighting.self, Broad.self], inPages: Bool,
    _ body: (borrowing Snapshot) throws -> R
  ) throws -> R {
    var options = StoreOptions.readOnly
    options.readsInPages = inPages
    let store = try Store(at: path, entities: entities, options: options)
    defer { store.close() }
    #expect(store.core.environment.hasLockFile != inPages)
    return try store.read(body)
  }

  private func answers(
    _ queries: [BatteryQuery], _ snapshot: borrowing Snapshot
  ) throws -> [(answer: BatteryAnswer, plan: String)] {
    var answers: [(answer: BatteryAnswer, plan: String)] = []
    for query in queries {
      let (answer, reads) = try snapshot.analyzed(query)
      answers.append((answer, "\(reads.count) \(reads.plan)"))
    }
    return answers
  }
}
