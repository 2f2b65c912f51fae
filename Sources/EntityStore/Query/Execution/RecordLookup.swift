internal import LMDB

/// Looks records up by their ids, many at a time; faster when the ids are close to each other.
final class RecordLookup {
  private let cursor: Cursor
  private var finder: RecordFinder?
  private var ids: [UInt64] = []
  private var found: [UnsafeRawBufferPointer] = []
  private let expired: ExpiredRecords?

  init(_ entity: StoredEntity, core: TransactionCore) throws(StoreError) {
    expired = try core.expired(of: entity)
    do {
      cursor = try Cursor(entity.records, in: core.transaction)
      finder = try RecordFinder(entity.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  /// Finds the records with `ids`; ``record(_:at:)`` has them.
  func look(for ids: some Collection<UInt64>) {
    guard finder != nil else { return }
    self.ids.removeAll(keepingCapacity: true)
    self.ids.append(contentsOf: ids)
    if found.count < ids.count {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      found.append(contentsOf: repeatElement(none, count: ids.count - found.count))
    }
    self.ids.withUnsafeBufferPointer { ids in
      found.withUnsafeMutableBufferPointer { found in finder?.find(ids, found) }
    }
  }

  /// The record of the id at `index` of those last looked for; `nil` when there is none, or it
  /// has expired.
  @inline(__always)
  func record(_ id: UInt64, at index: Int) throws -> UnsafeRawBufferPointer? {
    if let expired, expired.contains(id) { return nil }
    if finder != nil, found[index].baseAddress != nil { return found[index] }
    // In a write transaction, or a record on overflow pages.
    return try cursor.seek(id) ? cursor.value : nil
  }
}
