import LodestoreFormat
import Testing

@testable import EntityStore

/// Random conditions with a sought vector or place: whatever the plan, the order is that of the
/// distances of all records that fulfil them.
@Suite struct NearestOracleTests {
  private static let conditionCount =
    (SeededNumbers.environmentNumber("LODESTORE_ORACLE_CONDITIONS") ?? 250) / 2

  private enum Sought {
    case vector(Vector, VectorMeasure)
    case place(Coordinate, meters: Double?)

    init(_ random: inout SeededNumbers) {
      let numbers = (0..<3).map { _ in Float(random.below(9)) / 2 - 2.25 }
      if random.oneIn(2) {
        self = .vector(Vector(numbers), VectorMeasure.allCases[random.below(3)])
      } else {
        self = .place(
          Coordinate(latitude: Double(numbers[0]) * 40, longitude: Double(numbers[1]) * 80),
          meters: random.oneIn(2) ? nil : Double(random.below(20_000_000)))
      }
    }

    /// With as many candidates as records, the bits exclude none.
    var condition: ConditionTree {
      let operand: Operand =
        switch self {
        case .vector(let vector, let measure): .vector(vector, measure, 16_000)
        case .place(let place, let meters): .circle(place, meters)
        }
      return .comparison(Comparison(.path(ValuePath(.record, [])), .near, operand))
    }

    /// The distance from a record; `nil` from one that is not near.
    func distance(_ record: PlacedSpecimen) -> Double? {
      switch self {
      case .vector(let vector, let measure): record.hue?.distance(to: vector, by: measure)
      case .place(let place, let meters):
        record.coordinate.map { $0.distance(to: place) }.flatMap {
          $0 <= meters ?? .infinity ? $0 : nil
        }
      }
    }
  }

  private func withRecords(
    _ body: (TransactionCore, [FactRecord], [PlacedSpecimen]) throws -> Void
  ) throws {
    var random = SeededNumbers(salt: 75)
    let specimens = (1...120).map { Specimen.nasty(serial: $0, &random) }
    try withTemporaryPath { path in
      let old = try Store(at: path, entities: [OldSpecimen.self])
      try old.insert(specimens.prefix(30).map { OldSpecimen(specimen: $0) })
      old.close()
      let store = try Store(at: path, entities: [PlacedSpecimen.self])
      defer { store.close() }
      try store.insert(specimens.dropFirst(30).map { PlacedSpecimen($0, &random) })
      let removed = (1...120).filter { _ in random.oneIn(12) }.map(UInt64.init)
      try store.write { tx in for id in removed { try tx.delete(PlacedSpecimen.ID(rawValue: id)) } }
      let all = try store.fetch(PlacedSpecimen.all)
      try store.core.read { try body($0, try factRecords($0), all) }
    }
  }

  @Test func `The nearest that fulfil any condition are those of a plain evaluation`() throws {
    try withRecords { core, facts, records in
      var random = SeededNumbers(salt: 76)
      let entity = try core.entity(named: "Specimen")
      var conditions = OracleConditions(salt: 77, values: valuesByAttribute(facts))
      var (checked, found) = (0, 0)
      for _ in 0..<Self.conditionCount {
        let other = random.oneIn(8) ? ConditionTree.constant(true) : conditions.condition()
        let oracle = OracleEvaluator()
        guard let matching = try? facts.filter({ try oracle.evaluate(other, on: $0) }) else {
          continue
        }
        let sought = Sought(&random)
        let ids = Set(matching.map(\.id))
        let nearest = records.filter { ids.contains($0.id.rawValue) }
          .compactMap { record in sought.distance(record).map { ($0, record.id.rawValue) } }
          .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.1)
        checked += 1
        found += nearest.count
        var request = QueryRequest()
        request.condition = .all(
          random.oneIn(2) ? [sought.condition, other] : [other, sought.condition])
        for lie in PlanningLie.allCases {
          request.order = []
          request.limit = nil
          func answer() throws -> [UInt64] {
            try PlanRun(lie.plan(request, for: entity, core: core, &random), core: core).ids()
          }
          let text = "\(ConditionPrinter.text(request.condition)), \(lie), \(SeededNumbers.replay)"
          #expect(try answer() == nearest.sorted(), "\(text)")
          request.order = [
            SortTerm(ValuePath(attribute: ValuePath.distanceName), isDescending: false)
          ]
          #expect(try answer() == nearest, "\(text)")
          request.limit = 1 + random.below(20)
          #expect(try answer() == Array(nearest.prefix(request.limit ?? 0)), "\(text)")
        }
      }
      #expect(checked * 10 > Self.conditionCount * 9 && found > checked)
    }
  }
}
