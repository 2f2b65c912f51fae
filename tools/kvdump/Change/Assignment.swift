import EntityStore
import LodestoreFormat

/// What `update` does to one attribute: `license=MIT`, or `stars:=stars + 1`.
///
/// The right side stays text here: only the store's schema knows what type it is to be read as.
struct Assignment: Equatable, Sendable {
  let attribute: String
  let text: String
  /// Whether the right side is an expression in the notation of format strings, and no constant.
  let isExpression: Bool

  /// Splits at the first equals sign; the value may be empty, the name may not.
  init?(_ argument: String) {
    guard let sign = argument.firstIndex(of: "=") else { return nil }
    var name = argument[..<sign]
    isExpression = name.last == ":"
    if isExpression { name.removeLast() }
    guard !name.isEmpty else { return nil }
    attribute = String(name)
    text = String(argument[argument.index(after: sign)...])
  }

  /// The assignment as the library takes it, checked as far as it can be without a record.
  func bound(
    to entity: StoredEntity, of core: TransactionCore, in store: String
  ) throws -> (name: String, operand: Operand, constant: Value?) {
    if attribute == RecordColumns.idName {
      throw CommandFailure.badArgument(
        attribute, reason: "is the record's id, which the store gives",
        nextStep: "set another attribute")
    }
    let attribute = try entity.attribute(attribute, store: store)
    guard isExpression else {
      let value = try TypedValue.value(text, of: attribute)
      guard value != .null || attribute.isOptional else {
        throw CommandFailure.badArgument(
          text, reason: "'\(attribute.name)' is required and is never null",
          nextStep: "give \(attribute.type.expectation)")
      }
      return (attribute.name, .value(.null), value)
    }
    let operand: Operand
    do {
      operand = try ConditionParser.parseOperand(text)
    } catch {
      throw CommandFailure.badExpression(self, error)
    }
    // A comparison with it is planned, which reads nothing, to find names that are no attributes.
    let comparison = Comparison(operand, .equal, .value(.null))
    _ = try core.plan(QueryRequest(condition: .comparison(comparison)), for: entity)
    return (attribute.name, operand, nil)
  }
}
