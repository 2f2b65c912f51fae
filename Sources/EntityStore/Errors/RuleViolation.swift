/// One rule that a value or a record breaks: a constraint, a ``RecordRule``, or what a ``ChangeHook``
/// refused.
public struct RuleViolation: Error, Sendable, Hashable {
  /// The entity.
  public var entity: String
  /// The record; `nil` for a new one.
  public var recordID: UInt64?
  /// The attribute, where the rule is about one.
  public var attribute: String?
  /// The broken rule: the end of "must be at least 0", the name of a rule, or the sentence of a
  /// hook.
  public var rule: String
  /// The position of the value among those of a batch insert, from 0; `nil` elsewhere.
  public var batchPosition: Int?
  /// Whether ``rule`` says all that is to be said, and not what the attribute must do.
  private let isSentence: Bool

  /// A refusal, for hooks to throw; entity and record are filled in.
  ///
  /// - Parameters:
  ///   - rule: Why the change is refused, as a sentence of its own: "a member with open loans stays".
  ///   - attribute: The attribute that the sentence is about, for programs; the description leaves it out.
  public init(_ rule: String, attribute: String? = nil) {
    entity = ""
    recordID = nil
    self.attribute = attribute
    self.rule = rule
    isSentence = true
  }

  init(entity: String, recordID: UInt64?, attribute: String?, rule: String) {
    self.entity = entity
    self.recordID = recordID
    self.attribute = attribute
    self.rule = rule
    isSentence = false
  }

  /// The violation without the record.
  var fact: String {
    guard let attribute, !isSentence else { return rule }
    return "'\(attribute)' must \(rule)"
  }
}

extension RuleViolation: CustomStringConvertible {
  /// As in `Event 3: 'end' must be at least 0`, or `Event, value 2 of the batch: …`; the sentence
  /// of a hook stands alone.
  public var description: String {
    var record = recordID.map { "\(entity) \($0)" } ?? entity
    if let batchPosition { record += ", \(StoreError.inWords(batchPosition))" }
    return record.isEmpty ? fact : "\(record): \(fact)"
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
    let others = violations.count - 1
    let more = others == 0 ? "" : ", and \(others) more broken rule\(others == 1 ? "" : "s")"
    var error = StoreError(
      .invalidValue, "cannot \(verb): \(first.fact)\(more)", entity: first.entity,
      attribute: first.attribute, recordID: first.recordID, privateDetail: detail)
    error.violations = violations
    return first.batchPosition.map { error.inBatch(at: $0) } ?? error
  }
}
