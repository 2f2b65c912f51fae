import LMDB
import Testing

@testable import EntityStore

/// The planner estimates the number of entries in a range by descending the tree of the index.
@Suite struct EstimateTests {
  private static let trials = Result {
    try ReadOnlyFixture([Trial.self]) { try Trial.make(100_000, in: $0) }
  }

  private func estimate(
    _ format: String, _ core: TransactionCore
  ) throws -> (estimate: Int, count: Int) {
    let entity = try core.entity(named: "Trial")
    let request = QueryRequest(condition: try ConditionParser.parse(format).tree)
    let plan = try PlanningLie.manyRecords.plan(request, for: entity, core: core)
    guard case .index(let access) = plan.access else {
      Issue.record("\(format): \(plan.description.lines)")
      return (0, -1)
    }
    return (access.estimatedEntryCount, try PlanRun(plan, core: core).count())
  }

  private static let ranges = [
    // The ranges have 1, 10 or 50 percent of the entries, at both ends and in the middle.
    "number < 1000", "number >= 99000", "number BETWEEN { 50000, 50999 }",
    "number < 10000", "number BETWEEN { 30000, 39999 }", "number >= 50000",
    "number BETWEEN { 20000, 69999 }",
    "name < 'name 01000'", "name BETWEEN { 'name 40000', 'name 49999' }", "name >= 'name 50000'",
    "share == 7", "share < 10", "share >= 50", "kind == 'c'",
    "rating == NULL", "rating > 2",
  ]

  @Test(
    .readsPages,
    .disabled(
      if: PageLayout.systemPageSize > 16_384, "a page holds more than a hundredth of the entries"))
  func `Estimates of a hundredth to a half are within a factor of two`() throws {
    let store = try Self.trials.get().store
    try store.core.read { core in
      for format in Self.ranges {
        let (estimate, count) = try estimate(format, core)
        #expect(
          count > 0 && estimate <= 2 * count && estimate * 2 >= count,
          "\(format): \(estimate) for \(count)")
      }
    }
    try store.core.write { core in
      for format in Self.ranges {
        let (estimate, count) = try estimate(format, core)
        #expect(
          count > 0 && estimate <= 2 * count && estimate * 2 >= count,
          "\(format): \(estimate) for \(count)")
      }
    }
  }

  @Test(.readsPages) func `Estimates of entries that share a page are exact`() throws {
    let store = try Self.trials.get().store
    try store.core.read { core in
      var exact = 0
      let starts = stride(from: 100, to: 99_000, by: 4_711)
      for start in starts {
        let one = try estimate("number == \(start)", core)
        #expect(one.estimate == 1 && one.count == 1)
        let few = try estimate("number BETWEEN { \(start), \(start + 4) }", core)
        #expect(few.count == 5 && few.estimate > 0 && few.estimate < 200)
        exact += few.estimate == 5 ? 1 : 0
      }
      #expect(exact * 10 >= Array(starts).count * 8, "\(exact) of \(Array(starts).count)")
      #expect(try estimate("number == 100000", core).estimate == 0)
      #expect(try estimate("number < 0", core).estimate == 0)
      #expect(try estimate("number > 99999", core).estimate == 0)
    }
  }

  @Test(arguments: [0, 1, 2, 20])
  func `Trees without a page or of one are estimated exactly`(count: Int) throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(count, in: store)
      try store.core.read { core in
        let entity = try core.entity(named: "Trial")
        let index = try #require(entity.indexes.first { $0.name == "Trial.number" })
        func estimate(_ range: IndexRange) throws -> Int {
          try core.transaction.estimatedCount(of: index.tree, within: range.keys)
        }
        #expect(try estimate(.all) == count)
        for bound in 0...count {
          let element = PackedKeys.element(.integer(Int64(bound)))
          #expect(try estimate(IndexRange(lower: [], upper: element)) == bound)
          #expect(try estimate(IndexRange(lower: element, upper: nil)) == count - bound)
          #expect(try estimate(.beginning(with: element)) == (bound < count ? 1 : 0))
        }
      }
    }
  }

  @Test func `Estimates in a write describe the last commit`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(100, in: store)
      try store.core.write { core in
        let entity = try core.entity(named: "Trial")
        let index = try #require(entity.indexes.first { $0.name == "Trial.number" })
        #expect(
          try core.transaction.estimatedCount(of: index.tree, within: IndexRange.all.keys) == 100)
      }
      try store.write { transaction in
        for number in 100..<200 { _ = try transaction.insert(Trial(number)) }
        // The count includes the write's own changes, whatever the estimate says.
        #expect(try transaction.count(Trial.where { $0.number >= 50 }) == 150)
      }
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Disables a test of estimates if the environment forces the plain engine, which does not read
  /// pages.
  static var readsPages: Self {
    .disabled(
      if: EngineFence.isRequestedByVariable,
      "\(EngineFence.variable) is set, with which estimates count entries")
  }
}

extension PlanningLie {
  func plan(
    _ request: QueryRequest, for entity: StoredEntity, core: TransactionCore
  ) throws -> QueryPlan {
    var random = SeededNumbers(seed: 1)
    return try plan(request, for: entity, core: core, &random)
  }
}
