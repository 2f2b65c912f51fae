import EntityStore
import Foundation
import Testing

@Suite struct `Members and elements of documents` {
  private static func parcel(_ number: Int) -> Parcel {
    let kind = JSONValue.string("k\(number % 500)")
    let tag = JSONValue.string("t\(number % 600)")
    let label = JSONValue.string("l\(number % 601)")
    return Parcel(
      name: "\(number)",
      properties: .object(["type": .object(["kind": kind]), "size": .integer(Int64(number))]),
      keywords: ["w\(number % 700)", "all"],
      authors: [.init(name: "A\(number % 900)", age: number % 300), .init(name: "Bob")],
      tags: number % 2 == 0 ? .array([tag]) : .array([.object(["label": label])]))
  }

  private static func expect(
    _ snapshot: borrowing Snapshot, _ query: Query<Parcel>, _ index: String, _ count: Int
  ) throws {
    let plan = try snapshot.explain(query)
    #expect(plan.index == index, "\(plan)")
    #expect(try snapshot.count(query) == count)
    #expect(try snapshot.fetch(query).count == count)
  }

  @Test func `members and elements of documents are values of the right type or null`() throws {
    try withTemporaryStore([Parcel.self]) { store in
      let all: [(JSONValue, String?, Double?, Int?, Bool?)] = [
        (["type": ["kind": "a"], "size": 2.5, "stars": 3, "open": true], "a", 2.5, 3, true),
        (["type": "a", "size": 2, "stars": 3.0, "open": 1], nil, 2, 3, nil),
        (["type": [["kind": "a"]], "size": "2", "stars": 3.5], nil, nil, nil, nil),
        (["type": ["kind": 7], "size": nil, "stars": 1e300, "open": nil], nil, nil, nil, nil),
        (nil, nil, nil, nil, nil), ([1, 2], nil, nil, nil, nil), ("x", nil, nil, nil, nil),
      ]
      let ids = try store.insert(
        all.enumerated().map { Parcel(name: "\($0)", properties: $1.0) }
      ).ids
      for (id, expected) in zip(ids, all) {
        let found = try #require(try store.fetch(id))
        #expect(found.kind == expected.1 && found.size == expected.2)
        #expect(found.stars == expected.3 && found.isOpen == expected.4)
      }
      try store.modify(ids[4]) { $0.properties = ["type": ["kind": "b"]] }
      #expect(try store.fetch(ids[4])?.kind == "b")
      try store.update(Parcel.where { $0.kind == "a" }) { $0.properties = ["size": 9] }
      #expect(try store.fetch(ids[0])?.kind == nil)
      #expect(try store.fetch(ids[0])?.size == 9)
      try expectSound(store)
    }
  }

  @Test func `an index of an attribute or of elements finds members and elements of documents`()
    throws
  {
    try withTemporaryStore([Parcel.self]) { store in
      try store.insert((0..<2_000).map(Self.parcel))
      try store.read { snapshot throws in
        try Self.expect(
          snapshot, Parcel.where { $0.properties["type"]["kind"] == "k7" }, "Parcel.kind+size", 4)
        try Self.expect(
          snapshot,
          Parcel.where {
            $0.properties["type"]["kind"] == "k7"; $0.properties["size"] > 600
          },
          "Parcel.kind+size", 2)
        try Self.expect(snapshot, Parcel.where { $0.properties["size"] < 5 }, "Parcel.size", 5)
        try Self.expect(
          snapshot, Parcel.where { $0.keywords.contains("w3") }, "Parcel.keywords[]", 3)
        for (text, index, count) in [
          ("ANY keywords == 'w3'", "Parcel.keywords[]", 3),
          ("'w3' IN keywords", "Parcel.keywords[]", 3),
          ("ANY authors.name == 'A5'", "Parcel.authors[].name", 3),
          ("ANY authors.name IN {'A5', 'A6'}", "Parcel.authors[].name", 6),
          ("ANY authors.age < 2", "Parcel.authors[].age", 14),
          ("ANY authors.age BETWEEN {3, 4} AND name != '3'", "Parcel.authors[].age", 13),
          ("ANY tags == 't4'", "Parcel.tags[]", 4),
          ("ANY tags.label == 'l7'", "Parcel.tags[].label", 2),
          ("ANY tags BEGINSWITH 't5'", "Parcel.tags[]", 170),
        ] {
          try Self.expect(snapshot, try Parcel.where(format: text), index, count)
        }
        let plan = try snapshot.explain(Parcel.where { $0.keywords.contains("w3") })
        #expect("\(plan)".contains("Parcel.keywords[] at (w3)"), "\(plan)")
        // Almost all records match, so the plan uses no index.
        let all = try snapshot.explain(Parcel.where { $0.keywords.contains("all") })
        #expect(all.isScan, "\(all)")
      }
    }
  }

  @Test func `members and elements of documents give equal results with and without indexes`()
    throws
  {
    let count = SeededNumbers.environmentNumber("LODESTORE_ORACLE_CONDITIONS") ?? 120
    var numbers = SeededNumbers(salt: 71)
    var compared = 0
    func scalar() -> JSONValue {
      switch numbers.below(12) {
      case 0: .null
      case 1: .bool(numbers.oneIn(2))
      case 2, 3, 4: .integer(Int64(numbers.below(6)) - 2)
      case 5: .double(Double(numbers.below(12)) / 2 - 2)
      case 6: .integer(9_007_199_254_740_993)
      case 7: .double(-0.0)
      case 8: .string(["e\u{301}", "\u{e9}", "", "a\0b"][numbers.below(4)])
      default: .string(["a", "b", "ab", "2"][numbers.below(4)])
      }
    }
    func value(_ depth: Int) -> JSONValue {
      switch numbers.below(depth > 2 ? 2 : 5) {
      case 0, 1: scalar()
      case 2: .array((0..<numbers.below(4)).map { _ in value(depth + 1) })
      default:
        .object(
          Dictionary(
            uniqueKeysWithValues: ["type", "kind", "size", "stars", "open", "label"].filter { _ in
              numbers.oneIn(2)
            }.map { ($0, value(depth + 1)) }))
      }
    }
    func parcel(_ name: Int) -> Parcel {
      Parcel(
        name: "\(name)", properties: value(0),
        keywords: (0..<numbers.below(3)).map { _ in
          ["a", "b", "e\u{301}", "\u{e9}"][numbers.below(4)]
        },
        authors: (0..<numbers.below(3)).map { _ in
          .init(name: ["a", "b"][numbers.below(2)], age: numbers.oneIn(3) ? nil : numbers.below(4))
        }, tags: value(0))
    }
    func constant() -> String {
      [
        "1", "2", "0", "-1", "1.5", "'a'", "'b'", "'\u{e9}'", "''", "'2'", "TRUE", "FALSE",
        "9007199254740993",
      ][
        numbers.below(13)]
    }
    func condition() -> String {
      let path = [
        "properties.type.kind", "properties.size", "properties.stars", "properties.open",
        "keywords",
        "authors.name", "authors.age", "tags", "tags.label",
      ][numbers.below(9)]
      let quantifier = ["", "ANY ", "ANY ", "ALL ", "NONE "][numbers.below(5)]
      switch numbers.below(6) {
      case 0: return "\(quantifier)\(path) IN {\(constant()), \(constant())}"
      case 1: return "\(quantifier)\(path) BETWEEN {\(constant()), \(constant())}"
      case 2: return "\(quantifier)\(path) BEGINSWITH '\(["a", "e", ""][numbers.below(3)])'"
      case 3 where numbers.oneIn(3):
        return "\(quantifier)\(path) == {\(constant()), \(constant())}"
      case 3 where quantifier.isEmpty: return "\(path) CONTAINS \(constant())"
      default:
        return
          "\(quantifier)\(path) \(["==", "!=", "<", "<=", ">", ">="][numbers.below(6)]) \(constant())"
      }
    }
    try withTemporaryStore([Parcel.self, PlainParcel.self]) { store in
      let all = (0..<600).map(parcel)
      let ids = try store.insert(all).ids
      #expect(
        try store.insert(all.map(PlainParcel.init)).ids.map(\.rawValue) == ids.map(\.rawValue))
      for round in 0..<6 {
        try store.write { tx throws in
          for id in ids where try tx.fetch(id) != nil {
            let plain = PlainParcel.ID(rawValue: id.rawValue)
            if numbers.oneIn(12) {
              try tx.delete(id)
              try tx.delete(plain)
            } else if numbers.oneIn(6) {
              let other = parcel(round)
              try tx.modify(id) {
                $0.properties = other.properties
                $0.keywords = other.keywords
                $0.authors = other.authors
                $0.tags = other.tags
              }
              try tx.modify(plain) {
                $0.properties = other.properties
                $0.keywords = other.keywords
                $0.authors = other.authors
                $0.tags = other.tags
              }
            }
          }
        }
        try expectSound(store)
        try store.read { snapshot throws in
          for _ in 0..<count / 6 {
            var text = condition()
            if numbers.oneIn(3) { text = "NOT (\(text))" }
            if numbers.oneIn(3) {
              text += numbers.oneIn(2) ? " AND \(condition())" : " OR \(condition())"
            }
            let found = Result { try snapshot.ids(try Parcel.where(format: text)) }
            let plain = Result { try snapshot.ids(try PlainParcel.where(format: text)) }
            switch (found, plain) {
            case (.success(let found), .success(let plain)):
              #expect(found.map(\.rawValue) == plain.map(\.rawValue), "\(text)")
              let count = try snapshot.count(try Parcel.where(format: text))
              #expect(count == plain.count, "\(text)")
            case (.failure, .failure): continue
            default: Issue.record("\(text): \(found), \(plain)")
            }
            compared += 1
          }
        }
      }
    }
    #expect(compared > count / 2)
  }
}
