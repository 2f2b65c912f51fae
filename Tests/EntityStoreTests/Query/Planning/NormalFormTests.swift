import Testing

@testable import EntityStore

/// The form of conditions before they are planned.
///
/// The oracle checks that their meaning stays the same.
@Suite struct NormalFormTests {
  private static func text(_ format: String, in core: TransactionCore) throws -> String {
    let tree = try Condition<Trial>(format: format).content.get().tree
    let entity = try core.entity(named: "Trial")
    return NormalForm.of(try ConditionBinding.bind(tree, to: entity)).text
  }

  @Test(arguments: [
    // Expressions of constants are calculated.
    ("number == 5 + 3", "number == 8"),
    ("number > 2 * 3 AND 1 + 1 > number", "FALSEPREDICATE"),
    ("number BETWEEN { 1 + 1, 2 * 8 }", "number BETWEEN {2, 16}"),
    ("name == uppercase:('abc')", "name == \"ABC\""),
    ("number == -(3 - 5)", "number == 2"),
    ("number IN { 1 + 1, 3 }", "number IN 2 values"),
    // Negations are moved into comparisons.
    ("NOT (number != 5)", "number == 5"),
    ("NOT (number > 5)", "number <= 5"),
    ("NOT (number > 5 OR share == 1)", "number <= 5 AND NOT share == 1"),
    ("NOT (rating > 5)", "NOT rating >= 5.000000000000001"),
    ("NOT NOT (number == 5)", "number == 5"),
    // Equalities of one attribute become a list.
    ("number == 1 OR number == 2 OR number == 2", "number IN 2 values"),
    (
      "number == 1 OR (number == 2 OR (number == 3 OR share == 1))",
      "number IN 3 values OR share == 1"
    ),
    ("name == 'a' OR name == 'b' OR name IN { 'c', 'd' }", "name IN 4 values"),
    ("name ==[c] 'a' OR name == 'b'", "name ==[c] \"a\" OR name == \"b\""),
    ("rating == NULL OR rating == 1 OR rating == 0", "rating IN 3 values"),
    ("_id == 4 OR _id == 7 OR _id IN { 7, 9 }", "_id IN 3 values"),
    // Comparisons of one attribute become a range.
    ("number > 5 AND number < 9 AND number != 7", "number BETWEEN {6, 8} AND NOT number == 7"),
    ("number > 5 AND number IN { 3, 6, 9 }", "number IN 2 values"),
    ("number IN { 1, 2 } AND number IN { 2, 3 }", "number IN 1 values"),
    ("number > 9 AND number < 5", "FALSEPREDICATE"),
    ("number < 5 OR number < 9 OR number == 3", "number <= 8"),
    ("number < 5 OR number >= 5", "TRUEPREDICATE"),
    ("rating < 5 OR rating >= 5", "rating <= inf"),
    // Common factors are taken out of an OR.
    ("share == 1 AND kind == 'a' OR share == 1 AND kind == 'b'", "share == 1 AND kind IN 2 values"),
    ("share == 1 OR share == 1 AND kind == 'b'", "share == 1"),
    (
      "share == 1 AND kind == 'a' OR share == 2 AND kind == 'b'",
      "(share == 1 AND kind == \"a\") OR (share == 2 AND kind == \"b\")"
    ),
  ])
  func `all spellings of a condition have one normal form`(format: String, normal: String) throws {
    try withTemporaryStore([Trial.self]) { store in
      try store.core.read { core throws in
        let text = try Self.text(format, in: core)
        #expect(text == normal)
      }
    }
  }

  @Test func `the normal form takes time that grows with the size of the condition`() throws {
    try withTemporaryStore([Trial.self]) { store in
      try store.core.read { core throws in
        let entity = try core.entity(named: "Trial")
        func time(_ count: Int) throws -> Duration {
          let parts = (0..<count).map { number -> ConditionTree in
            let left = Comparison(
              .path(ValuePath(attribute: "number")), .equal, .value(.integer(Int64(number))))
            let right = Comparison(
              .path(ValuePath(attribute: "share")), .less, .value(.integer(Int64(number))))
            return .all([.comparison(left), .not(.comparison(right))])
          }
          let bound = try ConditionBinding.bind(.any(parts), to: entity)
          return (0..<3).map { _ in processorTime { _ = NormalForm.of(bound) } }.min()
            ?? .zero
        }
        // The condition is eight times as long. A quadratic algorithm would take sixty-four times
        // as long.
        #expect(try time(32_000) < time(4_000) * 30)
      }
    }
  }
}
