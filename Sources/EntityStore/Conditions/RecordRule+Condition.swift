extension RecordRule {
  /// Creates a rule from a condition that every record must fulfil when it is written.
  ///
  /// - Parameters:
  ///   - name: the requirement in words, for messages, such as "the end is after the start".
  ///   - condition: a condition on the record's own attributes, without closures. As in queries, a
  ///     comparison with null is false. To allow null, write
  ///     `anyOf($0.end == nil, $0.end >= $0.start)`.
  public init(
    _ name: String,
    @ConditionBuilder<E> _ condition: @escaping @Sendable (E.Attributes) -> Condition<E>
  ) {
    self.init(name: name) { () throws(StoreError) in
      try Condition(condition).storedText { _ in
        "its rule '\(name)' has a part that only Swift code can tell; use a ChangeHook for that"
      }
    }
  }

  /// Creates a rule from a predicate format string.
  public init(_ name: String, format: String) {
    self.init(name: name) { () throws(StoreError) in format }
  }
}
