import Foundation
import Testing

@testable import EntityStore

/// A node that this library does not know: holds a predicate of a value that a node gives.
private struct Holds<Input: StandardPredicateExpression>: StandardPredicateExpression {
  var predicate: Predicate<Input.Output>
  var input: Input

  init(_ predicate: Predicate<Input.Output>, _ input: Input) {
    self.predicate = predicate
    self.input = input
  }

  func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try predicate.evaluate(input.evaluate(bindings))
  }

  init(from decoder: any Decoder) throws { throw CancellationError() }

  func encode(to encoder: any Encoder) throws { throw CancellationError() }
}

@Suite struct ForeignExpressionTests {
  /// Evaluates the tree, except clauses on `count`, for tickets with these numbers.
  private func answers(
    _ tree: ConditionTree, _ tickets: [(count: Int, rating: Int?, numbers: [Int])]
  ) throws -> [Bool] {
    try withTemporaryStore([Ticket.self]) { store in
      try store.write { transaction in
        for values in tickets {
          var ticket = Ticket()
          (ticket.count, ticket.rating, ticket.numbers) = values
          _ = try transaction.insert(ticket)
        }
      }
      return try store.core.read { core in
        let stored = try core.entity(Ticket.self)
        return try tickets.indices.map { index in
          let id = UInt64(index + 1)
          let bytes = try #require(try core.record(id, of: stored))
          let evaluator = ReferenceEvaluator { closure, _ in
            try closure.evaluate(bytes, id: id, of: stored, core: core)
          }
          let record = ReferenceEvaluator.Record(
            id: id,
            values: [
              "count": tickets[index].count._storedValue.value,
              "rating": tickets[index].rating._storedValue.value,
            ])
          return try evaluator.evaluate(tree, on: record)
        }
      }
    }
  }

  @Test func `A foreign node is evaluated by itself, and the rest stays data`() throws {
    let inner = #Predicate<Ticket> { $0.numbers.isEmpty }
    let predicate = Predicate<Ticket> { ticket in
      PredicateExpressions.build_Conjunction(
        lhs: PredicateExpressions.build_Comparison(
          lhs: PredicateExpressions.build_KeyPath(root: ticket, keyPath: \.count),
          rhs: PredicateExpressions.build_Arg(3), op: .greaterThan),
        rhs: Holds(inner, ticket))
    }
    let tree = try ConditionTree(predicate)
    #expect(tree.sketch.hasPrefix("(count greater 3 & <Holds<"))
    #expect(
      try answers(tree, [(4, nil, []), (3, nil, []), (4, nil, [1])]) == [true, false, false])
  }

  @Test func `A foreign node sees the variables of the closures around it`() throws {
    let isOdd = #Predicate<Int> { $0 % 2 == 1 }
    let predicate = Predicate<Ticket> { ticket in
      PredicateExpressions.build_contains(
        PredicateExpressions.build_KeyPath(root: ticket, keyPath: \.numbers)
      ) { Holds(isOdd, $0) }
    }
    #expect(
      try answers(ConditionTree(predicate), [(0, nil, [2, 3]), (0, nil, [2]), (0, nil, [])])
        == [true, false, false])
  }

  @Test func `A foreign node sees the value of an if let`() throws {
    let isOdd = #Predicate<Int> { $0 % 2 == 1 }
    let predicate = Predicate<Ticket> { ticket in
      PredicateExpressions.build_NilCoalesce(
        lhs: PredicateExpressions.build_flatMap(
          PredicateExpressions.build_KeyPath(root: ticket, keyPath: \.rating)
        ) { Holds(isOdd, $0) },
        rhs: PredicateExpressions.build_Arg(false))
    }
    let tree = try ConditionTree(predicate)
    #expect(tree.sketch.hasPrefix("(rating notEqual null & <Holds<"))
    #expect(
      try answers(tree, [(0, 1, []), (0, 2, []), (0, nil, [])]) == [true, false, false])
  }
}
