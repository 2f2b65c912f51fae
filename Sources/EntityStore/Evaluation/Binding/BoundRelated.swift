internal import LodestoreFormat

/// A test whether one of a record's related records fulfils a condition.
///
/// ANY is such a test; ALL, NONE and `@count > 0` are expressed by it. The type is a class, so that
/// the evaluator can cache results per test.
final class RelatedTest: Sendable {
  let end: RelationshipEnd
  /// The condition on the records related by ``end``.
  let condition: BoundCondition

  init(_ end: RelationshipEnd, _ condition: BoundCondition) {
    self.end = end
    self.condition = condition
  }

  /// Whether the test is true as soon as one related record exists.
  var isOfExistence: Bool { condition.isAlways }
}

/// A value computed from the records related to a record.
final class RelatedOperand: Sendable {
  enum Question: Sendable {
    /// The number of related records.
    case count
    case aggregate(CollectionOperator, BoundOperand)
    /// The value of the one related record, or null if none exists.
    case value(BoundOperand)
    /// The values of all related records, without nulls.
    case list(BoundOperand)

    /// The operand evaluated on each related record; `nil` for a count.
    var operand: BoundOperand? {
      switch self {
      case .count: nil
      case .aggregate(_, let operand), .value(let operand), .list(let operand): operand
      }
    }
  }

  let end: RelationshipEnd
  /// The condition that selects related records; `nil` for all of them.
  let condition: BoundCondition?
  let question: Question

  init(_ end: RelationshipEnd, _ condition: BoundCondition?, _ question: Question) {
    self.end = end
    self.condition = condition
    self.question = question
  }
}
