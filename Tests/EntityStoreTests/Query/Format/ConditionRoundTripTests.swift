import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Condition round trip` {
  private static let count = SeededNumbers.environmentNumber("FORMAT_TREES") ?? 4_000

  @Test func `a random condition is printed as a text that is read as an equal condition`() throws {
    var conditions = RandomConditions(salt: 701)
    var failures = 0
    for number in 0..<Self.count where failures < 5 {
      let tree = conditions.condition(depth: 2 + number % 6)
      let text = ConditionPrinter.text(tree)
      do {
        let same = try readsBack(tree, as: text)
        if !same { failures += 1 }
        #expect(same, "tree \(number): \(text)\n\(SeededNumbers.replay)")
      } catch {
        failures += 1
        Issue.record("tree \(number): \(text)\n\(error)\n\(SeededNumbers.replay)")
      }
    }
  }

  @Test func `a random operand is printed as a text that is read as an equal operand`() throws {
    var conditions = RandomConditions(salt: 702)
    for number in 0..<Self.count {
      let operand = conditions.operand(depth: 1 + number % 6)
      let text = ConditionPrinter.text(operand)
      let tree = ConditionTree.comparison(Comparison(operand, .equal, operand))
      #expect(
        try readsBack(tree, as: "\(text) == \(text)"), "\(number): \(text)\n\(SeededNumbers.replay)"
      )
    }
  }

  @Test func `groups of one condition and of none print their meaning`() {
    let a = ConditionTree.comparison(
      Comparison(.path(ValuePath(attribute: "a")), .equal, .value(.integer(1))))
    #expect(ConditionPrinter.text(.all([])) == "TRUEPREDICATE")
    #expect(ConditionPrinter.text(.any([])) == "FALSEPREDICATE")
    #expect(
      ConditionPrinter.text(.all([.any([a]), .any([a, a])])) == "a == 1 AND (a == 1 OR a == 1)")
  }
}
