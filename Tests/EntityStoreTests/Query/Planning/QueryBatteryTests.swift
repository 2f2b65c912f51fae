import Testing

@testable import EntityStore

/// The battery of queries that `tools/bench --queries` compares with SQLite, at a small size.
///
/// Reads are compared with the best plan's, and answers with Swift's own comparisons. Times are not
/// measured.
@Suite(.readsPages) struct QueryBatteryTests {
  private static let count = 3_000

  /// Queries, by the beginning of their text, that may read more than twice as much as the best
  /// plan, and the reason.
  private static let exceptions: [(query: String, reason: String)] = [
    ("rows of Sighting where rnd == 0 OR rnd == 41", "a list is priced by its length")
  ]

  @Test func `no query reads more than twice as much as the best plan`() throws {
    try withBattery { snapshot, oracle in
      for query in Battery(count: Self.count).queries {
        let excess = try check(query, snapshot, oracle)
        let isKnown = Self.exceptions.contains { query.description.hasPrefix($0.query) }
        #expect((excess != nil) == isKnown, "\(excess ?? "good now, no exception: \(query)")")
      }
    }
  }

  @Test func `nearly all random queries read at most twice as much as the best plan`() throws {
    try withBattery { snapshot, oracle in
      let seed = Int(truncatingIfNeeded: SeededNumbers.runSeed)
      var random = RandomQueries(seed: seed, count: Self.count)
      let queries = (0..<120).map { _ in random.next() }
      let found = try queries.compactMap { try check($0, snapshot, oracle) }
      // In runs with twelve seeds, at most five queries read too much.
      #expect(found.count <= 8, "\(SeededNumbers.replay): \(found.joined(separator: "\n"))")
    }
  }

  /// Expects the right answer, and returns a description if the query reads too much.
  private func check(
    _ query: BatteryQuery, _ snapshot: borrowing Snapshot, _ oracle: BatteryOracle
  ) throws -> String? {
    let (answer, reads) = try snapshot.analyzed(query)
    let expected = oracle.answer(query)
    #expect(expected == nil || answer == expected, "\(query), \(SeededNumbers.replay)")
    let isBroad = query.subject == .broad
    let facts = SnapshotFacts(core: snapshot.access.core)
    let best = try BestPlanSearch(
      query, indexes: isBroad ? Broad.indexed : Sighting.indexed, facts: facts,
      recordCount: isBroad ? Self.count / 10 : Self.count, answerCount: answer.count
    ).best()
    guard best.isExceeded(by: reads.count) else { return nil }
    return "\(query): \(reads.count) read, \(best.reads) by \(best.way)\n\(reads.plan)"
  }

  private func withBattery(
    _ body: (borrowing Snapshot, BatteryOracle) throws -> Void
  ) throws {
    try withTemporaryStore([Sighting.self, Broad.self]) { store in
      try store.write { tx in
        _ = try tx.insert((0..<Self.count).map { Sighting.numbered($0, of: Self.count) })
        let broadCount = Self.count / 10
        _ = try tx.insert((0..<broadCount).map { Broad.numbered($0, of: broadCount) })
      }
      let oracle = BatteryOracle(count: Self.count)
      try store.read { try body($0, oracle) }
    }
  }
}

/// Facts about the records from the store itself, whose answers are compared elsewhere.
private struct SnapshotFacts: BatteryFacts {
  let core: TransactionCore

  func count(
    _ conditions: [BatteryCondition], of subject: BatteryQuery.Subject
  ) throws -> Int {
    let query = BatteryQuery(.count, .all(conditions), of: subject)
    return switch subject {
    case .sighting: try count(query, Sighting.self)
    case .broad: try count(query, Broad.self)
    }
  }

  private func count<E: BatteryEntity>(_ query: BatteryQuery, _: E.Type) throws -> Int {
    try core.run(try query.query(of: E.self), wantsOnlyEntries: true).count()
  }

  func result(at place: Int, of query: BatteryQuery) throws -> [String: BatteryLiteral]? {
    switch query.subject {
    case .sighting: try result(at: place, of: query, Sighting.self, Self.count(Sighting.self, core))
    case .broad: try result(at: place, of: query, Broad.self, Self.count(Broad.self, core))
    }
  }

  private static func count<E: Entity>(_: E.Type, _ core: TransactionCore) throws -> Int {
    try core.count(of: core.entity(E.self))
  }

  private func result<E: BatteryEntity>(
    at place: Int, of query: BatteryQuery, _: E.Type, _ count: Int
  ) throws -> [String: BatteryLiteral]? {
    var wanted = query
    wanted.limit = 1
    wanted.offset = place
    let ids = try core.run(try wanted.query(of: E.self)).ids()
    guard let id = ids.first else { return nil }
    var values: [String: BatteryLiteral] = ["_id": .int(Int(id))]
    let record = E.numbered(Int(id) - 1, of: count).values
    for (column, value) in zip(E.columns, record) { values[column.name] = value }
    return values
  }
}
