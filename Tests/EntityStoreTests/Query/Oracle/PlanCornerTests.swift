import Foundation
import Testing

@testable import EntityStore
@testable import LodestoreFormat

/// Conditions and orders on chosen records that were once answered wrongly, tested on every plan.
@Suite struct PlanCornerTests {
  private func expectPlain(
    _ specimens: [Specimen], _ format: String, by order: [SortTerm] = [], limit: Int? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withTemporaryStore([Specimen.self]) { store in
      try store.write { transaction in
        for (index, specimen) in specimens.enumerated() {
          var numbered = specimen
          numbered.serial = index + 1
          _ = try transaction.insert(numbered)
        }
      }
      try store.core.read { core in
        var random = SeededNumbers(salt: 64)
        let entity = try core.entity(Specimen.self)
        let records = try factRecords(core)
        var request = QueryRequest(condition: try ConditionParser.parse(format).tree)
        request.order = order
        request.limit = limit
        let found = try records.filter {
          try OracleEvaluator().evaluate(request.condition, on: $0)
        }
        let sorted = OracleOrder(order).sorted(found).map(\.id)
        let expected = Array(sorted.prefix(limit ?? sorted.count))
        for lie in PlanningLie.allCases + Array(repeating: .anyIndex, count: 8) {
          let plan = try lie.plan(request, for: entity, core: core, &random)
          let text: Comment = "\(plan.description.lines)"
          #expect(
            try PlanRun(plan, core: core).ids() == expected, text, sourceLocation: sourceLocation)
          #expect(
            try PlanRun(plan, core: core).count() == expected.count, text,
            sourceLocation: sourceLocation)
        }
      }
    }
  }

  private func specimens<V>(
    _ path: WritableKeyPath<Specimen, V>, _ values: [V]
  ) -> [Specimen] {
    values.map { value in
      var specimen = Specimen()
      specimen[keyPath: path] = value
      return specimen
    }
  }

  private func term(
    _ name: String, isDescending: Bool = false, nullsFirst: Bool? = nil
  ) -> SortTerm {
    SortTerm(ValuePath(attribute: name), isDescending: isDescending, nullsFirst: nullsFirst)
  }

  @Test func `A list and a prefix on one attribute stay a superset before a range`() throws {
    var found = specimens(\.label, ["x\u{33f}y", "xy", "z", "x"])
    for index in found.indices { found[index].int = 5 }
    try expectPlain(
      found, "label IN { 'x\u{33f}y', 'xy', 'z' } AND label BEGINSWITH 'x' AND int > 3")
  }

  @Test func `Null in the second attribute of a unique index is found, as often as it occurs`()
    throws
  {
    var found = specimens(\.code, [nil, 1, nil, 2, nil])
    for index in found.indices { found[index].group = index < 4 ? 1 : 2 }
    try expectPlain(found, "group == 1 AND code == NULL")
    try expectPlain(found, "group IN { 1, 2 } AND code IN { 2, NULL }")
  }

  /// In a unique index only keys with null end with the id.
  ///
  /// Records with null once came first, whatever their ids.
  @Test func `Records with null in a unique index and others come in the order of their ids`()
    throws
  {
    var found = specimens(\.code, [nil, nil, nil, 209, nil, nil, 209, nil])
    for index in found.indices { found[index].group = index < 5 ? 2 : -3 }
    for limit in 1...8 {
      try expectPlain(found, "group IN { 2, -3 } AND code IN { 209, NULL }", limit: limit)
      try expectPlain(
        found, "group IN { 2, -3 } AND code IN { 209, NULL }",
        by: [term("code", nullsFirst: true)], limit: limit)
    }
  }

  @Test func `A bound above a prefix does not hide a mark after the prefix`() throws {
    let found = specimens(\.name, ["a", "ab", "a\u{33f}x", "abc", "a\u{33f}", nil])
    try expectPlain(found, "name BEGINSWITH 'a' AND name >= 'ab'")
    try expectPlain(found, "name BEGINSWITH 'a'")
  }

  @Test func `Texts and data that end with zeros differ from shorter ones, with nulls after them`()
    throws
  {
    let uuid = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
    let data: [[UInt8]?] = [[], [0], [], [0, 0], [0], nil, []]
    var found = specimens(\.blob, data.map { $0.map { Data($0) } })
    for index in found.indices where index % 2 == 0 { found[index].token = uuid }
    for first in [false, true] {
      for second in [false, true] {
        for nulls in [nil, true, false] {
          try expectPlain(
            found, "TRUEPREDICATE",
            by: [
              term("blob", isDescending: first),
              term("token", isDescending: second, nullsFirst: nulls),
            ])
        }
        try expectPlain(
          found, "TRUEPREDICATE",
          by: [term("blob", isDescending: first), term("_id", isDescending: second)])
      }
    }
    try expectPlain(
      specimens(\.name, ["", "\u{0}", "a", "a\u{0}", nil, "\u{0}a"]), "TRUEPREDICATE",
      by: [term("name"), term("token", nullsFirst: false)])
  }

  @Test func `Inside JSON numbers come before texts, in both directions`() throws {
    let found = specimens(
      \.json,
      [["n": "a"], ["n": 2], ["n": 1.5], [:], ["n": "1"], ["n": [1]], nil, ["n": -3], ["n": ""]])
    for isDescending in [false, true] {
      let path = ValuePath(.record, [.member("json"), .member("n")])
      try expectPlain(found, "TRUEPREDICATE", by: [SortTerm(path, isDescending: isDescending)])
    }
  }

  @Test func `A missing member of JSON has no elements, as null has none`() throws {
    let found = specimens(
      \.json, [nil, .null, [:], ["items": nil], ["items": []], ["items": [["p": 1]]], 3, "a"])
    for format in [
      "json.items.@count == 0", "json.items[SIZE] == 0", "json.items.@sum.p == 0",
      "json.items.@max.p == NULL", "json.items[0].p == NULL", "ANY json.items.p == 1",
      "ALL json.items.p == 2", "SUBQUERY(json.items, $x, $x.p == 1).@count == 0",
    ] {
      try expectPlain(found, format)
    }
  }

  @Test func `Orders that compose differently are those of the composed form`() throws {
    let texts = ["a\u{301}", "\u{e1}b", "\u{e1}", "a", "b", "a\u{301}b", "\u{212a}", "K", "k"]
    for isDescending in [false, true] {
      try expectPlain(
        specimens(\.name, texts), "name >= '\u{e1}' OR name < 'b'",
        by: [term("name", isDescending: isDescending)])
    }
  }
}
