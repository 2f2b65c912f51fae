internal import LodestoreFormat

/// The constraints of a conjunction on single attributes, as ranges of index keys.
///
/// The constraint on an attribute is computed when it is first needed, and is then used for all
/// indexes.
final class IndexConstraints {
  typealias Found = (constraint: IndexConstraint, positions: [Int])

  private struct Entry {
    var attribute: UInt32
    /// The constraint; `nil` until it is computed.
    ///
    /// The inner value is `nil` if no index helps.
    var found: Found??
  }

  private let conjuncts: [BoundCondition]
  private var entries: [Entry] = []

  init(_ conjuncts: [BoundCondition]) {
    self.conjuncts = conjuncts
    for conjunct in conjuncts {
      guard let attribute = conjunct.soleAttribute,
        !entries.contains(where: { $0.attribute == attribute })
      else { continue }
      entries.append(Entry(attribute: attribute))
    }
  }

  func hasSome(on attribute: UInt32) -> Bool { self[attribute] != nil }

  subscript(attribute: UInt32) -> Found? {
    guard let index = entries.firstIndex(where: { $0.attribute == attribute }) else { return nil }
    if let found = entries[index].found { return found }
    let found = constraint(on: attribute)
    entries[index].found = .some(found)
    return found
  }

  private func constraint(on attribute: UInt32) -> Found? {
    var found: Found?
    for (position, conjunct) in conjuncts.enumerated() where conjunct.soleAttribute == attribute {
      guard
        let next = IndexConstraint(conjunct, on: attribute)
          ?? IndexConstraint(rangesOf: conjunct, on: attribute)
      else { continue }
      found = (found?.constraint.intersection(next) ?? next, (found?.positions ?? []) + [position])
    }
    return found
  }
}

extension BoundCondition {
  /// The attribute that a test, its negation or the first part of an OR is about.
  ///
  /// The record's id does not count as an attribute.
  fileprivate var soleAttribute: UInt32? {
    switch self {
    case .test(let test), .not(.test(let test)):
      test.attribute.isRecordID ? nil : test.attribute.number
    case .any(let parts): parts.first?.soleAttribute
    case .constant, .all, .not, .expression, .closure, .related, .search, .proximity: nil
    }
  }
}
