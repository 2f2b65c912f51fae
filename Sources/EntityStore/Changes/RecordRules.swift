internal import LodestoreFormat

/// The rules across attributes of one entity, ready to be asked; made by
/// `TransactionCore.rules(of:)`, where conditions are evaluated.
protocol RecordRules: AnyObject {
  /// The names of those that a record of the current layout breaks.
  func broken(by view: RecordView, id: UInt64?) throws(StoreError) -> [String]
}

/// The broken rules of the records of one call, told together.
struct BrokenRules {
  private var violations: [RuleViolation] = []
  private var detail: String?

  var isEmpty: Bool { violations.isEmpty }

  /// Takes what `body` finds broken; other errors are thrown, and so are these once there are many.
  ///
  /// Returns whether nothing was broken.
  mutating func collect(
    _ body: () throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    do {
      try body()
      return true
    } catch {
      guard error.code == .invalidValue, !error.violations.isEmpty else { throw error }
      if violations.isEmpty { detail = error.privateDetail }
      violations += error.violations
      if violations.count >= StoreError.mostViolations { try check() }
      return false
    }
  }

  /// Throws what has been found.
  func check() throws(StoreError) {
    if !violations.isEmpty { throw .broken(violations, detail: detail) }
  }
}
