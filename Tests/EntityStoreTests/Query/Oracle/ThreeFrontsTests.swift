import Foundation
import Testing

@testable import EntityStore
@testable import LodestoreFormat

/// Conditions that key paths, `#Predicate` and format strings can all express, in all three forms.
@Suite struct ThreeFrontsTests {
  private struct Saying {
    let format: String
    let condition: Condition<Specimen>
    let predicate: Predicate<Specimen>

    init(
      _ format: String, _ condition: Condition<Specimen>, _ predicate: Predicate<Specimen>
    ) {
      self.format = format
      self.condition = condition
      self.predicate = predicate
    }
  }

  private static func comparisons() -> [Saying] {
    let date = Date(timeIntervalSinceReferenceDate: 5), text = "caf\u{e9}"
    let three: Int? = 3, none: String? = nil
    return [
      Saying("small == 3", Condition { $0.small == 3 }, #Predicate { $0.small == 3 }),
      Saying("small != 3", Condition { $0.small != 3 }, #Predicate { $0.small != 3 }),
      Saying("small < 2", Condition { $0.small < 2 }, #Predicate { $0.small < 2 }),
      Saying("small <= 2", Condition { $0.small <= 2 }, #Predicate { $0.small <= 2 }),
      Saying("level > 0", Condition { $0.level > 0 }, #Predicate { $0.level > 0 }),
      Saying("level >= 3", Condition { $0.level >= 3 }, #Predicate { $0.level >= 3 }),
      Saying("int == 3", Condition { $0.int == 3 }, #Predicate { $0.int == three }),
      Saying("int == NULL", Condition { $0.int == nil }, #Predicate { $0.int == nil }),
      Saying("int != NULL", Condition { $0.int != nil }, #Predicate { $0.int != nil }),
      Saying("name == NULL", Condition { $0.name == nil }, #Predicate { $0.name == none }),
      Saying("name == 'caf\u{e9}'", Condition { $0.name == text }, #Predicate { $0.name == text }),
      Saying("name != 'caf\u{e9}'", Condition { $0.name != text }, #Predicate { $0.name != text }),
      Saying("label >= 'b'", Condition { $0.label >= "b" }, #Predicate { $0.label >= "b" }),
      Saying("flag == TRUE", Condition { $0.flag }, #Predicate { $0.flag }),
      Saying("flag == FALSE", Condition { !$0.flag }, #Predicate { $0.flag == false }),
      Saying(
        "date == CAST(5, 'date')", Condition { $0.date == date }, #Predicate { $0.date == date }),
      Saying("single < 0.5", Condition { $0.single < 0.5 }, #Predicate { $0.single < 0.5 }),
      Saying(
        "big >= 9223372036854775808", Condition { $0.big >= 1 << 63 },
        #Predicate { $0.big >= 9_223_372_036_854_775_808 }),
    ]
  }

  private static func combinations() -> [Saying] {
    let list: [Int8] = [1, 3], texts = ["a", "caf\u{e9}", ""], range: ClosedRange<Float> = 0...0.5
    let json = JSONValue.integer(1)
    return [
      Saying(
        "small IN { 1, 3 }", Condition { $0.small.isIn(list) },
        #Predicate { list.contains($0.small) }),
      Saying(
        "label IN { 'a', 'caf\u{e9}', '' }", Condition { $0.label.isIn(texts) },
        #Predicate { texts.contains($0.label) }),
      Saying(
        "single BETWEEN { 0.0, 0.5 }", Condition { $0.single.isIn(range) },
        #Predicate { range.contains($0.single) }),
      Saying(
        "small > 0 AND flag == TRUE",
        Condition {
          $0.small > 0; $0.flag
        }, #Predicate { $0.small > 0 && $0.flag }),
      Saying(
        "small > 0 OR level == 3", Condition { anyOf($0.small > 0, $0.level == 3) },
        #Predicate { $0.small > 0 || $0.level == 3 }),
      Saying("NOT small > 0", Condition { not($0.small > 0) }, #Predicate { !($0.small > 0) }),
      Saying(
        "NOT (small > 0 OR int == NULL)", Condition { not(anyOf($0.small > 0, $0.int == nil)) },
        #Predicate { !($0.small > 0 || $0.int == nil) }),
      Saying(
        "label BEGINSWITH 'x'", Condition { $0.label.hasPrefix("x") },
        #Predicate { $0.label.starts(with: "x") }),
      Saying(
        "label CONTAINS 'e'", Condition { $0.label.contains("e") },
        #Predicate { $0.label.contains("e") }),
      Saying(
        "label == mark", Condition { $0.label == $0.mark }, #Predicate { $0.label == $0.mark }),
      Saying(
        "small > 0 AND small < 3 AND label != ''",
        Condition {
          $0.small > 0; $0.small < 3; $0.label != ""
        }, #Predicate { $0.small > 0 && $0.small < 3 && $0.label != "" }),
      Saying("json == 1", Condition { $0.json == json }, #Predicate { $0.json == json }),
    ]
  }

  @Test func `The three fronts find the same records, on every plan`() throws {
    try withSpecimens(count: 120, salt: 61) { store, records in
      var random = SeededNumbers(salt: 62)
      for saying in Self.comparisons() + Self.combinations() {
        let parsed = try Condition<Specimen>(format: saying.format)
        let conditions = [parsed, saying.condition, Condition(saying.predicate)]
        let trees = try conditions.map { try $0.content.get().tree }
        // The format string and key paths build one tree.
        #expect(
          ConditionPrinter.text(trees[0]) == ConditionPrinter.text(trees[1]), "\(saying.format)")
        var answers: Set<[UInt64]> = []
        for tree in trees {
          try store.core.read { core in
            let entity = try core.entity(Specimen.self)
            for lie in PlanningLie.allCases {
              let plan = try lie.plan(
                QueryRequest(condition: tree), for: entity, core: core, &random)
              answers.insert(try PlanRun(plan, core: core).ids())
            }
          }
        }
        #expect(answers.count == 1, "\(saying.format): \(answers), \(SeededNumbers.replay)")
        let plain = try records.filter { record in
          try OracleEvaluator().evaluate(trees[0], on: record)
        }
        #expect(answers == [plain.map(\.id)], "\(saying.format), \(SeededNumbers.replay)")
        let decoded = try store.read { try $0.fetch(Specimen.all) }
        let evaluated = try decoded.filter { try saying.predicate.evaluate($0) }
        #expect(answers == [evaluated.map(\.id.rawValue)], "\(saying.format)")
      }
    }
  }

  @Test func `Conditions of several fronts join in one query`() throws {
    try withSpecimens(count: 60, salt: 63) { store, records in
      try store.read { snapshot throws in
        let query = try Specimen.where { $0.small > 0 }.where(format: "level == %@", 3)
          .where(#Predicate { $0.flag }).where { anyOf($0.label.hasPrefix("c"), $0.int != nil) }
        let one = try Specimen.where(
          format:
            "small > 0 AND level == 3 AND flag == YES AND (label BEGINSWITH 'c' OR int != nil)")
        #expect(try snapshot.ids(query) == snapshot.ids(one))
        #expect(try !snapshot.ids(one).isEmpty, "\(SeededNumbers.replay)")
      }
    }
  }
}
