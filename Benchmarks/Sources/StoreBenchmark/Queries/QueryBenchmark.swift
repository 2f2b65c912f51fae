import BenchmarkFigures
import Foundation
import Lodestore

/// Runs the battery of queries, and compares each query with SQLite on the same records and
/// indexes.
struct QueryBenchmark {
  /// The number of queries generated from a seed.
  static let heldOutCount = 300

  /// - Parameter callgrind: Counts instructions instead of time.
  /// - Returns: Whether both sides gave the same answer to each query.
  static func run(
    _ arguments: Arguments, directory: String, callgrind: Callgrind?
  ) throws -> Bool {
    #if SQLite
      return try compare(arguments, directory: directory, callgrind)
    #else
      throw BenchmarkError("--queries compares with SQLite, which is not in this build")
    #endif
  }

  private static func queries(_ arguments: Arguments) throws -> [BatteryQuery] {
    let count = arguments.recordCount
    guard arguments.isHeldOut else { return Battery(count: count).queries }
    var random = RandomQueries(seed: arguments.seed, count: count)
    return (0..<heldOutCount).map { _ in random.next() }
  }

  private static func indexes(of subject: BatteryQuery.Subject) -> [[String]] {
    switch subject {
    case .sighting: Sighting.indexed
    case .broad: Broad.indexed
    }
  }

  private static func fill<E: BatteryEntity>(
    _: E.Type, _ store: Store, count: Int
  ) throws {
    // The records are inserted in several writes, as in a store that grows.
    let size = 100_000
    for start in stride(from: 0, to: count, by: size) {
      try store.write { tx in
        let numbers = start..<min(count, start + size)
        _ = try tx.insert(
          numbers.lazy.map { E.numbered($0, of: count) }, returning: .counts)
      }
    }
  }

  #if SQLite
    private static func compare(
      _ arguments: Arguments, directory: String, _ callgrind: Callgrind?
    ) throws -> Bool {
      let count = arguments.recordCount
      var options = StoreOptions()
      // Valgrind refuses maps of the usual size.
      if callgrind != nil { options.mapSizeInBytes = 2 << 30 }
      let store = try Store(
        at: "\(directory)/queries.lodestore", entities: [Sighting.self, Broad.self],
        options: options)
      defer { store.close() }
      let sqlite = try BatterySQLite(path: "\(directory)/queries.sqlite")
      Progress.show("filling both with \(count.grouped) records")
      try fill(Sighting.self, store, count: count)
      try fill(Broad.self, store, count: count / 10)
      try sqlite.fill(Sighting.self, count: count)
      try sqlite.fill(Broad.self, count: count / 10)
      try sqlite.settle()
      let chosen = Set(try arguments.only.map { try number($0) })
      let all = try queries(arguments)
      let seed = arguments.isHeldOut ? ", held out, --seed=\(arguments.seed)" : ""
      let head = "\(all.count) queries over \(count.grouped) records\(seed)\n\n"
      FileHandle.standardOutput.write(Data(head.utf8))
      var summary = Summary()
      for (place, query) in all.enumerated()
      where chosen.isEmpty || chosen.contains(place + 1) {
        Progress.show("query \(place + 1) of \(all.count)")
        let figures = try store.read { try measure(query, place + 1, $0, sqlite, count, callgrind) }
        summary.add(figures)
        Progress.clear()
        summary.unit = figures.unit
        guard !figures.isSame || figures.isOffInReads || figures.isOffInTime || !chosen.isEmpty
        else { continue }
        // Each query is printed immediately, also when the output is a file.
        let text = figures.text(otherPlan: try sqlite.plan(figures.sql)) + "\n"
        FileHandle.standardOutput.write(Data(text.utf8))
      }
      print(summary.text)
      return summary.differentCount == 0
    }

    private static func number(_ text: String) throws -> Int {
      guard let number = Int(text) else {
        throw BenchmarkError("--only takes numbers of queries with --queries, not '\(text)'")
      }
      return number
    }

    private static func measure(
      _ query: BatteryQuery, _ number: Int, _ snapshot: borrowing Snapshot,
      _ sqlite: BatterySQLite, _ count: Int, _ callgrind: Callgrind?
    ) throws -> QueryFigures {
      let isBroad = query.subject == .broad
      let sql = query.sql(readName: isBroad ? Broad.readName : Sighting.readName)
      do {
        let (answer, reads) = try snapshot.analyzed(query)
        let expected = try sqlite.answer(query, sql)
        let best = try BestPlanSearch(
          query, indexes: indexes(of: query.subject), facts: sqlite,
          recordCount: isBroad ? count / 10 : count, answerCount: expected.count
        ).best()
        func cost(patience: Double = 0.05, _ body: () throws -> Void) throws -> Double {
          guard let callgrind else { return try ThreadTime.least(patience: patience, body) }
          try body()
          callgrind.begin()
          try body()
          return try callgrind.end("query \(number)")
        }
        // Both sides begin with the query's text, as for a query that is run for the first time.
        let own = try cost { _ = try snapshot.answer(query) }
        let parsing = try cost(patience: 0) { try query.prepare() }
        let other = try cost { _ = try sqlite.answer(query, sql) }
        return QueryFigures(
          unit: callgrind == nil ? .seconds : .instructions,
          number: number, query: query, sql: sql, reads: reads, best: best, own: own,
          parsing: parsing,
          other: other, isSame: answer == expected, answerCount: expected.count)
      } catch {
        throw BenchmarkError("query \(number), \(query): \(error)")
      }
    }
  #endif

  private struct Summary {
    var count = 0
    var readsCount = 0
    var timeCount = 0
    var bothCount = 0
    var differentCount = 0
    var own = 0.0
    var other = 0.0
    var unit = QueryFigures.Unit.seconds

    mutating func add(_ figures: QueryFigures) {
      count += 1
      if figures.isOffInReads { readsCount += 1 }
      if figures.isOffInTime { timeCount += 1 }
      if !figures.isOffInReads, !figures.isOffInTime { bothCount += 1 }
      if !figures.isSame { differentCount += 1 }
      own += figures.own
      other += figures.other
    }

    var text: String {
      let share = String(format: "%.1f", 100 * Double(bothCount) / Double(max(1, count)))
      let sums = "\(unit.text(own)), SQLite \(unit.text(other))"
      return """

        \(bothCount) of \(count) (\(share) %) within both; \(readsCount) read more than twice \
        what the best plan does, \(timeCount) take more than \(QueryFigures.timeLimit) times \
        SQLite's \(unit.name); \(differentCount) answered differently; all together \(sums)
        """
    }
  }
}
