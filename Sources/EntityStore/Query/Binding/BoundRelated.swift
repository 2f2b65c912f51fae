internal import LodestoreFormat

/// Whether one of the records that a record leads to fulfils a condition: ANY, and what the others come
/// down to.
///
/// A class, as the evaluation of one record after the other keeps what it has found out for each.
final class RelatedTest: Sendable {
  let end: RelationshipEnd
  /// Of the records that ``end`` leads to.
  let condition: BoundCondition

  init(_ end: RelationshipEnd, _ condition: BoundCondition) {
    self.end = end
    self.condition = condition
  }

  /// Whether it is true of any record that leads to another one.
  var isOfExistence: Bool { condition.isAlways }

  var text: String {
    let name = end.name ?? "?"
    return isOfExistence ? "\(name).@count > 0" : "ANY \(name) (\(condition.text))"
  }
}

/// A question about the records that a record leads to.
final class RelatedOperand: Sendable {
  enum Question: Sendable {
    /// How many there are.
    case count
    case aggregate(CollectionOperator, BoundOperand)
    /// The value of the one record; null without a record.
    case value(BoundOperand)
    /// The values of all, without nulls.
    case list(BoundOperand)

    /// The operand that is evaluated on each related record; `nil` for a count.
    var operand: BoundOperand? {
      switch self {
      case .count: nil
      case .aggregate(_, let operand), .value(let operand), .list(let operand): operand
      }
    }
  }

  let end: RelationshipEnd
  /// Which of the records; `nil` for all of them.
  let condition: BoundCondition?
  let question: Question

  init(_ end: RelationshipEnd, _ condition: BoundCondition?, _ question: Question) {
    self.end = end
    self.condition = condition
    self.question = question
  }
}
