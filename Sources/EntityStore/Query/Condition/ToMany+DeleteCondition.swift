extension ToMany {
  /// A relationship with links of its own, whose records keep the record that leads to them from
  /// being deleted while they fulfil a condition.
  ///
  /// The condition is kept in the file, so every program and `kvdump` keep to it. As under
  /// ``RelationshipDeleteRule/deny`` the records before the delete count, also where another
  /// relationship would cascade to them.
  ///
  /// - Parameters:
  ///   - onDelete: the rule for the other records; ``RelationshipDeleteRule/deny`` is refused.
  ///   - condition: a condition on the related record's own attributes, without closures.
  public init(
    ordered: Bool = false, onDelete: RelationshipDeleteRule = .nullify,
    @ConditionBuilder<Target> deniesDeleteWhere condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) {
    self.init(ordered, onDelete, Condition.stored(condition))
  }

  /// Declares the inverse of a relationship with links of its own, whose records keep the record
  /// that leads to them from being deleted while they fulfil a condition.
  public init(
    inverse: ToMany<Target, E>, ordered: Bool = false, onDelete: RelationshipDeleteRule = .nullify,
    @ConditionBuilder<Target> deniesDeleteWhere condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) {
    self.init(inverse, ordered, onDelete, Condition.stored(condition))
  }

  /// Declares the inverse of an optional attribute, whose records keep the record that they lead to
  /// from being deleted while they fulfil a condition.
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

  /// Declares the inverse of a required attribute, whose records keep the record that they lead to
  /// from being deleted while they fulfil a condition.
  ///
  /// As the attribute cannot be null, ``RelationshipDeleteRule/nullify`` is refused.
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
  /// The format string of a condition on one record's attributes.
  ///
  /// The result throws ``StoreError/Code/badSchema`` for a condition that only Swift code can
  /// evaluate.
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
  /// The condition as the file keeps it.
  ///
  /// - Parameter message: says of its text that a part of it is Swift code.
  func storedText(_ message: (String) -> String) throws(StoreError) -> String {
    let tree = try content.get().tree
    let text = ConditionPrinter.text(tree)
    guard tree.isFreeOfClosures else {
      throw .badSchema(entity: E.schema.name, message(text))
    }
    return text
  }
}
