/// How records of two stores are matched when the stores are compared.
public struct DifferenceMatching: Sendable, Hashable {
  enum Rule: Sendable, Hashable {
    case id
    /// The names of the key's attributes; `nil` for a key that the library chooses.
    case uniqueKey([String]?)
  }

  let rule: Rule

  /// Two records match when they have the same id: generations of one dataset, or a store and an
  /// earlier copy of it.
  public static let id = DifferenceMatching(rule: .id)

  /// Two records match when they have the same values in a unique index: stores whose ids have
  /// nothing to do with each other.
  ///
  /// The key of an entity is a unique index that both stores have and that holds no ids of records:
  /// the first one over required attributes, or else the first one. An attribute that leads to a
  /// record is compared by the key of that record. Links that no attribute holds are not compared,
  /// nor are attributes with ids whose target has no key: see ``StoreDifferences/uncompared``.
  public static let uniqueKey = DifferenceMatching(rule: .uniqueKey(nil))

  /// Two records match when they have the same values in the attributes with these names, over
  /// which both stores have a unique index.
  ///
  /// The names apply to each entity that is compared; other entities, that records lead to, are
  /// matched as by ``uniqueKey``.
  public static func uniqueKey(_ attributes: String...) -> DifferenceMatching {
    DifferenceMatching(rule: .uniqueKey(attributes))
  }

  var isByKey: Bool { rule != .id }
}
