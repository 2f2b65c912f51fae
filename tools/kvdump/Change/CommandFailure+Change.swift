import EntityStore

/// The failures of `delete` and `update`.
extension CommandFailure {
  static func nobodyToAsk(_ verb: ConfirmedChange.Verb) -> Self {
    CommandFailure(
      code: "nobody-to-ask",
      message: "no terminal for a question; --yes continues without asking, --dry-run counts the "
        + "records that would be \(verb.participle)", status: .usage)
  }

  static func changedWhileAsking(
    _ entity: String, _ store: String, asked: Int, found: Int
  ) -> Self {
    .about(
      store: store, code: "changed-while-asking",
      "\(NumberText.grouped(found)) of \(entity) found now, \(NumberText.grouped(asked)) when it "
        + "was asked; nothing was changed, run it again", status: .tryAgain)
  }

  init(_ error: AssignmentError) {
    switch error {
    case .badValue(let text, let attribute, let expectation):
      self = .badValue(text, of: attribute, expectation: expectation)
    case .nullInRequired(let text, let attribute):
      self = .badArgument(
        text, reason: "'\(attribute.name)' is required and is never null",
        nextStep: "give \(attribute.type.expectation)")
    case .badExpression(let assignment, let error): self = .badExpression(assignment, error)
    }
  }

  /// The failure for the right side of an assignment that cannot be parsed as an expression.
  static func badExpression(_ assignment: Assignment, _ error: StoreError) -> Self {
    guard let syntax = error.cause as? PredicateSyntaxError, let fault = QueryFault(error) else {
      return badArgument(
        assignment.text, reason: error.message, nextStep: "write '=' for a constant")
    }
    return CommandFailure(
      code: "bad-expression",
      message: "cannot parse the expression for '\(assignment.attribute)': \(syntax)",
      status: .usage, details: [.text("attribute", assignment.attribute)]
    ).located(fault, in: assignment.text)
  }

  /// The failure of an update that became impossible after some records were changed.
  static func nothingUpdated(_ error: StoreError, store path: String) -> Self {
    var failure = translated(error, store: path)
    failure.message += "; nothing was updated"
    return failure
  }
}
