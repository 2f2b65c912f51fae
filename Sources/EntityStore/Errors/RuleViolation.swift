public import LodestoreEssentials

/// A rule broken by a value or a record: a constraint, a ``RecordRule``, or the refusal of a
/// ``ChangeHook``.
public struct RuleViolation: Error, Sendable, Hashable {
  /// The name of the entity.
  public var entity: String
  /// The id of the record; `nil` for a new record.
  public var recordID: UInt64?
  /// The attribute that the rule concerns; `nil` for a rule on the record.
  public var attribute: String?
  /// The broken rule: the end of "must be at least 0", the name of a rule, or the sentence of a
  /// hook.
  public var rule: String
  /// The position of the value in a batch insert, counted from 0; `nil` otherwise.
  public var batchPosition: Int?
  /// Whether ``rule`` is a complete sentence; false for the end of one, as "must be at least 0".
  private let isSentence: Bool

  /// Creates a refusal for a hook to throw; the store sets the entity and the record.
  ///
  /// - Parameters:
  ///   - rule: the reason of the refusal, as a sentence: "a member with open loans stays".
  ///   - attribute: the attribute that the sentence concerns, for programs; the description leaves
  ///     it out.
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

  /// The violation in words, without the record.
  var fact: String {
    guard let attribute, !isSentence else { return rule }
    return "'\(attribute)' must \(rule)"
  }
}

extension RuleViolation: CustomStringConvertible {
  /// The record and the rule, as in `Event 3: 'end' must be at least 0`.
  ///
  /// For a batch, the text is `Event, value 2 of the batch: …`. The sentence of a hook without a
  /// record stands alone.
  public var description: String {
    var record = recordID.map { "\(entity) \($0)" } ?? entity
    if let batchPosition { record += ", \(StoreError.inWords(batchPosition))" }
    return record.isEmpty ? fact : "\(record): \(fact)"
  }
}

extension StoreError {
  /// The number of broken rules at which an error is thrown without collecting more.
  static let mostViolations = 100

  /// The error for the broken rules of one call; there must be at least one.
  ///
  /// - Parameter detail: the values that break the rules.
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

extension RuleViolation: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}
