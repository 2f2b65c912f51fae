internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Looks up single records in a read.
///
/// From the second record of an entity on, it searches with a ``RecordFinder``, which takes half
/// the time of LMDB's get. Creating the finder costs as much as one get.
struct PointLookup {
  private let transaction: Transaction
  /// The entity of the last lookup.
  private var number: EntityNumber?
  private var finder: RecordFinder?
  /// Whether the creation of ``finder`` was tried for the entity, with or without success.
  private var isReady = false

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Returns the bytes of record `id`; `nil` when the caller must search with LMDB.
  @inline(__always)
  mutating func record(_ id: UInt64, of entity: StoredEntity) throws(LMDBError) -> ByteView? {
    guard number == entity.number else {
      number = entity.number
      finder = nil
      isReady = false
      return nil
    }
    if !isReady {
      isReady = true
      finder = try RecordFinder(entity.records, in: transaction)
    }
    guard let found = finder?.find(id), found.baseAddress != nil else { return nil }
    return found
  }
}
