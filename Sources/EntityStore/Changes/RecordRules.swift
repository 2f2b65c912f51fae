internal import LodestoreFormat

/// The record rules of one entity, ready for evaluation.
///
/// `WriteCore.rules(of:)` creates them, because that code can evaluate conditions. A rule that
/// reads an attribute derived from related records is a late rule. The attribute is final only at
/// the end of the write, so ``LateRules`` evaluates the rule then.
protocol RecordRules: AnyObject {
  /// Whether some rules are evaluated only at the end of the write.
  var areSomeLate: Bool { get }

  /// Whether some rules, without late ones, read the id of the record.
  var readID: Bool { get }

  /// Returns the names of the rules, without late ones, that a record of the current layout breaks.
  func broken(by view: RecordView, id: UInt64) throws(StoreError) -> [String]

  /// Returns the late rules that a record breaks.
  func brokenAtCommit(by view: RecordView, id: UInt64) throws(StoreError) -> [BrokenLateRule]
}

/// A condition in the catalogue on records of one entity, ready for evaluation.
protocol RecordTest: AnyObject {
  /// Returns whether a record of any layout matches the condition.
  func admits(_ view: RecordView, id: UInt64) throws(StoreError) -> Bool
}

/// A late rule that a record breaks.
struct BrokenLateRule {
  var name: String
  /// The numbers of the attributes derived from related records that the rule reads.
  var derived: Set<UInt32>
}

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
