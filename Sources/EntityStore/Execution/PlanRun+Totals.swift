internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// Returns the values of the terms over all results.
  func totals(_ terms: [GroupTerm]) throws(StoreError) -> [Value] {
    if let values = try extremes(terms) { return values }
    var values: [Value] = []
    let rows = try groups(by: [Operand](), terms)
    for (index, term) in terms.enumerated() {
      values.append(rows.first?.values[index] ?? GroupTotal().value(term.function))
    }
    return values
  }

  /// Returns the values of terms that all ask for the lowest or highest value, each read from an
  /// index.
  ///
  /// Returns `nil` if no index gives one of the values.
  private func extremes(_ terms: [GroupTerm]) throws(StoreError) -> [Value]? {
    var values: [Value] = []
    for term in terms {
      if let value = try extreme(term) {
        values.append(value)
      } else if let value = try firstValue(term) {
        values.append(value)
      } else {
        return nil
      }
    }
    return values
  }

  /// Returns the lowest or highest value of an attribute, read from the first record in the
  /// attribute's order, if an index finds that record.
  private func firstValue(_ term: GroupTerm) throws(StoreError) -> Value? {
    guard term.function == .min || term.function == .max, let path = term.path,
      path.steps.count == 1, start == nil
    else { return nil }
    let attribute = try ConditionBinding(entity).attribute(of: path)
    let isDescending = term.function == .max
    let purpose = DerivedPlan.Purpose.first(attribute.number, isDescending: isDescending)
    let best = try core.plan(for: purpose, from: plan) { () throws(StoreError) in
      try planOfFirst(attribute, isDescending: isDescending)
    }
    guard let first = best else { return nil }
    let run = try PlanRun(first, core: core, control: control)
    defer { counts = run.counts }
    var found: Value = .null
    try run.forEach { id, bytes in
      let view = try entity.view(bytes, id: id)
      found = try view.value(ofAttribute: attribute.number, initial: attribute.initial)
      return false
    }
    return found
  }

  /// Returns the plan for the first record ordered by `attribute`, if an index finds it at a lower
  /// cost.
  private func planOfFirst(
    _ attribute: BoundAttribute, isDescending: Bool
  ) throws(StoreError) -> QueryPlan? {
    guard let present = AttributeTest.presence(of: attribute) else { return nil }
    let binding = ConditionBinding(entity)
    var request = plan.request
    request.limit = 1
    let condition = NormalForm.of(.all([plan.condition, present]))
    var best: QueryPlan?
    for names in orders(beginningWith: attribute) {
      let terms = names.map { SortTerm(ValuePath(attribute: $0), isDescending: isDescending) }
      let next = try core.plan(
        request, condition: condition, order: try BoundOrder(terms, binding), for: entity)
      guard case .index = next.arrangement, next.cost < best?.cost ?? plan.cost else { continue }
      best = next
    }
    return best
  }

  /// Returns the orders of indexes beginning at `attribute`, as names of attributes.
  ///
  /// The first record in each of these orders has the extreme value.
  private func orders(beginningWith attribute: BoundAttribute) -> [[String]] {
    var found: [[String]] = []
    for index in entity.indexes {
      let attributes = index.description.attributes
      guard let place = attributes.firstIndex(of: attribute.number) else { continue }
      let names = attributes[place...].compactMap { entity.description.attribute(number: $0)?.name }
      if !found.contains(names) { found.append(names) }
    }
    return found
  }

  /// Returns the lowest or highest value of an indexed attribute over all records, from the end of
  /// the index.
  private func extreme(_ term: GroupTerm) throws(StoreError) -> Value? {
    guard case .scan = plan.access, plan.residual == nil, start == nil, let path = term.path,
      term.function == .min || term.function == .max, path.steps.count == 1
    else { return nil }
    let attribute = try ConditionBinding(entity).attribute(of: path)
    let index = entity.indexes.first { $0.description.attributes.first == attribute.number }
    guard let index else { return nil }
    // The range leaves out null, which sorts first, and not-a-number, which sorts last.
    let last: Value? =
      switch attribute.type {
      case .float, .double: .double(.nan)
      case .date: .date(.nan)
      case .decimal: .decimal(.nan)
      default: nil
      }
    let range = IndexRange(lower: [0, 255], upper: last.map { PackedKeys.element($0) })
    var found: Value = .null
    var isDecided = true
    try wrappingErrors {
      try core.walk(index, of: entity, range, isReversed: term.function == .max) { _, key in
        counts.entriesRead += 1
        guard !key.isEmpty else {
          isDecided = false
          return false
        }
        var decoder = KeyDecoder(key)
        found = try decoder.next()
        return false
      }
    }
    return isDecided ? found : nil
  }
}

extension AttributeTest {
  /// Returns the condition that the attribute has a value with a place in the order, or `nil` if no
  /// test expresses this.
  fileprivate static func presence(of attribute: BoundAttribute) -> BoundCondition? {
    switch attribute.type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
      .date:
      .test(AttributeTest(attribute, .interval(OrderedNumber.all(attribute.type))))
    case .string, .url, .uuid, .data: .not(.test(AttributeTest(attribute, .null)))
    case .decimal, .json, .document, .recordID: nil
    }
  }
}
