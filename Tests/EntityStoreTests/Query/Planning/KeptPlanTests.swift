import EntityStore
import Foundation
import Testing

@testable import EntityStore

@Suite("Reused plans")
struct KeptPlanTests {
  private func plan(_ query: Query<Trial>, in store: Store) throws -> QueryPlan {
    try store.core.read { core in
      try core.plan(try query.request(), for: try core.entity(Trial.self))
    }
  }

  private func format(_ text: String, _ arguments: any Sendable...) throws -> Query<Trial> {
    Trial.where(try Condition(format: text, arguments: arguments))
  }

  @Test func `a plan is reused from the third run of a query until a write`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(500, in: store)
      let query = try format("kind == 'c' AND share > 20").sorted(by: \.share.ascending).limit(5)
      let first = try plan(query, in: store)
      let second = try plan(query, in: store)
      #expect(first !== second)
      #expect(try plan(query, in: store) === second)
      let other = try format("kind == 'c' AND share > 21").sorted(by: \.share.ascending).limit(5)
      for _ in 0..<3 { #expect(try plan(other, in: store) !== second) }
      try store.write { _ = try $0.insert(Trial(1_000)) }
      #expect(try plan(query, in: store) !== second)
      #expect(try store.read { try $0.fetch(query).map(\.share) } == [22, 22, 22, 22, 22])
    }
  }

  @Test func `a plan is reused only for its limit, offset and order`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(300, in: store)
      let all = try format("share >= 90")
      let queries = [
        all, all.limit(3), all.limit(4), all.limit(3).offset(1),
        all.sorted(by: \.number.descending), all.sorted(by: \.number.ascending), all.unordered(),
      ]
      let expected = try store.read { snapshot in
        try queries.map { try snapshot.fetch($0).map(\.number) }
      }
      for _ in 0..<3 {
        for (query, numbers) in zip(queries, expected) {
          #expect(try store.read { try $0.fetch(query).map(\.number) } == numbers)
          #expect(try store.read { try $0.count(query) } == numbers.count)
        }
      }
    }
  }

  @Test func `plans that change from run to run, or are long, are not reused`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(50, in: store)
      let queries = [
        try format("number + 1 > 3"), try format("name == 'caf\u{e9}'"),
        try format("number IN %@", Array(0..<40)),
        try format("name == %@", String(repeating: "x", count: 300)),
      ]
      for query in queries {
        let plans = try (0..<3).map { _ in try plan(query, in: store) }
        #expect(plans[1] !== plans[2])
      }
    }
  }

  @Test func `a plan is not reused for another form of a text`() throws {
    try withTemporaryStore([Trial.self]) { store in
      let notes = ["caf\u{e9}", "cafe\u{301}", "K", "\u{212a}"]
      try store.insert(
        notes.enumerated().map {
          var trial = Trial($0.offset)
          trial.note = $0.element
          return trial
        })
      for _ in 0..<3 {
        for note in notes {
          let query = try format("note ==[n] %@", note)
          #expect(try store.read { try $0.count(query) } == 1)
        }
      }
    }
  }

  @Test func `a plan is not reused for another form of a member's name in an order`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try store.insert(
        (0..<2).map {
          var trial = Trial($0)
          trial.json = ["\u{e9}": .integer(Int64($0)), "e\u{301}": .integer(Int64(-$0))]
          return trial
        })
      try store.core.read { core in
        func numbers(by name: String) throws -> [UInt64] {
          var request = QueryRequest()
          request.order = [SortTerm(ValuePath(.record, [.member("json"), .member(name)]))]
          return try core.run(request, for: try core.entity(Trial.self)).ids()
        }
        for _ in 0..<3 {
          let first = try numbers(by: "\u{e9}")
          #expect(try numbers(by: "e\u{301}") == first.reversed())
        }
      }
    }
  }

  @Test func `a plan is reused only within its commit`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(100, in: store)
      let query = try format("share == 5")
      let pinned = try store.snapshot()
      try store.write { try $0.delete(Trial.where { $0.share == 5 }) }
      for _ in 0..<4 {
        #expect(try store.read { try $0.count(query) } == 0)
        #expect(try pinned.fetch(query).count == 1)
      }
      _ = consume pinned
    }
  }

  @Test func `many threads reuse plans at once`() async throws {
    try await withTemporaryStore([Trial.self]) { store in
      try Trial.make(400, in: store)
      let queries = try (0..<20).map { try format("share == \($0) AND number > 100") }
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for round in 0..<200 {
              let share = (task + round) % queries.count
              let count = try? store.read { try $0.count(queries[share]) }
              #expect(count == (share == 0 ? 2 : 3))
            }
          }
        }
        group.addTask {
          for number in 10..<60 {
            _ = try? store.write { try $0.insert(Trial(100 * number + 50)) }
          }
        }
      }
    }
  }
}
