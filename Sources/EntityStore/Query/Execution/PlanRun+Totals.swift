internal import LMDB
package import LodestoreFormat

extension PlanRun {
  /// The terms over all results.
  package func totals(_ terms: [GroupTerm]) throws(StoreError) -> [Value] {
    if terms.count == 1, let value = try extreme(terms[0]) { return [value] }
    if start == nil, let values = try slotTotals(terms) { return values }
    var values: [Value] = []
    let rows = try groups(by: [], terms)
    for (place, term) in terms.enumerated() {
      values.append(rows.first?.values[place] ?? GroupTotal().value(term.function))
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
    // Null comes first and is no value; what is no number comes last and is none either.
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

  /// Counts, sums and averages of numbers, which are read from their slots; `nil` where one of the terms
  /// is another.
  private func slotTotals(_ terms: [GroupTerm]) throws(StoreError) -> [Value]? {
    var slots: [(slot: SlotOrder, kind: WordSlot.Kind)?] = []
    for term in terms {
      guard let path = term.path else {
        slots.append(nil)
        continue
      }
      guard [.count, .sum, .average].contains(term.function) else { return nil }
      let order = try BoundOrder([SortTerm(path)], ConditionBinding(entity))
      guard let slot = SlotOrder(order, entity), let type = order.terms.first?.attribute.type,
        type != .date, let kind = WordSlot.Kind(type)
      else { return nil }
      slots.append((slot, kind))
    }
    var totals = [GroupTotal](repeating: GroupTotal(), count: terms.count)
    var rowCount = 0
    do {
      try forEachMatch { id, bytes in
        rowCount &+= 1
        for place in slots.indices {
          guard let (slot, kind) = slots[place], let word = try slot.word(bytes, id) else {
            continue
          }
          totals[place].add(word, kind, terms[place].function)
        }
        return true
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    return terms.indices.map { place in
      slots[place] == nil
        ? .integer(Int64(rowCount)) : totals[place].value(terms[place].function)
    }
  }
}
