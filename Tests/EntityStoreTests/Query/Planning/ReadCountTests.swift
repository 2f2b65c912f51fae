import Synchronization
import Testing

@testable import EntityStore

/// The reads of queries, compared with the least possible: by counts, never by time.
@Suite(.readsPages) struct ReadCountTests {
  private struct Reads {
    let entries: Int
    let records: Int
    let results: [Int]
  }

  private func reads(
    _ query: Query<Trial>, _ snapshot: borrowing Snapshot
  ) throws -> Reads {
    let explanation = try snapshot.explain(query, analyzing: true)
    let results = try snapshot.fetch(query).map(\.number)
    #expect(explanation.resultCount == results.count)
    return Reads(
      entries: explanation.entriesRead ?? .max, records: explanation.recordsRead ?? .max,
      results: results)
  }

  @Test func `a page by id begins at its id`() throws {
    try Trial.read { snapshot in
      let page = try reads(Trial.where(format: "_id > 15000").limit(10), snapshot)
      #expect(page.results == Array(15_000..<15_010))
      #expect(page.records <= 10)
      let last = try reads(
        Trial.where(format: "_id > 15000").sorted(by: \.id.descending).limit(10), snapshot)
      #expect(last.results == Array(19_990..<20_000).reversed())
      #expect(last.records <= 10)
    }
  }

  @Test func `the first records of an equality are read by id, wherever they are`() throws {
    try Trial.read { snapshot in
      // A scan would read all records if the wanted ones were at the end.
      let some = try reads(Trial.where { $0.share == 99 }.limit(3), snapshot)
      #expect(some.results == [99, 199, 299])
      #expect(some.records <= 16 && some.entries <= 16)
      let late = try reads(Trial.where { $0.number >= 19_900 }.limit(3), snapshot)
      #expect(late.results == [19_900, 19_901, 19_902])
      #expect(late.records <= 16 && late.entries <= 100)
    }
  }

  @Test func `a scan for a few distant records is replaced by an index`() throws {
    try Trial.read { snapshot in
      let found = try reads(
        Trial.where {
          $0.number >= 19_000; $0.note == "note 1"
        }.limit(3), snapshot)
      #expect(found.results == [19_000, 19_003, 19_006])
      #expect(found.records <= 2_000)
    }
  }

  @Test func `a walk uses another index's estimate of the rest of the condition`() throws {
    try Trial.read { snapshot in
      // One record in eight has the rating. The index returns them by id, and the wanted ones are
      // the last.
      let few = try reads(
        Trial.where {
          $0.rating == 1; $0.number >= 19_900
        }.limit(3), snapshot)
      #expect(few.results == [19_906, 19_914, 19_922])
      #expect(few.entries <= 110 && few.records <= 40)
      // If the wanted records were evenly distributed, the first ones would appear early in the
      // walk.
      let late = try reads(
        Trial.where {
          $0.rating == 1; $0.number >= 19_000
        }.limit(3), snapshot)
      #expect(late.results == [19_002, 19_010, 19_018])
      #expect(late.entries <= 1_100 && late.records <= 40)
    }
  }

  @Test func `ids are counted by their pages`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(5_000, in: store)
      try store.write { tx in
        for id in stride(from: UInt64(100), to: 4_000, by: 3) {
          try tx.delete(Trial.ID(rawValue: id))
        }
      }
      let ids = try store.read { try $0.ids(Trial.all).map(\.rawValue) }
      let ranges: [ClosedRange<UInt64>] = [
        1...5_000, 50...99, 100...100, 101...102, 1_000...3_999, 3_997...4_001, 4_900...9_000,
        5_000...5_000, 5_001...6_000, 1...1, 777...4_444,
      ]
      for range in ranges {
        let query = try Trial.where(
          format: "_id BETWEEN { \(range.lowerBound), \(range.upperBound) }")
        let expected = ids.count(where: range.contains)
        #expect(try store.read { try $0.count(query) } == expected, "\(range)")
        #expect(try store.read { try $0.count(query.limit(70)) } == min(70, expected), "\(range)")
        #expect(
          try store.read { try $0.count(query.offset(5)) } == max(0, expected - 5), "\(range)")
        // A write does not read pages directly, so it uses other code for the count.
        #expect(try store.write { try $0.count(query) } == expected, "\(range)")
      }
    }
  }

  @Test func `a condition that all ids fulfil is removed`() throws {
    try Trial.read { snapshot in
      for text in ["_id >= 0", "_id >= 1", "NOT _id < 1", "_id <= 18446744073709551615"] {
        let query = try Trial.where(format: text)
        #expect(try snapshot.explain(query).description.contains("_id <=") == false, "\(text)")
        #expect(try snapshot.count(query) == 20_000, "\(text)")
      }
      // The record with the lowest id does not fulfil the condition.
      #expect(try snapshot.count(Trial.where(format: "_id > 1")) == 19_999)
    }
  }

  @Test func `a second index with many entries is not walked for the few of the first`() throws {
    try Trial.read { snapshot in
      // One record in eight has the rating.
      let found = try reads(
        Trial.where {
          $0.rating == 1; $0.number >= 19_900
        }, snapshot)
      #expect(found.results.count == 12)
      #expect(found.entries <= 110 && found.records <= 110)
    }
  }

  @Test func `distinct values of few records are not searched among all records`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20_000, in: store)
      try store.core.read { core throws in
        let entity = try core.entity(Trial.self)
        let share = try #require(entity.description.attributes.first { $0.name == "share" })
        for (low, isStepped) in [(19_980, false), (100, true)] {
          let query = Trial.where { $0.number >= low }
          let plan = try core.plan(try query.request(), for: entity)
          let run = try PlanRun(plan, core: core)
          var count = 0
          // The remaining records contain the values that the steps through the index did not find.
          let seen = try run.forEachDistinct([share.number]) { _ in
            count += 1
            return true
          }
          #expect((seen == nil && count == 100) == isStepped)
          #expect(run.counts.recordsRead <= (isStepped ? 20_000 : 0))
        }
      }
    }
  }

  @Test func `a measured run changes its plan too, also within elements`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20_000, in: store)
      try store.core.read { core throws in
        let conditions = ["note == 'none'", "ANY json.tags == 'none'"]
        for condition in conditions {
          // A sample suggests that the wanted records are evenly distributed, so the planner starts
          // with a scan.
          let query = try Trial.where(format: "share >= 95 AND \(condition)").limit(3)
          let plan = try core.plan(try query.request(), for: try core.entity(Trial.self))
          #expect(plan.alternative != nil)
          let progress = Mutex<[Int]>([])
          let run = try PlanRun(
            plan, core: core,
            control: RunControl(report: { done, _ in progress.withLock { $0.append(done) } }))
          #expect(try run.ids() == [])
          let reports = progress.withLock { $0 }
          #expect(reports == reports.sorted())
          #expect(run.counts.recordsRead <= 3_000)
        }
      }
    }
  }

  @Test func `any number of terms are looked up as a list`() throws {
    try Trial.read { snapshot in
      let terms = (0..<5_000).map { Trial.attributes.number == $0 * 2 }
      let found = try reads(Trial.where(anyOf(terms)).requiringIndex(), snapshot)
      #expect(found.results == (0..<5_000).map { $0 * 2 })
      #expect(found.records <= 5_000 && found.entries <= 5_000)
    }
  }

  @Test func `compound terms of one index are looked up together`() throws {
    try Trial.read { snapshot in
      let kinds = "abcdefghij".map(String.init)
      let condition = anyOf(
        (0..<2_000).map { number in
          allOf(
            Trial.attributes.kind == kinds[number % 10], Trial.attributes.share == number % 1_000)
        })
      let explanation = try snapshot.explain(Trial.where(condition), analyzing: true)
      #expect(explanation.index == "Trial.kind+share")
      #expect(explanation.resultCount == 20_000)
    }
  }

  @Test func `ids and values in one disjunction need no scan`() throws {
    try Trial.read { snapshot in
      let found = try reads(
        Trial.where(format: "_id == 5 OR number == 4711 OR _id IN { 77, 99999999 } OR _id > 19998"),
        snapshot)
      #expect(found.results == [4, 76, 4_711, 19_998, 19_999])
      #expect(found.records <= 6)
    }
  }

  @Test func `many ids next to a key are not looked up`() throws {
    try Trial.read { snapshot in
      let ids = (1...10_000).map { Trial.ID(rawValue: $0) }
      let query = Trial.where {
        $0.id.isIn(ids); $0.number == 77
      }
      let found = try reads(query, snapshot)
      #expect(found.results == [77])
      #expect(found.records <= 1)
    }
  }

  @Test func `an order that an index begins is sorted group by group`() throws {
    try Trial.read { snapshot in
      let first = try reads(
        Trial.all.sorted(by: \.share.ascending, \.number.descending).limit(5), snapshot)
      #expect(first.results == [19_900, 19_800, 19_700, 19_600, 19_500])
      #expect(first.records <= 200)
      let last = try reads(
        Trial.all.sorted(by: \.share.descending, \.number.ascending).limit(5).offset(3), snapshot)
      #expect(last.results == [399, 499, 599, 699, 799])
      #expect(last.records <= 200)
      // The index has one more attribute than the order.
      let kinds = try reads(Trial.all.sorted(by: \.kind).limit(5), snapshot)
      #expect(kinds.results == [0, 10, 20, 30, 40])
      #expect(kinds.records <= 2_000)
    }
  }

  @Test func `pages of an indexed order continue after the last one`() throws {
    try Trial.read { snapshot in
      let query = Trial.where { $0.note == "note 1" }.sorted(
        by: \.share.ascending, \.number.descending
      )
      .limit(37)
      var found: [Int] = []
      var page = try snapshot.page(query)
      for _ in 0..<40 {
        found += page.items.map(\.number)
        guard let next = page.next else { break }
        page = try snapshot.page(query.continuing(after: next))
      }
      let all = try snapshot.fetch(
        Trial.where { $0.note == "note 1" }.sorted(by: \.share.ascending, \.number.descending)
      ).map(\.number)
      #expect(found == Array(all.prefix(found.count)))
      #expect(found.count == 37 * 40)
    }
  }

  @Test func `records before an offset are read as entries alone`() throws {
    try Trial.read { snapshot in
      let deep = try reads(Trial.all.sorted(by: \.number).offset(15_000).limit(5), snapshot)
      #expect(deep.results == Array(15_000..<15_005))
      #expect(deep.records <= 16)
      let some = try reads(Trial.where { $0.share == 7 }.offset(100).limit(3), snapshot)
      #expect(some.results == [10_007, 10_107, 10_207])
      #expect(some.records <= 16)
    }
  }

  @Test func `a regular expression with a literal beginning reads only matching beginnings`() throws
  {
    try Trial.read { snapshot in
      let found = try reads(Trial.where(format: "name MATCHES 'name 0047\\\\d+'"), snapshot)
      #expect(found.results == Array(470..<480))
      #expect(found.records <= 100 && found.entries <= 100)
      let none = try reads(Trial.where(format: "name MATCHES '(name|other) 00471'"), snapshot)
      #expect(none.results == [471])
    }
  }

  @Test func `distinct values take one step in an index for each value`() throws {
    try Trial.read { snapshot in
      let core = snapshot.access.core
      let shares = try Self.steps("share", core)
      #expect(shares.count == 100 && shares.counts == PlanCounts(entriesRead: 100))
      let kinds = try Self.steps("kind", core)
      #expect(kinds.count == 10 && kinds.counts.entriesRead == 10)
      let few = try Self.steps("name", core, limit: 7)
      #expect(few.count == 7 && few.counts == PlanCounts(entriesRead: 7))
      let first = try snapshot.values(Trial.all.limit(10), \.name, distinct: true)
      #expect(first == (0..<10).map { "name 0000\($0)" })
      let some = try snapshot.values(Trial.all.limit(2).offset(9), \.kind, distinct: true)
      #expect(some == ["j"])
    }
  }

  private static func steps(
    _ name: String, _ core: TransactionCore, limit: Int = .max
  ) throws -> (count: Int, counts: PlanCounts) {
    let run = try core.run(Trial.all)
    let number = try #require(run.entity.description.attribute(named: name)?.number)
    var count = 0
    let rest = try run.forEachDistinct([number]) { (_) throws(StoreError) in
      count += 1
      return count < limit
    }
    #expect(rest == nil)
    return (count, run.counts)
  }
}
