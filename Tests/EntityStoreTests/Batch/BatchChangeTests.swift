import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Deletes and updates by conditions, compared with the same changes of an array.
@Suite struct BatchChangeTests {
  private static func rows(_ count: Int) -> [AllTypes] {
    var numbers = SeededNumbers(salt: 901)
    return (0..<count).map { index in
      var row = AllTypes()
      row.int = index
      row.int16 = Int16(numbers.below(50))
      row.bool = numbers.oneIn(3)
      row.string = "text \(numbers.below(20))"
      row.optionalString = numbers.oneIn(3) ? nil : "é\(numbers.below(10))"
      row.optionalInt16 = numbers.oneIn(4) ? nil : Int16(numbers.below(9))
      row.double = Double(numbers.below(1_000)) / 8
      row.decimal = Decimal(numbers.below(100))
      return row
    }
  }

  private func values(_ store: Store) throws -> [Int: AllTypes] {
    try store.read { snapshot in
      Dictionary(uniqueKeysWithValues: try snapshot.fetch(AllTypes.all).map { ($0.int, $0) })
    }
  }

  @Test func `a delete by condition removes the records that fulfil it, and no others`()
    throws
  {
    let conditions: [(Condition<AllTypes>, (AllTypes) -> Bool)] = [
      (Condition { $0.int16 < 10 }, { $0.int16 < 10 }),
      (
        Condition {
          $0.bool
          $0.string == "text 7"
        }, { $0.bool && $0.string == "text 7" }
      ),
      (Condition { $0.optionalString == nil }, { $0.optionalString == nil }),
      (
        Condition { $0.int.isIn(Array(stride(from: 0, to: 600, by: 7))) },
        { $0.int % 7 == 0 }
      ),
      (Condition { $0.double > 60 }, { $0.double > 60 }), (.none, { _ in false }),
      (.all, { _ in true }),
    ]
    for (condition, isGone) in conditions {
      try withTemporaryStore([AllTypes.self]) { store in
        let rows = Self.rows(600)
        try store.write { tx in _ = try tx.insert(rows) }
        let count = try store.write { tx in try tx.delete(AllTypes.where(condition)) }
        #expect(count == rows.count(where: isGone), "\(condition)")
        let left = try values(store)
        #expect(Set(left.keys) == Set(rows.filter { !isGone($0) }.map(\.int)), "\(condition)")
        // The ids of deleted records are not used again.
        let id = try store.write { tx in try tx.insert(AllTypes()).id }
        #expect(id.rawValue == 601)
      }
    }
  }

  @Test func `an update changes records of any length, with and without overflow pages`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      let lengths = [0, 900, 1_100, 1_990, 2_100, 5_000, 70_000, 900]
      let rows = lengths.enumerated().map { index, length in
        var row = AllTypes()
        row.int = index
        row.string = String(repeating: "x", count: length)
        return row
      }
      try store.write { tx in _ = try tx.insert(rows) }
      for (number, flag) in [(1, true), (2, false), (3, false)] {
        let count = try store.write { tx in
          // Each round makes two updates: the second one meets pages that the first has changed.
          let first = try tx.update(AllTypes.all) {
            $0.optionalBool = flag; $0.optionalFloat = 0.5
          }
          let again = try tx.update(AllTypes.all) { $0.optionalUInt64 = UInt64(number) }
          #expect(again == rows.count)
          return first
        }
        #expect(count == (number == 3 ? 0 : rows.count))
        let found = try values(store)
        for row in rows {
          var expected = row
          expected.optionalBool = flag
          expected.optionalFloat = 0.5
          expected.optionalUInt64 = UInt64(number)
          expected.id = try #require(found[row.int]).id
          #expect(found[row.int] == expected)
        }
      }
    }
  }

  @Test func `a delete obeys order and limit, and returns the removed records`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      let rows = Self.rows(500)
      try store.write { tx in _ = try tx.insert(rows) }
      let lowest = AllTypes.all.sorted(by: \.double.ascending, \.int.descending).limit(30)
      let expected = rows.sorted { ($0.double, -$0.int) < ($1.double, -$1.int) }.prefix(30)
      let removed = try store.write { tx in try tx.deleteReturning(lowest) }
      #expect(removed.map(\.int) == expected.map(\.int))
      #expect(try values(store).count == 470)
      let more = try store.write { tx in
        try tx.delete(AllTypes.all.sorted(by: \.int.descending).limit(5).offset(2))
      }
      #expect(more == 5)
    }
  }

  @Test func `an update sets constants and expressions, and moves index entries`() throws {
    try withTemporaryStore([AllTypes.self]) { store in
      let rows = Self.rows(2_000)
      try store.write { tx in _ = try tx.insert(rows) }
      let count = try store.write { tx in
        try tx.update(AllTypes.where { $0.int16 < 20 }) {
          $0.bool = true; $0.int16.add(1_000); $0.double.multiply(by: 2);
          $0.string = "grown far beyond what it was before"; $0.optionalString = nil;
          $0.optionalDate = Date(timeIntervalSince1970: 0)
        }
      }
      #expect(count == rows.count { $0.int16 < 20 })
      let stored = try values(store)
      for row in rows {
        var expected = row
        if row.int16 < 20 {
          expected.bool = true
          expected.int16 += 1_000
          expected.double *= 2
          expected.string = "grown far beyond what it was before"
          expected.optionalString = nil
          expected.optionalDate = Date(timeIntervalSince1970: 0)
        }
        expected.id = stored[row.int]?.id ?? expected.id
        #expect(stored[row.int] == expected)
      }
      // The changed records are found by their new keys.
      let found = try store.read { try $0.count(AllTypes.where { $0.int16 >= 1_000 }) }
      #expect(found == count)
      let again = try store.write { tx in
        try tx.update(AllTypes.where { $0.int16 >= 1_000 }) { $0.bool = true }
      }
      #expect(again == 0)
    }
  }

  @Test func `an update sets arrays, dictionaries and structs, and makes optional ones null`()
    throws
  {
    try withTemporaryStore([AllTypes.self]) { store in
      var value = AllTypes()
      value.optionalList = [1]
      value.optionalPlace = Place(name: "a", tags: [:], inner: [])
      try store.write { tx in _ = try tx.insert([value]) }
      let place = Place(name: "b", tags: ["x": [1]], inner: [])
      try store.write { tx in
        try tx.update(AllTypes.all) {
          $0.list = ["q"]; $0.table = ["t": 2]; $0.place = place; $0.optionalList = nil;
          $0.optionalPlace = place
        }
      }
      let stored = try #require(try store.read { try $0.fetch(AllTypes.all).first })
      #expect(stored.list == ["q"] && stored.table == ["t": 2] && stored.place == place)
      #expect(stored.optionalList == nil && stored.optionalPlace == place)
      let none = Place?.none
      try store.write { tx in
        try tx.update(AllTypes.all) { $0.optionalPlace = none }
      }
      #expect(
        try store.read { try $0.count(AllTypes.where(format: "optionalPlace == NULL")) } == 1)
      let again = try store.write { tx in
        try tx.update(AllTypes.all) { $0.list = ["q"] }
      }
      #expect(again == 0)
    }
  }

  @Test func `an update with an unsuitable value is refused, and its transaction has no effect`()
    throws
  {
    try withTemporaryStore([AllTypes.self]) { store in
      let rows = Self.rows(100)
      try store.write { tx in _ = try tx.insert(rows) }
      let error = try storeError(.unstorableValue) {
        try store.write { tx in
          try tx.update(AllTypes.all) { $0.int16.multiply(by: 9_999) }
        }
      }
      #expect(error.message.contains("int16"))
      // A closure that catches the error continues with the state before the call.
      try store.write { tx in
        _ = try? tx.update(AllTypes.all) { $0.int16.multiply(by: 9_999) }
      }
      let stored = try values(store)
      #expect(rows.allSatisfy { stored[$0.int]?.int16 == $0.int16 })
    }
  }

  @Test func `records may exchange the values of a unique index, but not share a value`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { tx in
        _ = try tx.insert(
          (0..<100).map {
            Film(title: "Film \($0)", episode: $0, code: "c\($0)", released: nil)
          })
        // Each number is raised by one, so each film but the last gets the number of another film.
        let count = try tx.update(Film.all) { $0.episode.add(1) }
        #expect(count == 100)
      }
      let films = try store.read { try $0.fetch(Film.all.sorted(by: \.episode.ascending)) }
      #expect(films.map(\.episode) == Array(1...100))
      #expect(films.map(\.title) == (0..<100).map { "Film \($0)" })
      _ = try storeError(.uniqueViolation) {
        try store.write { tx in
          try tx.update(Film.where { $0.episode.isIn(1...2) }) { $0.code = "same" }
        }
      }
      _ = try storeError(.uniqueViolation) {
        try store.write { tx in
          try tx.update(Film.where { $0.episode == 1 }) { $0.code = "c7" }
        }
      }
      // All films may have null, because null does not collide in a unique index.
      let cleared = try store.write { tx in
        try tx.update(Film.all) { $0.code = nil }
      }
      #expect(cleared == 100)
    }
  }

  @Test
  func `an expression that yields an unknown case is refused, changing nothing`()
    async throws
  {
    try await withTemporaryStore([AllTypes.self]) { store in
      var rows = [AllTypes(), AllTypes()]
      (rows[0].string, rows[1].string) = ("released", "retired")
      try await store.write { [rows] tx in _ = try tx.insert(rows) }
      let fromText: @Sendable (inout AttributeUpdates<AllTypes>) -> Void = {
        $0.set(\.stage, format: "string")
      }
      try await store.write { tx in
        let error = try storeError(.unstorableValue) {
          try tx.update(AllTypes.all) {
            $0.int = 1
            fromText(&$0)
          }
        }
        #expect(
          error.message.contains("AllTypes 2: the new value of 'stage' is no case of Stage"))
        // The failed updates changed nothing, so the transaction continues.
        let orNone = "TERNARY(string == 'released', string, NULL)"
        let count = try tx.update(AllTypes.where { $0.string == "released" }) {
          fromText(&$0)
          $0.set(\.optionalStage, format: orNone)
        }
        #expect(count == 1)
        let retired = try storeError(.unstorableValue) {
          try tx.update(AllTypes.all) { $0.set(\.optionalStage, format: "string") }
        }
        #expect(retired.attribute == "optionalStage")
        try tx.update(AllTypes.all) { $0.optionalStage = $0.optionalStage }
      }
      let error = await #expect(throws: StoreError.self) {
        try await store.update(AllTypes.all, inChunksOf: 1, fromText)
      }
      #expect(error?.code == .unstorableValue && error?.recordID == 2)
      let stored = try await store.read { try $0.fetch(AllTypes.all) }
      #expect(stored.map(\.stage) == [.released, .draft])
      #expect(stored.map(\.optionalStage) == [.released, nil] && stored.map(\.int) == [0, 0])
    }
  }

  @Test func `an expression beyond its type ends the update, also of an optional attribute`() throws
  {
    try withTemporaryStore([AllTypes.self]) { store in
      var row = AllTypes()
      row.optionalUInt64 = .max
      row.float = 3e38
      try store.write { try $0.insert(row) }
      let updates: [(inout AttributeUpdates<AllTypes>) -> Void] = [
        { $0.optionalUInt64.add(1) }, { $0.set(\.float, format: "float * 1e10") },
        { $0.set(\.optionalUInt64, format: "int / 0") },
      ]
      for update in updates {
        let error = #expect(throws: StoreError.self) {
          try store.write { try $0.update(AllTypes.all, update) }
        }
        #expect(error?.code == .unstorableValue, "\(error?.message ?? "")")
      }
      try store.write { transaction in
        // Adding to null leaves null.
        try transaction.update(AllTypes.all) { $0.optionalUInt64 = nil }
        try transaction.update(AllTypes.all) { $0.optionalUInt64.add(1) }
      }
      #expect(try store.read { try $0.fetch(AllTypes.all).first?.optionalUInt64 } == .some(nil))
    }
  }

  @Test func `a change is refused by every call when all lines of its condition were left out`()
    async throws
  {
    try await withTemporaryStore([Player.self]) { store in
      try await store.insert((0..<5).map { Player(name: "\($0)") })
      let name: String? = nil
      let left = Player.where { if let name { $0.name == name } }
      let calls: [(String, @Sendable () async throws -> Void)] = [
        ("delete", { _ = try await store.delete(left) }),
        ("deleteReturning", { _ = try await store.deleteReturning(left) }),
        ("delete in chunks", { _ = try await store.delete(left, inChunksOf: 2) }),
        ("update", { _ = try await store.update(left) { $0.score = 1 } }),
        ("update in chunks", { _ = try await store.update(left, inChunksOf: 2) { $0.score = 1 } }),
      ]
      for (call, run) in calls {
        let error = await #expect(throws: StoreError.self, "\(call)") { try await run() }
        #expect(error?.code == .invalidQuery, "\(call)")
      }
      #expect(try await store.fetch(Player.all).map(\.score) == [0, 0, 0, 0, 0])
    }
  }
}
