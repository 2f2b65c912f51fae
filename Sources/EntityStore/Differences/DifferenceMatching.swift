/// The rule for matching records of two stores when the stores are compared.
public struct DifferenceMatching: Sendable, Hashable {
  enum Rule: Sendable, Hashable {
    case id
    /// Records match by a unique key: the names of its attributes, or `nil` for a key that the
    /// library chooses.
    case uniqueKey([String]?)
  }

  let rule: Rule

  /// Two records match when their ids are equal.
  ///
  /// Use this rule for generations of one dataset, or for a store and an earlier copy of it.
  public static let id = DifferenceMatching(rule: .id)

  /// Two records match when their values in a unique index are equal.
  ///
  /// Use this rule for stores with unrelated ids. The key of an entity is a unique index that both
  /// stores have and that contains no record ids. The first such index on required attributes is
  /// preferred. An attribute that leads to a record is compared by the key of that record. Links in
  /// link trees are not compared, nor are attributes with ids whose target has no key: see
  /// ``StoreDifferences/uncompared``.
  public static let uniqueKey = DifferenceMatching(rule: .uniqueKey(nil))

  /// Two records match when their values in the attributes with these names are equal.
  ///
  /// Each store must have a unique index on the attributes. The names apply to each compared
  /// entity. Other entities, to which records lead, are matched by the rule of ``uniqueKey``.
  public static func uniqueKey(_ attributes: String...) -> DifferenceMatching {
    DifferenceMatching(rule: .uniqueKey(attributes))
  }

  var isByKey: Bool { rule != .id }
}
