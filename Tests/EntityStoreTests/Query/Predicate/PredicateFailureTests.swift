import Foundation
import Testing

@testable import EntityStore

/// Predicates for which Foundation's `evaluate` traps or throws are errors of the store, with the
/// part of the predicate that failed.
@Suite struct PredicateFailureTests {
  private let ticket: Ticket = {
    var ticket = Ticket()
    ticket.count = .min
    ticket.divisor = -1
    ticket.votes = 127
    ticket.numbers = [1, 2]
    return ticket
  }()

  /// The error message of a fetch by `predicate`, which must be about the stored `ticket`.
  private func failure(
    _ predicate: Predicate<Ticket>, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    try failure(ConditionTree(predicate), sourceLocation: sourceLocation)
  }

  private func failure(
    _ tree: ConditionTree, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    try withTemporaryStore([Ticket.self]) { store in
      let id = try store.write { transaction in try transaction.insert(ticket) }.id.rawValue
      let error = try storeError(.conditionFailed, sourceLocation: sourceLocation) {
        try store.core.read { core in
          let stored = try core.entity(Ticket.self)
          let bytes = try #require(try core.record(id, of: stored))
          let record = ReferenceEvaluator.Record(
            id: id, values: ["count": .integer(.min), "rating": .null, "votes": .integer(127)])
          let evaluator = ReferenceEvaluator { closure, _ in
            try closure.evaluate(bytes, id: id, of: stored, core: core)
          }
          _ = try evaluator.evaluate(tree, on: record)
        }
      }
      #expect(error.recordID == id && error.entity == "Ticket", sourceLocation: sourceLocation)
      #expect(error.message.contains("\(error.cause ?? error)"), sourceLocation: sourceLocation)
      return (error.cause as? PredicateEvaluationError)?.description ?? "\(error)"
    }
  }

  @Test func `A division by zero is an error that quotes the expression`() throws {
    #expect(
      try failure(#Predicate { $0.count / ($0.divisor + 1) > 2 })
        == "division by zero in '$0.count / ($0.divisor + …)'")
    #expect(
      try failure(#Predicate { $0.count % ($0.divisor + 1) > 2 })
        == "division by zero in '$0.count % ($0.divisor + …)'")
    let zero = 0
    #expect(try failure(#Predicate { $0.count > 3 / zero }) == "division by zero in '… / …'")
  }

  @Test func `A division of the least integer by -1 is an error that quotes the expression`() throws
  {
    #expect(
      try failure(#Predicate { $0.count / $0.divisor > 2 })
        == "overflow in '$0.count / $0.divisor'")
    #expect(
      try failure(#Predicate { $0.count % $0.divisor == 0 })
        == "overflow in '$0.count % $0.divisor'")
    #expect(try failure(#Predicate { -$0.count > 0 }) == "overflow in '-$0.count'")
  }

  @Test func `Sums, differences and products that overflow are errors that quote the expression`()
    throws
  {
    let most = Int.max
    #expect(try failure(#Predicate { $0.votes + 1 > 2 }) == "overflow in '$0.votes + …'")
    #expect(try failure(#Predicate { $0.count - 1 < 2 }) == "overflow in '$0.count - …'")
    #expect(
      try failure(#Predicate { $0.count * $0.divisor < 2 })
        == "overflow in '$0.count * $0.divisor'")
    #expect(try failure(#Predicate { $0.count < most + 1 }) == "overflow in '… + …'")
    #expect(
      try failure(#Predicate { t in t.numbers.contains { $0 + most > t.count } })
        == "overflow in '$1 + …'")
  }

  @Test func `An unwrapped nil is an error that quotes the expression`() throws {
    // swift-format-ignore: NeverForceUnwrap
    let predicate = #Predicate<Ticket> { $0.rating! > 4 }
    #expect(try failure(predicate) == "nil unwrapped in '$0.rating!'")
    // swift-format-ignore: NeverForceUnwrap
    let element = #Predicate<Ticket> { $0.numbers.first! + $0.numbers.filter { $0 > 2 }.first! > 1 }
    #expect(try failure(element) == "nil unwrapped in '$0.numbers.filter { $1 > … }.first!'")
  }

  @Test func `Subscripts and ranges out of bounds are errors that quote the expression`() throws {
    let minus = -1
    #expect(
      try failure(#Predicate { $0.numbers[2] == 0 }) == "index out of range in '$0.numbers[…]'")
    #expect(
      try failure(#Predicate { $0.numbers[minus] == 0 }) == "index out of range in '$0.numbers[…]'")
    #expect(
      try failure(#Predicate { $0.numbers[0..<3].isEmpty })
        == "range out of range in '$0.numbers[…..<…]'")
    #expect(
      try failure(#Predicate { (1...minus).contains($0.count) })
        == "a range that ends before it starts in '…...…'")
    #expect(
      try failure(#Predicate { ($0.divisor..<$0.count).contains(3) })
        == "a range that ends before it starts in '$0.divisor..<$0.count'")
  }

  @Test func `A part that an earlier part excludes is not evaluated`() throws {
    let guarded = [
      #Predicate<Ticket> { $0.count > 0 && 1 / ($0.divisor + 1) > 2 },
      #Predicate<Ticket> { !($0.count < 0 || 1 / ($0.divisor + 1) > 2) },
      #Predicate<Ticket> { $0.numbers.isEmpty && 1 / ($0.divisor + 1) > 2 },
      #Predicate<Ticket> { $0.numbers.isEmpty ? 1 / ($0.divisor + 1) > 2 : false },
      #Predicate<Ticket> { ($0.rating ?? 1) != 1 && 1 / ($0.divisor + 1) > 2 },
      #Predicate<Ticket> { t in if let r = t.rating { r / (t.divisor + 1) > 2 } else { false } },
    ]
    for predicate in guarded {
      let tree = try ConditionTree(predicate)
      let record = ReferenceEvaluator.Record(
        id: 1, values: ["count": .integer(.min), "rating": .null])
      try withTemporaryStore([Ticket.self]) { store in
        _ = try store.write { transaction in try transaction.insert(ticket) }
        try store.core.read { core in
          let stored = try core.entity(Ticket.self)
          let bytes = try #require(try core.record(1, of: stored))
          let evaluator = ReferenceEvaluator { closure, _ in
            try closure.evaluate(bytes, id: 1, of: stored, core: core)
          }
          #expect(try !evaluator.evaluate(tree, on: record), "\(tree.sketch)")
        }
      }
    }
  }

  @Test func `Expressions inside a predicate are examined`() throws {
    let quotient = #Expression<Int, Int, Int> { $0 / ($1 + 1) }
    // The expression is built by hand, because the macro cannot write it on every system.
    let ticket = PredicateExpressions.Variable<Ticket>()
    let node = PredicateExpressions.build_Equal(
      lhs: PredicateExpressions.build_evaluate(
        PredicateExpressions.build_Arg(quotient),
        PredicateExpressions.build_KeyPath(root: ticket, keyPath: \.count),
        PredicateExpressions.build_KeyPath(root: ticket, keyPath: \.divisor)),
      rhs: PredicateExpressions.build_Arg(1))
    let tree = try PredicateScope(record: ticket).condition(node)
    #expect(tree.sketch == "<….evaluate($0.count, $0.divisor) == …>")
    #expect(try failure(tree) == "division by zero in '$1 / ($2 + …)'")
  }
}
