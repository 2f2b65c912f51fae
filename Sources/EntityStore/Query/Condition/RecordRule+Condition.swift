extension RecordRule {
  /// A condition that every record fulfils when it is written.
  ///
  /// - Parameters:
  ///   - name: what must be, for messages: "the end is after the start".
  ///   - condition: of the record's own attributes, without closures. As in queries a comparison with null
  ///     is false: say what is to be with null, `anyOf($0.end == nil, $0.end >= $0.start)`.
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

  /// A condition as a predicate format string.
  public init(_ name: String, format: String) {
    self.init(name: name) { () throws(StoreError) in format }
  }
}
