/// A limit on the number and the size of an entity's records; the oldest records beyond it are
/// removed.
///
///     EntitySchema(…, limit: EntityLimit(count: 10_000, by: [\.fetchedAt]))
///
/// `#Limit` declares a limit for a struct with `@Entity`. See <doc:EntityLimits>.
public struct EntityLimit<E: Entity>: Sendable {
  let count: Int?
  let byteCount: Int?
  /// The attribute that orders records by age; at most one.
  let oldest: [any PartialKeyPath<E> & Sendable]

  /// Declares a limit on the number of records, on their size in bytes, or on both.
  ///
  /// Opening a store throws ``StoreError/Code/badSchema`` for a limit without a number, for a
  /// number below 1, and for an attribute that cannot be indexed.
  ///
  /// - Parameters:
  ///   - count: the maximum number of records.
  ///   - bytes: the maximum total length of the records as stored, without indexes, links and free
  ///     space in pages.
  ///   - attribute: at most one attribute. The record with its least value is the oldest; null
  ///     comes first. The declaration creates an index for it. Without an attribute, the record
  ///     that was inserted first is the oldest.
  public init(
    count: Int? = nil, bytes: Int? = nil, by attribute: [any PartialKeyPath<E> & Sendable] = []
  ) {
    self.count = count
    byteCount = bytes
    oldest = attribute
  }
}
