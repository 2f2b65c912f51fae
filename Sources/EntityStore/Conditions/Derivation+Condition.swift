// Aggregates of the related records that fulfil a condition. The file stores the condition as a
// format string, so every program keeps the attribute correct.

extension Derivation where Value == Int {
  /// The number of related records that fulfil a condition.
  ///
  ///     .derived("openLoans", \.openLoans, .count(loans) { $0.returnedOn == nil })
  ///
  /// - Parameter condition: a condition on the related record's own attributes, without closures
  ///   and `now()`. Derived attributes are allowed.
  public static func count<Target: Entity>(
    _ relationship: ToMany<E, Target>,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation {
    count(relationship).restricted(to: Condition.stored(condition))
  }
}

extension Derivation where Value: Numeric {
  /// The sum over the related records that fulfil a condition; 0 without such records.
  public static func sum<Target: Entity>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, Value> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation {
    sum(relationship, source).restricted(to: Condition.stored(condition))
  }

  /// The sum of an optional attribute over the related records that fulfil a condition.
  public static func sum<Target: Entity>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, Value?> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation {
    sum(relationship, source).restricted(to: Condition.stored(condition))
  }
}

extension Derivation where Value == Double? {
  /// The average over the related records that fulfil a condition; null without such records.
  public static func average<Target: Entity, V: AttributeValue & Numeric>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation {
    average(relationship, source).restricted(to: Condition.stored(condition))
  }

  /// The average of an optional number over the related records that fulfil a condition.
  public static func average<Target: Entity, V: AttributeValue & Numeric>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V?> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation {
    average(relationship, source).restricted(to: Condition.stored(condition))
  }
}

extension Derivation {
  /// The least value among the related records that fulfil a condition; null without such records.
  public static func minimum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation where Value == V? {
    minimum(relationship, source).restricted(to: Condition.stored(condition))
  }

  /// The least value of an optional attribute among the related records that fulfil a condition;
  /// null without such records.
  public static func minimum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V?> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation where Value == V? {
    minimum(relationship, source).restricted(to: Condition.stored(condition))
  }

  /// The greatest value among the related records that fulfil a condition; null without such
  /// records.
  public static func maximum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation where Value == V? {
    maximum(relationship, source).restricted(to: Condition.stored(condition))
  }

  /// The greatest value of an optional attribute among the related records that fulfil a condition;
  /// null without such records.
  public static func maximum<Target: Entity, V: IndexableValue>(
    _ relationship: ToMany<E, Target>, _ source: any KeyPath<Target, V?> & Sendable,
    @ConditionBuilder<Target> where condition:
      @escaping @Sendable (Target.Attributes) -> Condition<Target>
  ) -> Derivation where Value == V? {
    maximum(relationship, source).restricted(to: Condition.stored(condition))
  }
}
