internal import LodestoreFormat

// Conditions over relationships. Each becomes a test whether a related record fulfils a condition
// bound to the other entity, or a value computed from the related records.

extension ConditionBinding {
  /// Returns the relationship that `path` begins with and the steps after it, or `nil` if the path
  /// begins with an attribute of the record itself.
  ///
  /// - Parameter isCollection: whether the path alone stands for records. Otherwise a path that
  ///   ends at an attribute holding an id stands for the id.
  func relationship(
    _ path: ValuePath, isCollection: Bool = false
  ) -> (end: RelationshipEnd, rest: [ValuePath.Step])? {
    guard path.root == .record, case .member(let name) = path.steps.first else { return nil }
    let description = entity.description
    if let index = description.attributeIndex(named: name) {
      guard description.attributes[index].type == .recordID, path.steps.count > 1 || isCollection
      else { return nil }
    }
    guard let end = schema?.end(named: name, of: entity) else { return nil }
    return (end, Array(path.steps.dropFirst()))
  }

  /// Returns the condition that `end` leads to a record which fulfils `condition` and has not
  /// expired.
  private func leads(
    by end: RelationshipEnd, to condition: BoundCondition
  ) throws(StoreError) -> BoundCondition {
    .related(RelatedTest(end, try core?.leavingOutExpired(condition, of: end.target) ?? condition))
  }

  // MARK: Tests

  /// Returns the comparison as a test of related records, or `nil` for any other comparison.
  mutating func relatedTest(_ comparison: Comparison) throws(StoreError) -> BoundCondition? {
    if let test = try existenceTest(comparison) { return test }
    let comparison = comparison.withConstantOnTheRight
    guard case .path(let path) = comparison.left, let (end, rest) = relationship(path),
      comparison.right.isConstant
    else { return nil }
    if case .aggregate = rest.first { return nil }
    if case .size = rest.first { return nil }
    var inner = comparison
    inner.left = .path(
      ValuePath(.record, rest.isEmpty ? [.member(ValuePath.recordIDName)] : rest))
    if end.attribute != nil { return try testOfOne(end, inner) }
    switch comparison.quantifier {
    case .any: return try leads(by: end, to: try bindInner(inner, end))
    case .all: return .not(try leads(by: end, to: .not(try bindInner(inner, end))))
    case nil:
      // Without a quantifier, only a comparison such as "groups CONTAINS id" is allowed.
      guard rest.isEmpty, comparison.operator == .contains else {
        throw .badQuery(
          "'\(end.label)' leads to any number of records in "
            + "'\(ConditionPrinter.text(.comparison(comparison)))': say ANY, ALL or NONE before it, or "
            + "ask for its @count")
      }
      inner.operator = .equal
      return try leads(by: end, to: try bindInner(inner, end))
    }
  }

  /// Returns the condition that compares a value of the one related record with constants.
  private mutating func testOfOne(
    _ end: RelationshipEnd, _ inner: Comparison
  ) throws(StoreError) -> BoundCondition {
    var target = binding(of: end)
    let condition = try target.bind(.comparison(inner))
    let test = try leads(by: end, to: condition)
    let admitsNone: Bool
    switch (inner.operator, inner.right, inner.quantifier) {
    case (.equal, .value(.null), nil): admitsNone = true
    case (.in, .values(let values), nil): admitsNone = values.contains(.null)
    case (_, _, .all): admitsNone = true
    default: admitsNone = false
    }
    guard admitsNone else { return test }
    return .any([test, .not(try leads(by: end, to: .constant(true)))])
  }

  /// Binds the comparison to the records that `end` leads to.
  ///
  /// The quantifier is dropped before a scalar attribute, which needs none.
  private mutating func bindInner(
    _ comparison: Comparison, _ end: RelationshipEnd
  ) throws(StoreError) -> BoundCondition {
    var target = binding(of: end)
    var inner = comparison
    if case .path(let path) = inner.left, target.relationship(path) == nil,
      let attribute = try? target.attribute(of: path), attribute.type != .json,
      attribute.type != .document
    {
      inner.quantifier = nil
    }
    return try target.bind(.comparison(inner))
  }

  /// Returns the condition for `@count` of related records compared with 0 or 1, if this asks
  /// whether one exists.
  private mutating func existenceTest(
    _ comparison: Comparison
  ) throws(StoreError) -> BoundCondition? {
    guard comparison.quantifier == nil, case .value(.integer(let number)) = comparison.right,
      let (end, condition) = try counted(comparison.left)
    else { return nil }
    let exists = try leads(by: end, to: condition ?? .constant(true))
    switch (comparison.operator, number) {
    case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0): return exists
    case (.equal, 0), (.less, 1), (.lessOrEqual, 0): return .not(exists)
    default: return nil
    }
  }

  /// Returns the relationship and the condition of the related records that `operand` counts, or
  /// `nil` if `operand` is not a count of related records.
  private mutating func counted(
    _ operand: Operand
  ) throws(StoreError) -> (RelationshipEnd, BoundCondition?)? {
    switch operand {
    case .path(let path):
      guard let (end, rest) = relationship(path), end.attribute == nil, rest.isCount else {
        return nil
      }
      return (end, nil)
    case .subquery(.path(let path), let variable, let test, let steps):
      guard let (end, rest) = relationship(path, isCollection: true), rest.isEmpty, steps.isCount
      else { return nil }
      return (end, try condition(test, on: end, variable))
    default: return nil
    }
  }

  /// Binds the condition of a SUBQUERY, in which `variable` stands for a record that `end` leads
  /// to.
  private mutating func condition(
    _ test: ConditionTree, on end: RelationshipEnd, _ variable: String
  ) throws(StoreError) -> BoundCondition {
    var target = binding(of: end)
    // The relationship by which the related record leads back to its owner, named in an error
    // message.
    let back = end.opposite.attribute == nil ? nil : end.opposite.name
    return try target.bind(
      try test.rerooted(from: .variable(variable), to: .record, back: back))
  }

  // MARK: Operands

  /// Binds a path that begins with a relationship.
  mutating func relatedOperand(
    _ end: RelationshipEnd, _ rest: [ValuePath.Step], _ condition: BoundCondition? = nil
  ) throws(StoreError) -> BoundOperand {
    func operand(_ steps: [ValuePath.Step]) throws(StoreError) -> BoundOperand {
      var target = binding(of: end)
      let steps = steps.isEmpty ? [.member(ValuePath.recordIDName)] : steps
      return try target.operand(.path(ValuePath(.record, steps)))
    }
    let question: RelatedOperand.Question
    switch rest.first {
    case .aggregate(.count), .size: question = .count
    case .aggregate(let aggregate):
      question = .aggregate(aggregate, try operand(Array(rest.dropFirst())))
    case _ where end.attribute != nil: question = .value(try operand(rest))
    case .element, .first, .last:
      throw .badQuery("the records of '\(end.label)' have no positions; ask for one by its id")
    case .member, nil: question = .list(try operand(rest))
    }
    let present =
      try core?.hasExpired(of: end.target) == true
      ? core?.leavingOutExpired(condition ?? .constant(true), of: end.target) : condition
    return .related(RelatedOperand(end, present, question))
  }

  /// Binds a `SUBQUERY` over a relationship; returns `nil` for one over a collection in the record.
  mutating func relatedSubquery(
    _ collection: Operand, _ variable: String, _ test: ConditionTree, _ steps: [ValuePath.Step]
  ) throws(StoreError) -> BoundOperand? {
    guard case .path(let path) = collection,
      let (end, rest) = relationship(path, isCollection: true), rest.isEmpty
    else { return nil }
    return try relatedOperand(end, steps, try condition(test, on: end, variable))
  }
}

extension [ValuePath.Step] {
  fileprivate var isCount: Bool { self == [.aggregate(.count)] || self == [.size] }
}
