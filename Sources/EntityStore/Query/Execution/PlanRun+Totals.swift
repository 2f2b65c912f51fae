internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// The terms over all results.
  func totals(_ terms: [GroupTerm]) throws(StoreError) -> [Value] {
    if terms.count == 1, let value = try extreme(terms[0]) { return [value] }
    var values: [Value] = []
    let rows = try groups(by: [], terms)
    for (index, term) in terms.enumerated() {
      values.append(rows.first?.values[index] ?? GroupTotal().value(term.function))
    }
    return values
  }

  /// The lowest or highest value of an indexed attribute over all records: the end of the index.
  private func extreme(_ term: GroupTerm) throws(StoreError) -> Value? {
    guard case .scan = plan.access, plan.residual == nil, let path = term.path,
      term.function == .min || term.function == .max, path.steps.count == 1
    else { return nil }
    let attribute = try ConditionBinding(entity).attribute(of: path)
    guard
      let index = entity.indexes.first(where: {
        $0.description.attributes.first == attribute.number
      })
    else { return nil }
    // Null, which comes first, and not-a-number, which comes last, are left out.
    let element = IndexConstraint.element(.double(.nan))
    let last = IndexConstraint.element(attribute.type == .date ? .date(.nan) : .double(.nan))
    let isBinary = [.float, .double, .date].contains(attribute.type)
    let decimal = attribute.type == .decimal ? IndexConstraint.element(.decimal(.nan)) : nil
    let upper = isBinary ? (attribute.type == .date ? last : element) : decimal
    let range = IndexRange(lower: [0, 255], upper: upper)
    var found: Value = .null
    var isSettled = true
    do {
      try core.walk(index, of: entity, range, isReversed: term.function == .max) { _, key in
        counts.entriesRead += 1
        guard !key.isEmpty else {
          isSettled = false
          return false
        }
        var decoder = KeyDecoder(key)
        found = try decoder.next()
        return false
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    return isSettled ? found : nil
  }
}
