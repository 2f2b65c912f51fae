/// The result of salvaging a damaged store.
public struct RepairReport: Sendable, Hashable {
  /// A kind of content.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The records of an entity.
    case records
    /// The links of a relationship.
    case links
    /// The positions of a relationship with an order.
    case order
    /// The values of all buckets.
    case buckets
    /// The state and the reports of imports.
    case imports
    /// The history of all entities.
    case history
  }

  /// One part of the content, such as the records of an entity or the links of a relationship.
  public struct Part: Sendable, Hashable {
    /// The kind of the content.
    public let kind: Kind
    /// The entity, or the sides of the relationship, such as `Film` or `Film.actors`; empty for the
    /// other kinds.
    public let name: String
    /// The number of items in the new store.
    public internal(set) var saved = 0
    /// The number of ``saved`` items found in pages that no tree refers to.
    public internal(set) var orphans = 0
    /// The number of ``saved`` items that may be from an earlier commit.
    public internal(set) var older = 0
    /// The number of items found whose bytes were changed by damage.
    public internal(set) var damaged = 0
    /// The number of items that the damaged store states but of which not even a damaged copy was
    /// found.
    public internal(set) var missing = 0
    /// The number of removed links that led from a record to a lost record.
    public internal(set) var emptied = 0
    /// The number of records left out because they must refer to a lost record, or because another
    /// record has their unique key.
    public internal(set) var dropped = 0
    /// Whether the store's digests or counts show that nothing of the part is lost.
    public internal(set) var isWhole = true

    init(_ kind: Kind, _ name: String = "") {
      self.kind = kind
      self.name = name
    }
  }

  /// The parts that the store had, records first.
  public internal(set) var parts: [Part] = []
  /// Other losses and doubts, one sentence each.
  public internal(set) var problems: [String] = []
  /// Damage that cost no content, one sentence each.
  public internal(set) var notes: [String] = []

  /// Whether the new store has everything that the damaged one had, by its digests and counts.
  public var isWhole: Bool { problems.isEmpty && parts.allSatisfy(\.isWhole) }
}

extension RepairReport: CustomStringConvertible {
  /// "nothing was lost", or the parts with losses.
  public var description: String {
    if isWhole { return "nothing was lost" }
    let parts = parts.filter { !$0.isWhole }.map { part in
      let counts = [
        ("saved", part.saved), ("older", part.older), ("damaged", part.damaged),
        ("missing", part.missing), ("emptied", part.emptied), ("dropped", part.dropped),
      ]
      let text = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
      return
        "\(part.name.isEmpty ? part.kind.rawValue : "\(part.kind.rawValue) of \(part.name)"): \(text)"
    }
    return (parts + problems).joined(separator: "; ")
  }
}
