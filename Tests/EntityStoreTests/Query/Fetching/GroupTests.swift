import Foundation
import Testing

@testable import EntityStore

@Suite struct GroupTests {
  private func withTrials(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(95, in: store)
      try body(store)
    }
  }

  @Test func `Groups have the counts and aggregates of their records`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let groups = try snapshot.groups(
          Trial.where { $0.number >= 20 }, by: \.kind, .sum(\.number), .average(\.rating),
          .minimum(\.name), .maximum(\.rating), .count(\.rating))
        let records = try snapshot.fetch(Trial.where { $0.number >= 20 })
        let expected = Dictionary(grouping: records, by: \.kind)
        #expect(groups.map(\.key) == expected.keys.sorted())
        for group in groups {
          let members = try #require(expected[group.key])
          let ratings = members.compactMap(\.rating)
          let (sum, average, lowest, highest, count) = group.values
          #expect(group.count == members.count && sum == members.map(\.number).reduce(0, +))
          #expect(lowest == members.map(\.name).min() && highest == ratings.max())
          #expect(count == ratings.count)
          #expect(average == (ratings.isEmpty ? nil : ratings.reduce(0, +) / Double(ratings.count)))
        }
      }
    }
  }

  @Test func `Groups are in the order of their keys, null first, and having filters them`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let all = try snapshot.groups(Trial.all, by: \.rating)
        #expect(all.map(\.key) == [nil, 0.5, 1, 1.5, 2.5, 3, 3.5])
        #expect(all.map(\.count) == [24, 12, 12, 12, 12, 12, 11])
        // A scan of the records gives the same groups as the index.
        let scanned = try snapshot.groups(Trial.all, by: \.rating, .count(\.number))
        #expect(scanned.map(\.key) == all.map(\.key) && scanned.map(\.count) == all.map(\.count))
        let some = try snapshot.groups(
          Trial.all, by: \.rating, .sum(\.number), having: { $0.count < 12 })
        #expect(some.map(\.key) == [3.5])
        #expect(try snapshot.groups(Trial.where(.none), by: \.kind).isEmpty)
        let limited = try snapshot.groups(
          Trial.all.sorted(by: \.name.descending).limit(1).offset(5), by: \.kind)
        #expect(limited.count == 10)
      }
    }
  }

  /// A regression test: the result of one aggregate was a parameter pack, to which the compiler did
  /// not apply `??`.
  @Test func `Groups with one aggregate have its result, also if optional`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let groups = try snapshot.groups(
          Trial.all, by: \.kind, .maximum(\.rating), having: { ($0.values ?? 0) > 1 })
        let records = Dictionary(grouping: try snapshot.fetch(Trial.all), by: \.kind)
        #expect(!groups.isEmpty)
        for group in groups {
          let highest = try #require(records[group.key]?.compactMap(\.rating).max())
          #expect((group.values ?? 0) == highest)
          if let value = group.values { #expect(value > 1) }
        }
      }
    }
  }

  @Test func `Groups by the first attribute of an index step over it within the condition`()
    throws
  {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(20_000, in: store)
      try store.core.read { core in
        let run = try core.run(Trial.where { $0.share < 2 })
        let rows = try run.groups(by: [ValuePath(attribute: "kind")])
        #expect(rows.map(\.keys) == [[.string("a")], [.string("b")]])
        #expect(rows.map(\.count) == [200, 200])
        #expect(run.counts.recordsRead == 0 && run.counts.entriesRead <= 500)
      }
    }
  }

  @Test func `Counts by the first attribute of an index read its entries alone`() throws {
    try withTrials { store in
      try store.core.read { core in
        let run = try core.run(Trial.all)
        let rows = try run.groups(by: [ValuePath(attribute: "kind")])
        #expect(rows.map(\.count) == [10, 10, 10, 10, 10, 9, 9, 9, 9, 9])
        #expect(run.counts.recordsRead == 0 && run.counts.entriesRead == 95)
        let pairs = try run.groups(
          by: [ValuePath(attribute: "kind"), ValuePath(attribute: "share")])
        #expect(pairs.count == 95)
      }
    }
  }

  @Test func `Texts that are canonically equivalent are one group, and so are both zeros`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try store.write { transaction in
        for (number, (note, rating)) in [
          ("cafe\u{301}", 0.0), ("caf\u{e9}", -0.0), ("cafe", .nan), ("cafe", .nan),
        ].enumerated() {
          var trial = Trial(number)
          (trial.note, trial.name, trial.rating) = (note, note, rating)
          _ = try transaction.insert(trial)
        }
      }
      try store.read { snapshot throws in
        #expect(try snapshot.groups(Trial.all, by: \.note).map(\.count) == [2, 2])
        #expect(try snapshot.groups(Trial.all, by: \.name).map(\.count) == [2, 2])
        #expect(try snapshot.groups(Trial.all, by: \.rating).map(\.count) == [2, 2])
        #expect(
          try snapshot.groups(Trial.all, by: \.rating, .sum(\.number)).map(\.count) == [2, 2])
        let (lowest, highest, mean) = try snapshot.aggregate(
          Trial.all, .minimum(\.rating), .maximum(\.rating), .average(\.rating))
        #expect(lowest == 0 && highest == 0 && mean == 0)
        let highestAlone: Double?? = try snapshot.aggregate(Trial.all, .maximum(\.rating))
        #expect(highestAlone == 0)
        let lowestAlone: Double?? = try snapshot.aggregate(Trial.all, .minimum(\.rating))
        #expect(lowestAlone == 0)
      }
    }
  }

  @Test func `Records of an older layout are in the groups of their initial values`() throws {
    try withTemporaryPath { path in
      var random = SeededNumbers(salt: 91)
      let old = try Store(at: path, entities: [OldSpecimen.self])
      try old.write { transaction in
        for serial in 1...20 {
          let specimen = Specimen.nasty(serial: serial, &random)
          _ = try transaction.insert(OldSpecimen(specimen: specimen))
        }
      }
      old.close()
      let store = try Store(at: path, entities: [Specimen.self])
      try store.write { transaction in
        for serial in 21...40 {
          var specimen = Specimen.nasty(serial: serial, &random)
          (specimen.level, specimen.mark) = (serial % 2 == 0 ? 3 : 4, "me\u{301}")
          _ = try transaction.insert(specimen)
        }
      }
      try store.read { snapshot throws in
        for groups in [
          try snapshot.groups(Specimen.all, by: \.level),
          try snapshot.groups(Specimen.where { $0.serial > 0 }, by: \.level),
        ] {
          #expect(groups.map(\.key) == [3, 4] && groups.map(\.count) == [30, 10])
        }
        let marks = try snapshot.groups(Specimen.where { $0.serial > 0 }, by: \.mark)
        #expect(marks.map(\.count) == [40])
        #expect(try snapshot.values(Specimen.all, \.mark, distinct: true).count == 1)
      }
      store.close()
    }
  }

  // MARK: Aggregates

  @Test func `Aggregates over no values are nil, except sums and counts, which are 0`() throws {
    try withTrials { store in
      try store.read { snapshot throws in
        let none = Trial.where(.none)
        let (sum, ratings, average, lowest, highest, count) = try snapshot.aggregate(
          none, .sum(\.number), .count(\.rating), .average(\.number), .minimum(\.name),
          .maximum(\.number), .count(\.number))
        #expect(sum == 0 && ratings == 0 && count == 0)
        #expect(average == nil && lowest == nil && highest == nil)
        let nothing: Int? = try snapshot.aggregate(none, .minimum(\.number))
        #expect(nothing == nil)
      }
    }
  }

  @Test func `A lowest and a highest value each need one search in an index`() throws {
    try withTrials { store in
      try store.core.read { core in
        for (function, name, expected) in [
          (GroupTerm.Function.min, "number", 0), (.max, "number", 94), (.max, "share", 94),
        ] {
          let run = try core.run(Trial.all)
          let values = try run.totals([GroupTerm(function, ValuePath(attribute: name))])
          #expect(values == [.integer(Int64(expected))])
          #expect(run.counts.entriesRead == 1 && run.counts.recordsRead == 0)
        }
      }
      try store.read { snapshot throws in
        let lowest: Double?? = try snapshot.aggregate(Trial.all, .minimum(\.rating))
        let highest: Double?? = try snapshot.aggregate(Trial.all, .maximum(\.rating))
        let name: String? = try snapshot.aggregate(Trial.all, .minimum(\.name))
        #expect(lowest == 0.5 && highest == 3.5 && name == "name 00000")
        let conditional = Trial.where { $0.number < 10 }
        let few: Int? = try snapshot.aggregate(conditional, .maximum(\.number))
        #expect(few == 9)
      }
    }
  }

  @Test func `Totals of numbers from slots equal those of decoded values`() throws {
    try withTemporaryPath { path in
      var random = SeededNumbers(salt: 92)
      let old = try Store(at: path, entities: [OldSpecimen.self])
      try old.write { transaction in
        for serial in 1...60 {
          _ = try transaction.insert(
            OldSpecimen(specimen: Specimen.nasty(serial: serial, &random)))
        }
      }
      old.close()
      let store = try Store(at: path, entities: [Specimen.self])
      try store.write { transaction in
        for serial in 61...200 {
          _ = try transaction.insert(Specimen.nasty(serial: serial, &random))
        }
      }
      try store.core.read { core in
        let queries = [
          Specimen.all, Specimen.where { $0.serial > 30 }, Specimen.where { $0.serial < 0 },
          Specimen.where { $0.serial.isIn([3, 80, 199]) },
        ]
        let entity = try core.entity(Specimen.self)
        var binding = ConditionBinding(entity)
        let evaluator = ConditionEvaluator(.constant(true), entity: entity, core: core)
        for query in queries {
          for name in [
            "serial", "int", "small", "big", "ratio", "single", "flag", "group", "code", "level",
            "extra",
          ] {
            for function in [GroupTerm.Function.sum, .average, .count] {
              let path = ValuePath(attribute: name)
              let found = try core.run(query).totals([
                GroupTerm(function, path), GroupTerm(.count),
              ])
              // The expected totals come from the values of each record, as conditions see them.
              var total = GroupTotal()
              var count: Int64 = 0
              try core.run(query).forEach { id, bytes in
                let record = RecordUnderTest(view: try entity.view(bytes, id: id), id: id)
                try total.add(try evaluator.value(binding.operand(.path(path)), record), function)
                count += 1
                return true
              }
              let expected = [total.value(function), .integer(count)]
              #expect(
                "\(found)" == "\(expected)",
                "\(function) of \(name), \(SeededNumbers.replay)")
            }
          }
        }
      }
      store.close()
    }
  }

  @Test func `Sums are exact, and nil if their type cannot represent them`() throws {
    try withTemporaryStore([Specimen.self]) { store in
      try store.write { transaction in
        for serial in 1...3 {
          var specimen = Specimen()
          specimen.serial = serial
          specimen.small = 100
          specimen.big = .max
          specimen.single = 0.5
          specimen.amount = Decimal(12) / 10
          specimen.int = serial == 3 ? -.max : .max
          _ = try transaction.insert(specimen)
        }
      }
      try store.read { snapshot throws in
        let (small, big, single, serial, average) = try snapshot.aggregate(
          Specimen.all, .sum(\.small), .sum(\.big), .sum(\.single), .sum(\.serial),
          .average(\.small))
        #expect(small == nil && big == nil && single == 1.5 && serial == 6 && average == 100)
        let two = Specimen.where { $0.serial < 2 }
        let (oneSmall, oneBig) = try snapshot.aggregate(two, .sum(\.small), .sum(\.big))
        #expect(oneSmall == 100 && oneBig == .max)
        let none: Float? = try snapshot.aggregate(Specimen.where(.none), .sum(\.single))
        #expect(none == 0)
      }
    }
  }

  @Test func `Groups in any number agree with a dictionary, in the order of their keys`() throws {
    try withTemporaryStore([Trial.self]) { store in
      var numbers = SeededNumbers(salt: 2_201)
      try store.insert(
        (0..<9_000).map { place in
          var trial = Trial(place)
          trial.note = "a long text for " + String(numbers.below(5_000))
          trial.rating = numbers.oneIn(9) ? nil : [0.0, -0.0, .infinity, 2.5][numbers.below(4)]
          return trial
        })
      let all = try store.fetch(Trial.all)
      try store.read { snapshot throws in
        let byNumber = try snapshot.groups(Trial.all, by: \.number, .sum(\.share))
        #expect(byNumber.map(\.key) == Array(0..<9_000))
        #expect(byNumber.allSatisfy { $0.count == 1 && $0.values == $0.key % 100 })
        let byNote = try snapshot.groups(Trial.all, by: \.note, .maximum(\.number))
        let notes = Dictionary(grouping: all, by: \.note)
        #expect(byNote.map(\.key) == notes.keys.sorted())
        #expect(
          byNote.allSatisfy {
            $0.count == notes[$0.key]?.count && $0.values == notes[$0.key]?.map(\.number).max()
          })
        let byRating = try snapshot.groups(Trial.all, by: \.rating, .minimum(\.number))
        let ratings = Dictionary(grouping: all, by: \.rating)
        #expect(byRating.map(\.key) == [nil, 0, 2.5, .infinity])
        #expect(byRating.allSatisfy { $0.count == ratings[$0.key]?.count })
        #expect(byRating.allSatisfy { $0.values == ratings[$0.key]?.map(\.number).min() })
      }
    }
  }

  @Test func `Aggregates of groups come from the entries of an index that has them`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(3_000, in: store)
      try store.read { snapshot throws in
        let run = try snapshot.access.core.run(Trial.all.unordered())
        let kind = ValuePath(.record, [.member("kind")])
        let share = ValuePath(.record, [.member("share")])
        let rows = try run.groups(
          by: [kind], [GroupTerm(.sum, share), GroupTerm(.max, share), GroupTerm(.count)])
        #expect(run.counts.recordsRead == 0 && run.counts.entriesRead == 3_000)
        #expect(rows.map(\.keys) == "abcdefghij".map { [.string(String($0))] })
        let all = Dictionary(grouping: try snapshot.fetch(Trial.all), by: \.kind)
        for row in rows {
          guard case .string(let kind) = row.keys[0], let trials = all[kind] else { continue }
          #expect(row.values[0] == .integer(Int64(trials.map(\.share).reduce(0, +))))
          #expect(row.values[1] == .integer(Int64(trials.map(\.share).max() ?? 0)))
          #expect(row.values[2] == .integer(Int64(trials.count)))
        }
      }
    }
  }

  @Test(arguments: [
    ("kind IN { 'b', 'd', 'e' } AND share < 50", "kind", 1_500),
    ("share > 10 AND kind != 'c'", "kind", 3_000), ("share < 20", "share", 700),
    ("kind == 'c'", "share", 400), ("kind > 'g' AND share IN { 7, 18, 28 }", "share", 1_000),
  ])
  func `Groups after a condition come from entries that decide it`(
    condition: String, key: String, most: Int
  ) throws {
    try withTemporaryStore([Trial.self]) { store in
      try Trial.make(3_000, in: store)
      try store.read { snapshot throws in
        let query = try Trial.where(format: condition)
        let path = ValuePath(attribute: key)
        let share = ValuePath(attribute: "share")
        let terms = [
          GroupTerm(.sum, share), GroupTerm(.min, share), GroupTerm(.average, share),
          GroupTerm(.count, share), GroupTerm(.count),
        ]
        let run = try snapshot.access.core.run(query.unordered())
        let rows = try run.groups(by: [path], terms)
        #expect(run.counts.recordsRead == 0 && run.counts.entriesRead <= most, "\(run.counts)")
        var request = try query.unordered().request()
        request.forcesScan = true
        let core = snapshot.access.core
        let plan = try core.plan(request, for: try core.entity(Trial.self))
        let scanned = try PlanRun(plan, core: core).groups(by: [path], terms)
        #expect(!rows.isEmpty && rows.map(\.keys) == scanned.map(\.keys))
        #expect(rows.map(\.count) == scanned.map(\.count))
        #expect(rows.map(\.values) == scanned.map(\.values))
        #expect(try run.totals(terms) == PlanRun(plan, core: core).totals(terms))
      }
    }
  }

  @Test func `Groups continue with records if a key is cut`() throws {
    try withTemporaryStore([Trial.self]) { store in
      let long = String(repeating: "k", count: 600)
      try store.insert(
        (0..<600).map { place in
          var trial = Trial(place)
          // Some names sort before the cut names, some have the same beginning, and some sort after
          // them.
          trial.name = ["a", "b", long + "b", long + "a", String(long.prefix(470)), "z"][place % 6]
          return trial
        })
      try store.read { snapshot throws in
        let groups = try snapshot.groups(Trial.all, by: \.name)
        let expected = ["a", "b", String(long.prefix(470)), long + "a", long + "b", "z"]
        #expect(groups.map(\.key) == expected && groups.allSatisfy { $0.count == 100 })
        let some = try snapshot.groups(Trial.where { $0.name != "b" }, by: \.name)
        #expect(some.map(\.key) == expected.filter { $0 != "b" })
        let names = try snapshot.values(
          Trial.where { $0.name > "a" }, \.name, distinct: true)
        #expect(names == expected.filter { $0 != "a" })
      }
    }
  }

  @Test func `A sum of doubles does not depend on the way to the records`() throws {
    try withTemporaryStore([Trial.self]) { store in
      var numbers = SeededNumbers(salt: 2_202)
      try store.insert(
        (0..<2_000).map { place in
          var trial = Trial(place)
          trial.rating = Double(numbers.below(1_000_000)) * 1e-3 + (place % 7 == 0 ? 1e15 : 0)
          return trial
        })
      try store.read { snapshot throws in
        let entries = try snapshot.aggregate(Trial.all, .sum(\.rating))
        let records = try snapshot.aggregate(Trial.where { $0.note != "" }, .sum(\.rating))
        #expect(entries == records)
      }
    }
  }
}
