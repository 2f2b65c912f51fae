/// Collects the broken rules of all records of one call, so that one error reports them.
struct BrokenRules {
  private var violations: [RuleViolation] = []
  private var detail: String?

  var isEmpty: Bool { violations.isEmpty }

  /// Runs `body` and collects the broken rules that it throws.
  ///
  /// Throws other errors, and the collected rules when there are many.
  ///
  /// - Parameter position: the position of the value in a batch insert.
  mutating func collect(
    at position: Int? = nil, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    do {
      try body()
    } catch {
      try add(error, at: position)
    }
  }

  /// Adds the broken rules of `error`; throws `error` when it is of another kind.
  mutating func add(_ error: StoreError, at position: Int? = nil) throws(StoreError) {
    guard error.code == .invalidValue, !error.violations.isEmpty else { throw error }
    if violations.isEmpty { detail = error.privateDetail }
    violations += error.violations.map { violation in
      var violation = violation
      violation.batchPosition = position
      return violation
    }
    if violations.count >= StoreError.mostViolations { try check() }
  }

  /// Throws the collected broken rules, if there are any.
  func check() throws(StoreError) {
    if !violations.isEmpty { throw .broken(violations, detail: detail) }
  }
}
