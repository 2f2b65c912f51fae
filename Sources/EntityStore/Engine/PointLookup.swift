internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Looks single records up in a read.
///
/// From the second one of an entity on it searches itself (``RecordFinder``), which takes half of the
/// time of LMDB's get; what it needs for that costs as much as a get.
struct PointLookup {
  private let transaction: Transaction
  /// The entity of the record that was looked up last.
  private var number: EntityNumber?
  private var finder: RecordFinder?
  /// Whether ``finder`` was made, or cannot be.
  private var isReady = false

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// The bytes of record `id`; `nil` where LMDB is to be asked.
  @inline(__always)
  mutating func record(
    _ id: UInt64, of entity: StoredEntity
  ) throws(LMDBError) -> ByteView? {
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
