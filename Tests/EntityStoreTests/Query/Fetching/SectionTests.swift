import Testing

@testable import EntityStore

@Suite struct SectionTests {
  private func withTrials(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(95, in: store)
      try body(store)
    }
  }

  @Test func `Sections are the runs of equal values, in the order of the query`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let query = Trial.all.sorted(by: \.kind.descending, \.number.ascending)
        let sections = try snapshot.sections(query, by: \.kind)
        #expect(sections.map(\.key) == ["j", "i", "h", "g", "f", "e", "d", "c", "b", "a"])
        #expect(sections.map(\.count) == [9, 9, 9, 9, 9, 10, 10, 10, 10, 10])
        #expect(sections.flatMap(\.items) == (try snapshot.fetch(query)))
        #expect(
          sections.allSatisfy { section in section.items.allSatisfy { $0.kind == section.key } })
        let ranges = try snapshot.sectionRanges(query, by: \.kind)
        #expect(ranges.map(\.key) == sections.map(\.key))
        #expect(ranges.map(\.count) == sections.map(\.count))
        #expect(ranges.first?.range == 0..<9 && ranges.last?.range == 85..<95)
      }
    }
  }

  @Test func `Null is a section of its own, and a limit cuts the last one`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let query = Trial.all.sorted(by: \.rating.ascending).limit(30)
        let ranges = try snapshot.sectionRanges(query, by: \.rating)
        #expect(ranges.map(\.key) == [nil, 0.5] && ranges.map(\.range) == [0..<24, 24..<30])
        #expect(try snapshot.sections(query, by: \.rating).map(\.key) == [nil, 0.5])
        let none = Trial.where(.none).sorted(by: \.rating.ascending)
        #expect(try snapshot.sections(none, by: \.rating).isEmpty)
        #expect(try snapshot.sectionRanges(none, by: \.rating).isEmpty)
      }
    }
  }

  @Test func `Counts of sections read no record if an index has the order`() throws {
    try withTrials { store in
      try store.core.read { core in
        let query = Trial.where { $0.kind == "c" }.sorted(by: \.share.ascending)
        let run = try core.run(query)
        var shares: [Int64] = []
        let number = try #require(run.entity.description.attribute(named: "share")?.number)
        let isCovered = try run.forEachCovered([number]) { (values) throws(StoreError) in
          if case .integer(let share)? = values.first { shares.append(share) }
          return true
        }
        // For so few records the planner may choose a scan, which no index covers.
        #expect(isCovered || run.plan.isScan)
      }
    }
  }

  @Test func `Sections without an order by the key are refused`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let orders: [[SortKey<Trial>]] = [
          [], [Trial.attributes.name.ascending],
          [Trial.attributes.name.ascending, Trial.attributes.kind.ascending],
          [Trial.attributes.kind.ascending(ignoring: .caseInsensitive)],
        ]
        for order in orders {
          let query = Trial.all.sorted(order)
          let error = try storeError(.invalidQuery) { try snapshot.sections(query, by: \.kind) }
          #expect(error.message.contains("first key is 'kind'"), "\(error.message)")
          _ = try storeError(.invalidQuery) { try snapshot.sectionRanges(query, by: \.kind) }
        }
      }
    }
  }
}
