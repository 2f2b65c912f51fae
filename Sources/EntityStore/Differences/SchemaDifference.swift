/// One difference between the schemas of two stores.
public struct SchemaDifference: Sendable, Hashable {
  /// The parts of a schema.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// A whole entity; its attributes and indexes have no separate differences.
    case entity
    /// An attribute.
    case attribute
    /// An index on attributes.
    case index
    /// An index on elements of documents.
    case elementIndex
    /// An index on the words of texts.
    case searchIndex
    /// An index on places.
    case placeIndex
    /// An index on vectors.
    case vectorIndex
    /// A relationship with a name on the side of ``SchemaDifference/entity``.
    case relationship
    /// A rule that every record must match.
    case rule
    /// The history policy for the records.
    case history
    /// The attribute whose date expires records.
    case expiry
    /// The limit on the number and the size of the records.
    case limit
  }

  /// The kind of the difference: only the newer store has the subject, only the older one, or both
  /// differ.
  public let kind: HistoryChange.Kind
  /// The part of the schema.
  public let subject: Subject
  /// The entity's name.
  public let entity: String
  /// The subject's name; `history` for a history policy, `expiry` for an expiry, `limit` for a
  /// limit.
  public let name: String
  /// The subject in the older store, in words; `nil` when it does not exist there.
  public let old: String?
  /// The subject in the newer store, in words; `nil` when it does not exist there.
  public let new: String?
}
