/// A limit of the number and the size of an entity's records: beyond it the oldest records are
/// removed.
///
///     EntitySchema(…, limit: EntityLimit(count: 10_000, by: [\.fetchedAt]))
///
/// `#Limit` declares one for a struct with `@Entity`. See <doc:EntityLimits>.
public struct EntityLimit<E: Entity>: Sendable {
  let count: Int?
  let byteCount: Int?
  /// At most one attribute.
  let oldest: [any PartialKeyPath<E> & Sendable]

  /// Declares a limit of a number of records, of a number of bytes, or of both.
  ///
  /// Opening a store throws ``StoreError/Code/badSchema`` for a limit of neither, for one below 1, and
  /// for an attribute that cannot be indexed.
  ///
  /// - Parameters:
  ///   - count: the highest number of records.
  ///   - bytes: the highest sum of the lengths of the records as they are stored, without indexes,
  ///     links and free space in pages.
  ///   - attribute: at most one attribute, whose least value the oldest record has; null comes first. The
  ///     declaration gives it an index of its own. Without it the record that was inserted first is
  ///     the oldest.
  public init(
    count: Int? = nil, bytes: Int? = nil, by attribute: [any PartialKeyPath<E> & Sendable] = []
  ) {
    self.count = count
    byteCount = bytes
    oldest = attribute
  }
}
