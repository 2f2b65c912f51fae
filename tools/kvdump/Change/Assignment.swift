import EntityStore
import LodestoreFormat

/// An assignment of `update` to one attribute: `license=MIT`, or `stars:=stars + 1`.
///
/// The right side stays text here, because only the store's schema knows the attribute's type.
struct Assignment: Equatable, Sendable {
  let attribute: String
  let text: String
  /// Whether the right side is an expression in the notation of format strings, and not a constant.
  let isExpression: Bool

  /// Splits at the first equals sign.
  ///
  /// The value may be empty, but the name may not be empty.
  init?(_ argument: String) {
    guard let sign = argument.firstIndex(of: "=") else { return nil }
    var name = argument[..<sign]
    isExpression = name.last == ":"
    if isExpression { name.removeLast() }
    guard !name.isEmpty else { return nil }
    attribute = String(name)
    text = String(argument[argument.index(after: sign)...])
  }

  /// The assignment in the library's form, checked except for rules that need a record.
  func bound(to entity: DynamicEntity, of snapshot: DynamicSnapshot) throws -> DynamicAssignment {
    if attribute == RecordColumns.idName {
      throw CommandFailure.badArgument(
        attribute, reason: "is the record's id, which the store gives",
        nextStep: "set another attribute")
    }
    let attribute = try entity.attribute(attribute)
    guard isExpression else {
      let value = try TypedValue.value(text, of: attribute)
      guard value != .null || attribute.isOptional else {
        throw CommandFailure.badArgument(
          text, reason: "'\(attribute.name)' is required and is never null",
          nextStep: "give \(attribute.type.expectation)")
      }
      return DynamicAssignment(attribute.name, value: value)
    }
    let assignment: DynamicAssignment
    do {
      assignment = try DynamicAssignment(attribute.name, expression: text)
    } catch {
      throw CommandFailure.badExpression(self, error)
    }
    try snapshot.check(assignment, of: entity)
    return assignment
  }
}
