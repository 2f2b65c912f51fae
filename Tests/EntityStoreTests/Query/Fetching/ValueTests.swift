import Foundation
import LodestoreFormat
import Testing

@testable @_spi(Measuring) import EntityStore

@Suite struct ValueTests {
  private func withTrials(
    _ count: Int = 95, _ body: (Store) throws -> Void
  ) throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(count, in: store)
      try body(store)
    }
  }

  @Test func `Values are those of the records, in the query's order`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let query = Trial.where { $0.share < 50 }.sorted(by: \.rating.descending)
          .limit(20).offset(3)
        let rows = try snapshot.values(query, \.number, \.rating, \.json)
        let records = try snapshot.fetch(query)
        #expect(rows.count == 20 && rows.map(\.0) == records.map(\.number))
        #expect(rows.map(\.1) == records.map(\.rating) && rows.map(\.2) == records.map(\.json))
      }
    }
  }

  @Test func `Distinct rows come once, at their first position, and limits count them`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let query = Trial.all.sorted(by: \.number.descending)
        #expect(
          try snapshot.values(query, \.kind, distinct: true)
            == ["e", "d", "c", "b", "a", "j", "i", "h", "g", "f"])
        #expect(
          try snapshot.values(query.limit(3).offset(2), \.kind, distinct: true) == ["c", "b", "a"])
        #expect(try snapshot.values(query.limit(0), \.kind, distinct: true).isEmpty)
        let pairs = try snapshot.values(query, \.kind, \.note, distinct: true)
        #expect(pairs.count == 30)
        #expect(Set(pairs.map { "\($0.0) \($0.1)" }).count == 30)
        let ratings = try snapshot.values(Trial.all, \.rating, distinct: true)
        #expect(ratings == [nil, 0.5, 1, 1.5, 2.5, 3, 3.5])
        let json = try snapshot.values(Trial.all, \.json, distinct: true)
        #expect(json.count == 6)
      }
    }
  }

  @Test(arguments: [
    ("TRUEPREDICATE", 25), ("kind IN { 'c', 'a', 'h' } AND share > 5", 40), ("share >= 20", 700),
    ("note == 'note 1'", 60), ("kind == 'd'", 20), ("kind > 'f' AND note != 'note 0'", 40),
    ("number < 40", 90), ("rating == NULL", 4_000), ("number < 0", 2),
    ("share < 3 OR share > 97", 3_000),
  ])
  func `Distinct values without an order ascend, by steps over a suitable index`(
    condition: String, most: Int
  ) throws {
    try withTrials(3_000) { store in
      try store.read { snapshot in
        let query = try Trial.where(format: condition)
        let all = try snapshot.fetch(query)
        let kinds = Set(all.map(\.kind)).sorted()
        var found: [String] = []
        let run = try #require(
          try snapshot.explaining {
            found = try snapshot.values(query, \.kind, distinct: true)
          })
        #expect(found == kinds, "\(run)")
        let limited = try snapshot.values(query.limit(4).offset(1), \.kind, distinct: true)
        #expect(limited == Array(kinds.dropFirst().prefix(4)))
        #expect(
          try snapshot.values(query.sorted(by: \.kind), \.kind, distinct: true) == kinds)
        let backwards = try snapshot.values(
          query.sorted(by: \.kind.descending), \.kind, distinct: true)
        #expect(backwards == kinds.reversed())
        #expect((run.entriesRead ?? 0) + (run.recordsRead ?? 0) <= most, "\(run)")

        let shares = try snapshot.values(query, \.share, distinct: true)
        #expect(shares == Set(all.map(\.share)).sorted())
        let ratings = try snapshot.values(query, \.rating, distinct: true)
        #expect(ratings == Set(all.map(\.rating)).sorted { ($0 ?? -1) < ($1 ?? -1) })
        let pairs = try snapshot.values(query, \.kind, \.share, distinct: true)
        let expected = Set(all.map { String($0.kind) + String(1_000 + $0.share) }).sorted()
        #expect(pairs.map { $0.0 + String(1_000 + $0.1) } == expected)
        let turned = try snapshot.values(query, \.share, \.kind, distinct: true)
        #expect(turned.count == expected.count)
        #expect(turned.map { $0.0 } == turned.map { $0.0 }.sorted())
      }
    }
  }

  @Test func `Distinct values with one entry each are read by a walk, not by steps`() throws {
    try withTrials(3_000) { store in
      try store.read { snapshot in
        var found: [Int] = []
        let run = try #require(
          try snapshot.explaining {
            found = try snapshot.values(Trial.all, \.number, distinct: true)
          })
        #expect(found == Array(0..<3_000))
        #expect((run.entriesRead ?? 0) <= 3_100 && run.recordsRead == 0, "\(run)")
        for (limit, offset) in [(10, 0), (40, 0), (5, 30), (100, 20), (7, 2_990), (5, 4_000)] {
          let some = try snapshot.values(
            Trial.all.limit(limit).offset(offset), \.number, distinct: true)
          #expect(some == Array((0..<3_000).dropFirst(offset).prefix(limit)))
        }
        let names = try snapshot.values(Trial.all, \.name, distinct: true)
        #expect(names == (0..<3_000).map { Trial($0).name })
        let pairs = try snapshot.values(Trial.all, \.number, \.number, distinct: true)
        #expect(pairs.map(\.1) == found)
      }
    }
  }

  @Test func `An attribute may be requested more than once`() throws {
    try withTemporaryStore([Trial.self]) { store in
      let long = String(repeating: "l", count: 300)
      try store.insert(
        (0..<2_000).map { place in
          var trial = Trial(place)
          trial.name = long + String(place % 50 + 100)
          return trial
        })
      try store.read { snapshot in
        let rows = try snapshot.values(
          Trial.where { $0.name > "a" }, \.name, \.name, \.name, distinct: true)
        #expect(rows.map { $0.0 } == (100..<150).map { long + String($0) })
        #expect(rows.allSatisfy { $0.0 == $0.1 && $0.1 == $0.2 })
        let name = ValuePath(attribute: "name")
        let groups = try snapshot.access.core.run(Trial.all).groups(by: [name, name])
        #expect(groups.count == 50 && groups.allSatisfy { $0.count == 40 })
      }
    }
  }

  @Test func `Distinct texts are those of records, whatever their form`() throws {
    try withTemporaryStore([Trial.self]) { store in
      let long = String(repeating: "n", count: 500)
      try store.insert(
        (0..<400).map { place in
          var trial = Trial(place)
          trial.name = ["e\u{301}t\u{e9}", "plain", long + "2", long + "1", "z\0", "z"][place % 6]
          return trial
        })
      try store.read { snapshot in
        for query in [Trial.all, Trial.where { $0.share > 2 }, Trial.where { $0.number > 390 }] {
          let names = try snapshot.values(query, \.name, distinct: true)
          let sorted = try snapshot.values(query.sorted(by: \.name), \.name, distinct: true)
          let all = Set(try snapshot.fetch(query).map(\.name))
          #expect(Set(names) == all && names.count == all.count && sorted == names)
          let form = names.first { $0.hasSuffix("t\u{e9}") }?.unicodeScalars.map(\.value)
          #expect(form == [0x65, 0x301, 0x74, 0xe9])
        }
      }
    }
  }

  @Test func `Values of one index are read from its entries alone`() throws {
    try withTrials(5_000) { store in
      try store.core.read { core in
        let queries = [
          Trial.where {
            $0.kind == "c"; $0.share > 90
          },
          Trial.where {
            $0.kind == "c"; $0.share > 90
          }.sorted(by: \.share.descending),
          Trial.where { $0.kind == "c" }.sorted(by: \.share.ascending).limit(30).offset(4),
        ]
        for query in queries {
          let run = try core.run(query)
          let numbers = try ["share", "kind"].map { name in
            try #require(run.entity.description.attribute(named: name)?.number)
          }
          var rows: [[Value]] = []
          let isCovered = try run.forEachCovered(numbers) { (row) throws(StoreError) in
            rows.append(row)
            return true
          }
          #expect(isCovered, "\(run.plan.description.lines)")
          #expect(run.counts.recordsRead == 0 && run.counts.entriesRead > 0)
          let records = try store.read { try $0.fetch(query) }
          #expect(rows == records.map { [.integer(Int64($0.share)), .string($0.kind)] })
          let tuples = try store.read { try $0.values(query, \.share, \.kind) }
          #expect(tuples.map(\.0) == records.map(\.share))
        }
      }
    }
  }

  @Test func `Texts of an index are returned as stored, not as compared`() throws {
    try withTemporaryStore([Trial.self]) { store in
      let texts = [
        "cafe\u{301}", "caf\u{e9}", "e\u{301}" + String(repeating: "x", count: 600), "a",
      ]
      try store.write { transaction in
        for (index, text) in texts.enumerated() {
          var trial = Trial(index)
          trial.name = text
          _ = try transaction.insert(trial)
        }
      }
      try store.read { snapshot throws in
        for query in [
          Trial.all, Trial.all.sorted(by: \.name.ascending),
          Trial.where { $0.name >= "" }.requiringIndex().sorted(by: \.name.ascending),
          Trial.where { $0.name >= "" }.requiringIndex(),
        ] {
          let names = try snapshot.values(query, \.name)
          let records = try snapshot.fetch(query).map(\.name)
          #expect(names.map { Array($0.utf8) } == records.map { Array($0.utf8) })
        }
      }
    }
  }

  @Test func `Dictionaries have the requested attributes, and omit null`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let rows = try snapshot.dictionaries(
          Trial.where { $0.number < 3 },
          attributes: ["number", "rating", "json.n", "name", "_id"])
        #expect(rows.count == 3)
        #expect(rows.map { $0["number"] as? Int } == [0, 1, 2])
        #expect(rows.map { $0["rating"] as? Double } == [nil, 0.5, 1])
        #expect(rows.map { $0["json.n"] as? Int } == [0, nil, 2])
        #expect(rows.map { $0["_id"] as? Int } == [1, 2, 3])
        #expect(rows[0].keys.sorted() == ["_id", "json.n", "name", "number"])
        let error = try storeError(.invalidQuery) {
          try snapshot.dictionaries(Trial.all, attributes: ["numbre"])
        }
        #expect(error.message.contains("did you mean 'number'?"))
      }
    }
  }

  @Test func `A value calculated from an attribute has no values`() throws {
    try withTrials { store in
      let error = try storeError(.invalidQuery) {
        try store.read { try $0.values(Trial.all, \.name.count) }
      }
      #expect(
        error.message.contains(
          "is computed, and values and pages of attributes take stored attributes of Trial"))
    }
  }
}
