internal import LMDB
internal import LodestoreFormat

/// Finds the first record of each of many keys of one index.
///
/// Keys of a unique index are found in one pass over the sorted keys.
@usableFromInline
final class KeyLookup {
  let index: StoredIndex
  let entity: StoredEntity
  private let core: TransactionCore
  private let keys: KeyEntries
  /// The ids found so far; 0 for a key that no record has.
  private var found: [UInt64] = []
  // The state of the key that is being put together.
  @exclusivity(unchecked) private var hasNull = false
  @exclusivity(unchecked) private var failure: FormatError?

  init(in index: StoredIndex, of entity: StoredEntity, count: Int, core: TransactionCore) {
    self.index = index
    self.entity = entity
    self.core = core
    keys = KeyEntries(expectedCount: count)
    found.reserveCapacity(count)
  }

  @usableFromInline
  func begin() {
    core.key.reset()
    hasNull = false
    failure = nil
  }

  /// Adds the value of the next attribute to the key.
  @usableFromInline
  func add(_ value: StoredValue) {
    if case .null = value.value { hasNull = true }
    do { try core.key.append(value.value) } catch { failure = error }
  }

  /// Ends the key; returns false if it must be looked up by ``find(_:)``.
  ///
  /// A key must be looked up if several records may have it: in an index that is not unique, or
  /// when it contains null.
  @usableFromInline
  func end() -> Bool {
    guard index.isUnique, !hasNull, failure == nil else { return false }
    core.key.finishTuple()
    keys.append(key: core.key.bytes, recordID: UInt64(found.count))
    found.append(0)
    return true
  }

  /// Looks up the next key on its own.
  @usableFromInline
  func find<E: Entity>(_ key: EntityKey<E>) throws(StoreError) {
    found.append(try core.firstRecord(in: index, of: entity, key.tuple) ?? 0)
  }

  /// Returns the ids of the first records in the order of the keys; 0 for a key that no record has.
  func ids() throws(StoreError) -> [UInt64] {
    keys.sort()
    let expired = try core.expired(of: entity)
    try keys.forEachExistingKey(in: index, core: core) { (entry, holder) throws(StoreError) in
      if let expired, expired.contains(holder) { return true }
      found[Int(keys.recordID(at: entry))] = holder
      return true
    }
    return found
  }
}
