/// One difference between the schemas of two stores.
public struct SchemaDifference: Sendable, Hashable {
  /// The parts of a schema.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// A whole entity; its attributes and indexes have no differences of their own.
    case entity
    /// An attribute.
    case attribute
    /// An index over attributes.
    case index
    /// An index over elements of documents.
    case elementIndex
    /// A relationship that has a name on the side of ``SchemaDifference/entity``.
    case relationship
    /// A rule that every record fulfils.
    case rule
    /// The policy by which the history keeps changes of the records.
    case history
    /// The date by which records expire.
    case expiry
    /// The limit of the number and the size of the records.
    case limit
  }

  /// Whether the newer store alone has the subject, the older store alone, or each in another form.
  public let kind: HistoryChange.Kind
  /// The part of the schema.
  public let subject: Subject
  /// The entity's name.
  public let entity: String
  /// The subject's name; of a history, `history`; of an expiry, `expiry`; of a limit, `limit`.
  public let name: String
  /// The subject in the older store, in words; `nil` where it is not there.
  public let old: String?
  /// The subject in the newer store, in words; `nil` where it is not there.
  public let new: String?
}
