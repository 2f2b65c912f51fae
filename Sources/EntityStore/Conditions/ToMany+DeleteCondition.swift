extension ToMany {
  /// Creates a relationship with link trees.
  ///
  /// Related records that fulfil a condition prevent the delete of the record that leads to them.
  ///
  /// The condition is stored in the file, so every program and `kvdump` apply it. As under
  /// ``RelationshipDeleteRule/deny``, the condition is checked on the records before the delete,
  /// even if another relationship would cascade to them.
  ///
  /// - Parameters:
  ///   - onDelete: the rule for the other related records; ``RelationshipDeleteRule/deny`` is
  ///     refused.
  ///   - condition: a condition on the related record's own attributes, without closures.
  public init(
    ordered: Bool = false, onDelete: RelationshipDeleteRule = .nullify,
    @ConditionBuilder<Target> deniesDeleteWhere condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) {
    self.init(ordered, onDelete, Condition.stored(condition))
  }

  /// Creates the inverse of a relationship with link trees.
  ///
  /// Related records that fulfil a condition prevent the delete of the record that leads to them.
  public init(
    inverse: ToMany<Target, E>, ordered: Bool = false, onDelete: RelationshipDeleteRule = .nullify,
    @ConditionBuilder<Target> deniesDeleteWhere condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) {
    self.init(inverse, ordered, onDelete, Condition.stored(condition))
  }

  /// Creates the inverse of an optional attribute.
  ///
  /// Records that fulfil a condition prevent the delete of the record that they refer to.
  ///
  ///     static let loans = ToMany<Member, Loan>(
  ///       inverse: \.member, onDelete: .cascade, deniesDeleteWhere: { $0.returnedOn == nil })
  public init(
    inverse: any KeyPath<Target, RecordID<E>?> & Sendable, ordered: Bool = false,
    onDelete: RelationshipDeleteRule = .nullify,
    @ConditionBuilder<Target> deniesDeleteWhere condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) {
    self.init(of: inverse, ordered, onDelete, Condition.stored(condition))
  }

  /// Creates the inverse of a required attribute.
  ///
  /// Records that fulfil a condition prevent the delete of the record that they refer to.
  ///
  /// The attribute cannot be null, so ``RelationshipDeleteRule/nullify`` is refused.
  public init(
    inverse: any KeyPath<Target, RecordID<E>> & Sendable, ordered: Bool = false,
    onDelete: RelationshipDeleteRule,
    @ConditionBuilder<Target> deniesDeleteWhere condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) {
    self.init(of: inverse, ordered, onDelete, Condition.stored(condition))
  }
}

extension Condition {
  /// Returns a closure that gives the format string of a condition on one record's attributes.
  ///
  /// The closure throws ``StoreError/Code/badSchema`` if the condition has a part that only Swift
  /// code can evaluate.
  static func stored(
    _ build: @escaping @Sendable (E.Attributes) -> Condition<E>
  ) -> StoredCondition {
    { () throws(StoreError) in
      try Condition(build).storedText {
        "the condition '\($0)' has a part that only Swift code can evaluate; use the record's attributes "
          + "alone"
      }
    }
  }
  /// Returns the condition as the format string that the file stores.
  ///
  /// - Parameter message: returns the error message for a condition with a Swift closure, given the
  ///   condition's text.
  func storedText(_ message: (String) -> String) throws(StoreError) -> String {
    let tree = try content.get().tree
    let text = ConditionPrinter.text(tree)
    guard tree.isFreeOfClosures else { throw .badSchema(entity: E.schema.name, message(text)) }
    return text
  }
}
