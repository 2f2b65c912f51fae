/// The result of salvaging a damaged store.
public struct RepairReport: Sendable, Hashable {
  /// A kind of content.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The records of an entity.
    case records
    /// The links of a relationship.
    case links
    /// The places of a relationship with an order.
    case order
    /// The values of all buckets.
    case buckets
    /// The state and the reports of imports.
    case imports
    /// The history of all entities.
    case history
  }

  /// One part of the content: the records of an entity, the links of a relationship, and so on.
  public struct Part: Sendable, Hashable {
    /// The kind of the content.
    public let kind: Kind
    /// The entity, or the sides of the relationship, as `Film` or `Film.actors`; empty for the
    /// others.
    public let name: String
    /// How much is in the new store.
    public internal(set) var saved = 0
    /// The part of ``saved`` that was found in pages that no tree leads to.
    public internal(set) var orphans = 0
    /// The part of ``saved`` that may be of an earlier commit.
    public internal(set) var older = 0
    /// How much was found whose bytes are not those that were written.
    public internal(set) var damaged = 0
    /// How much more there was.
    public internal(set) var missing = 0
    /// Links of records to lost ones that were removed from the records.
    public internal(set) var emptied = 0
    /// Records that were left out: they must lead to a lost one, or another one has their unique
    /// key.
    public internal(set) var dropped = 0
    /// Whether the digest or the counts of the store say that nothing of the part is lost.
    public internal(set) var isWhole = true

    init(_ kind: Kind, _ name: String = "") {
      self.kind = kind
      self.name = name
    }
  }

  /// The parts that the store had, records first.
  public internal(set) var parts: [Part] = []
  /// Other losses and doubts, each in a sentence.
  public internal(set) var problems: [String] = []
  /// Damage that cost no content, each in a sentence.
  public internal(set) var notes: [String] = []

  /// Whether the new store has all that the damaged one had, by its digests and its counts.
  public var isWhole: Bool { problems.isEmpty && parts.allSatisfy(\.isWhole) }
}

extension RepairReport: CustomStringConvertible {
  /// "nothing was lost", or the parts that are not whole.
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
