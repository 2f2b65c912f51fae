internal import LodestoreFormat

/// The rules across attributes of one entity, ready to be asked.
///
/// `WriteCore.rules(of:)` makes them, where conditions are evaluated. Rules that read an
/// attribute derived from related records are late: their values are right at the end of the write
/// alone, so ``LateRules`` asks them then.
protocol RecordRules: AnyObject {
  /// Whether some rules are late.
  var areSomeLate: Bool { get }

  /// The names of the rules, late ones apart, that a record of the current layout breaks.
  func broken(by view: RecordView, id: UInt64) throws(StoreError) -> [String]

  /// The late rules that a record breaks.
  func brokenAtCommit(by view: RecordView, id: UInt64) throws(StoreError) -> [BrokenLateRule]
}

/// A condition of the catalogue on records of one entity, ready to be asked.
protocol RecordTest: AnyObject {
  /// Whether a record of any layout fulfils it.
  func admits(_ view: RecordView, id: UInt64) throws(StoreError) -> Bool
}

/// A late rule that a record breaks.
struct BrokenLateRule {
  var name: String
  /// The numbers of the attributes derived from related records that the rule reads.
  var derived: Set<UInt32>
}

/// Collects the broken rules of the records of one call, so that one error reports them.
struct BrokenRules {
  private var violations: [RuleViolation] = []
  private var detail: String?

  var isEmpty: Bool { violations.isEmpty }

  /// Collects the broken rules that `body` throws.
  ///
  /// Throws other errors, and the broken rules once there are many.
  ///
  /// - Parameter position: of the value among those of a batch insert.
  mutating func collect(
    at position: Int? = nil, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    do {
      try body()
    } catch {
      try add(error, at: position)
    }
  }

  /// Adds the broken rules that `error` is of, which is thrown where it is of none.
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

  /// Throws the broken rules, if there are any.
  func check() throws(StoreError) {
    if !violations.isEmpty { throw .broken(violations, detail: detail) }
  }
}
