import EntityStore
import LodestoreFormat

/// Compares the records of an entity with its indexes in one commit.
///
/// A record without an entry means that either was lost.
struct EntityCheck {
  private let entity: DynamicEntity
  private let snapshot: DynamicSnapshot
  private var records = RecordIDSet()

  var recordCount: Int { records.count }

  /// Reads all records and passes each to `visit`.
  init(
    _ entity: DynamicEntity, _ snapshot: DynamicSnapshot,
    _ visit: (DynamicRecord) throws -> Void = { _ in }
  ) throws {
    self.entity = entity
    self.snapshot = snapshot
    var ids = RecordIDSet()
    try snapshot.forEachRecord(of: entity) { record in
      try visit(record)
      ids.append(record.id)
      return true
    }
    records = ids
  }

  /// Throws unless each index has one entry for each record.
  func checkIndexes() throws {
    for index in entity.indexes { try checkEntries(of: index) }
  }

  /// Throws unless each element index has as many entries as the records have elements.
  func checkElements() throws {
    for index in try snapshot.elementCounts(of: entity) where index.entries != index.elements {
      throw CommandFailure.damagedIndex(
        index.name, "it has \(index.entries) entries for \(index.elements) elements")
    }
  }

  private func checkEntries(of index: DynamicIndex) throws {
    var found = RecordIDSet()
    try snapshot.forEachEntry(of: index) { id in
      guard let id else {
        throw CommandFailure.damagedIndex(index.name, "an entry does not say which record it is of")
      }
      guard records.contains(id) else {
        throw CommandFailure.danglingIndexEntry(index.name, entity.name, id)
      }
      found.count(id)
    }
    guard found.count == records.count else {
      throw CommandFailure.damagedIndex(
        index.name, "it has \(found.count) entries for \(records.count) records")
    }
    guard found.sum == records.sum else {
      throw CommandFailure.damagedIndex(
        index.name, "a record has two entries in it, and another has none")
    }
  }
}

/// A set of record ids: ids in ascending order as runs, ids in any other order as their number and
/// a sum.
private struct RecordIDSet {
  private var runs = IDRuns()
  private(set) var count = 0
  /// The sum of mixed ids.
  ///
  /// Equal sets have equal sums in any order, and different sets almost never do.
  private(set) var sum: UInt64 = 0

  /// Adds an id, which must be higher than all earlier ids.
  mutating func append(_ id: UInt64) {
    runs.append(id)
    count(id)
  }

  mutating func count(_ id: UInt64) {
    count += 1
    var mixed = id &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 32) &* 0xbf58_476d_1ce4_e5b9
    sum &+= mixed ^ mixed >> 29
  }

  func contains(_ id: UInt64) -> Bool { runs.contains(id) }
}
