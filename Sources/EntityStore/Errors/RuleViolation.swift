/// One rule that a value or a record breaks: a constraint, a ``RecordRule``, or what a ``ChangeHook``
/// refused.
public struct RuleViolation: Error, Sendable, Hashable {
  /// The entity.
  public var entity: String
  /// The record; `nil` for a new one.
  public var recordID: UInt64?
  /// The attribute, where the rule is about one.
  public var attribute: String?
  /// The rule in words, as in "be at least 0", or the name of a rule.
  public var rule: String
  /// The position of the value among those of a batch insert, from 0; `nil` elsewhere.
  public var batchPosition: Int?

  /// A broken rule, for hooks to throw; entity and record are filled in.
  public init(_ rule: String, attribute: String? = nil) {
    self.init(entity: "", recordID: nil, attribute: attribute, rule: rule)
  }

  init(entity: String, recordID: UInt64?, attribute: String?, rule: String) {
    self.entity = entity
    self.recordID = recordID
    self.attribute = attribute
    self.rule = rule
  }
}

extension RuleViolation: CustomStringConvertible {
  /// As in `Event 3: 'end' must be at least 0`, or `Event, value 2 of the batch: …`.
  public var description: String {
    var record = recordID.map { "\(entity) \($0)" } ?? entity
    if let batchPosition { record += ", \(StoreError.inWords(batchPosition))" }
    return attribute.map { "\(record): '\($0)' must \(rule)" } ?? "\(record): \(rule)"
  }
}

extension StoreError {
  /// How many broken rules one error tells of.
  static let mostViolations = 100

  /// The broken rules of one call, of which there is one at least.
  ///
  /// - Parameter detail: the values concerned.
  static func broken(_ violations: [RuleViolation], detail: String? = nil) -> StoreError {
    let first = violations[0]
    let verb = first.recordID.map { "update \(first.entity) \($0)" } ?? "store \(first.entity)"
    let what = first.attribute.map { "'\($0)' must \(first.rule)" } ?? first.rule
    let others = violations.count - 1
    let more = others == 0 ? "" : ", and \(others) more broken rule\(others == 1 ? "" : "s")"
    var error = StoreError(
      .invalidValue, "cannot \(verb): \(what)\(more)", entity: first.entity,
      attribute: first.attribute, recordID: first.recordID, privateDetail: detail)
    error.violations = violations
    return first.batchPosition.map { error.inBatch(at: $0) } ?? error
  }
}
