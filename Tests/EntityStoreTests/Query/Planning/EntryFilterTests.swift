import Testing

@testable import EntityStore

/// Conditions on the attributes of an index are checked on its entries, before records are read.
@Suite(.readsPages) struct EntryFilterTests {
  private func withTrials(_ count: Int, _ body: (borrowing Snapshot) throws -> Void) throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(count, in: store)
      try store.read { try body($0) }
    }
  }

  @Test(arguments: [
    // The filter is on the second attribute of an index whose first attribute has a range, or on
    // the first attribute again.
    ("kind > 'a' AND kind != 'c' AND share == 7", 200),
    ("kind BEGINSWITH 'c' AND share IN { 2, 12 }", 400),
    ("name > 'name 1' AND name CONTAINS '77'", 600),
    ("name BETWEEN { 'name 00100', 'name 00900' } AND name ENDSWITH '5'", 90),
    ("name LIKE 'name 00*77'", 110),
    ("number > 100 AND NOT (number IN { 101, 102, 103 }) AND _id < 120", 120),
    ("share > 90 AND _id > 19900", 100),
    ("share BETWEEN { 10, 20 } AND (share == 11 OR share == 19)", 400),
  ])
  func `values in an entry are not read from its record`(
    condition: String, most: Int
  ) throws {
    try Trial.read { snapshot in
      let query = try Trial.where(format: condition)
      let found = try snapshot.explain(query, analyzing: true)
      #expect((found.recordsRead ?? .max) <= max(most, found.resultCount ?? 0), "\(found)")
      let all = try snapshot.fetch(query).map(\.number)
      var request = try query.request()
      request.forcesScan = true
      let core = snapshot.access.core
      let entity = try core.entity(Trial.self)
      // A trial's number is its id minus one.
      let scanned = try PlanRun(try core.plan(request, for: entity), core: core).ids()
        .map { Int($0) - 1 }
      #expect(all == scanned && !all.isEmpty)
      #expect(try snapshot.count(query) == all.count)
    }
  }

  @Test(arguments: [
    ("kind == 'c' AND (share < 10 OR share > 90)", "Trial.kind+share", 400),
    ("kind == 'c' AND NOT (share IN { 2, 12, 22 })", "Trial.kind+share", 1_400),
    (
      "kind IN { 'a', 'b' } AND (share == 10 OR share > 95 OR share == 11)", "Trial.kind+share", 400
    ),
    (
      "kind == 'c' AND (share < 10 OR share > 90) AND (share > 5 OR share == 2)",
      "Trial.kind+share", 400
    ),
  ])
  func `several ranges after a value are ranges of the index`(
    condition: String, index: String, most: Int
  ) throws {
    try Trial.read { snapshot in
      let query = try Trial.where(format: condition)
      let found = try snapshot.explain(query, for: .count, analyzing: true)
      #expect(found.index == index && found.recordsRead == 0, "\(found)")
      #expect((found.entriesRead ?? .max) <= most || found.entriesRead == found.resultCount)
      var request = try query.request()
      request.forcesScan = true
      let core = snapshot.access.core
      let entity = try core.entity(Trial.self)
      let scanned = try PlanRun(try core.plan(request, for: entity), core: core).ids()
      #expect(try snapshot.ids(query).map { UInt64($0.rawValue) } == scanned && !scanned.isEmpty)
    }
  }

  @Test func `a comparison of bytes reads the record, whose text may differ from its key`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try store.insert(
        (0..<3_000).map { place in
          var trial = Trial(place)
          trial.name = place % 2 == 0 ? "K" : "\u{212a}"
          return trial
        })
      try store.read { snapshot in
        let bytes = try Trial.where(format: "name > 'A' AND name <[n] 'L' AND kind == 'b'")
        #expect(try snapshot.count(bytes) == 0)
        let names = try Trial.where(format: "name > 'A' AND name <[n] 'L'")
        #expect(try snapshot.count(names) == 1_500)
        #expect(try snapshot.count(Trial.where(format: "name > 'A' AND name < 'L'")) == 3_000)
      }
    }
  }

  @Test func `a count by a range and more reads entries alone`() throws {
    try withTrials(2_000) { snapshot in
      let run = try snapshot.access.core.run(
        Trial.where(format: "name BEGINSWITH 'name 01' AND NOT (name ENDSWITH '9')"),
        wantsOnlyEntries: true)
      #expect(try run.count() == 900)
      #expect(run.counts.recordsRead == 0 && run.counts.entriesRead == 1_000)
    }
  }

  @Test func `the explanation of groups names their reads`() throws {
    try withTrials(2_000) { snapshot in
      let query = try Trial.where(format: "share > 50").sorted(by: \.number).limit(3)
      let entries = try snapshot.explain(
        query, for: .groups(by: ["kind"], of: ["share"]), analyzing: true)
      #expect(entries.index == "Trial.kind+share" && entries.recordsRead == 0, "\(entries)")
      #expect(entries.resultCount == 10 && !entries.description.contains("order"))
      let records = try snapshot.explain(query, for: .groups(by: ["note"]), analyzing: true)
      #expect(records.recordsRead ?? 0 > 0 && records.resultCount == 3, "\(records)")
      let inside = try snapshot.explain(Trial.all, for: .groups(by: ["json.n"]), analyzing: true)
      #expect(inside.resultCount == 6)
      #expect(throws: StoreError.self) {
        _ = try snapshot.explain(query, for: .groups(by: ["nothing"]))
      }
    }
  }

  @Test func `the explanation of a query depends on its use`() throws {
    try withTrials(2_000) { snapshot in
      let query = try Trial.where(format: "kind == 'c' AND share > 50").sorted(by: \.number)
      let fetch = try snapshot.explain(query, analyzing: true)
      #expect(fetch.description.contains("sorted by number"))
      #expect(fetch.recordsRead == fetch.resultCount && fetch.resultCount == 100)
      for use in [QueryUse.count, .ids, .delete, .update] {
        let found = try snapshot.explain(query, for: use, analyzing: true)
        #expect(found.resultCount == 100, "\(use)")
        #expect(found.index == "Trial.kind+share", "\(use)")
        if use == .count { #expect(found.recordsRead == 0, "\(use)") }
      }
      #expect(try !snapshot.explain(query, for: .count).description.contains("sorted"))
      #expect(try snapshot.count(Trial.all) == 2_000)
    }
  }
}
