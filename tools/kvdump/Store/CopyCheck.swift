import EntityStore
import LMDB
import LodestoreFormat
import LodestorePages
import LodestoreVerifier

/// Checks a copy of a store before it gets its name.
///
/// First what is damaged most often, and is told with the entity and the record: every record against its
/// checksum, every index for having one entry for each record, and what buckets and imports keep. Then all the
/// rules that `kvdump verify` checks.
struct CopyCheck {
  private(set) var entityCount = 0
  private(set) var recordCount = 0

  /// Throws for the first fault; for a record with its entity and id.
  init(_ path: String, on console: Console) throws {
    (entityCount, recordCount) = try ReadStore.read(path, on: console) { snapshot in
      var count = 0
      for entity in snapshot.entities {
        let records = try Self.checkRecords(of: entity, snapshot)
        for index in entity.indexes { try Self.checkEntries(of: index, entity, records, snapshot) }
        count += records.count
      }
      return (snapshot.entities.count, count)
    }
    try ReadStore.withEnvironment(path, on: console) { environment in
      for name in [TreeName.buckets, .imports] { try Self.checkSums(of: name, environment) }
    }
    if let finding = try Verifier.verify(path: path).findings.first {
      throw CommandFailure.damagedCopy(reason: "\(finding)")
    }
  }

  private static func checkRecords(
    of entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws -> RecordIDSet {
    var ids = RecordIDSet()
    try snapshot.forEachRecord(of: entity) { record in
      _ = try record.reader(verifyingChecksum: true)
      ids.append(record.id)
      return true
    }
    return ids
  }

  private static func checkEntries(
    of index: DynamicIndex, _ entity: DynamicEntity, _ records: RecordIDSet,
    _ snapshot: DynamicSnapshot
  ) throws {
    var found = RecordIDSet()
    try snapshot.forEachEntry(of: index) { id in
      guard let id else {
        throw CommandFailure.damagedIndex(index.name, "an entry does not say which record it is of")
      }
      guard records.contains(id) else {
        throw CommandFailure.indexOfNothing(index.name, entity.name, id)
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

  private static func checkSums(of name: TreeName, _ environment: Environment) throws {
    guard
      let tree = try environment.openExistingTree(name.text, hasIntegerKeys: false)
    else { return }
    try environment.read { transaction in
      let cursor = try Cursor(tree, in: transaction)
      var isThere = try cursor.first()
      while isThere {
        do {
          _ = try Checksum.unsealed(key: cursor.key, body: cursor.value)
        } catch {
          let key = Finding.hexadecimal(cursor.key)
          throw CommandFailure.damagedPair(of: name.text, key: key, reason: "\(error)")
        }
        isThere = try cursor.next()
      }
    }
  }
}

/// Ids of records that come in order, as runs; or those that come in any, as their number and a sum.
private struct RecordIDSet {
  private var starts: [UInt64] = []
  private var ends: [UInt64] = []
  private(set) var count = 0
  /// Of each id, mixed: the same for the same ids in any order, and hardly ever for others.
  private(set) var sum: UInt64 = 0

  /// Adds an id that is above all before it.
  mutating func append(_ id: UInt64) {
    if let last = ends.last, last &+ 1 == id {
      ends[ends.count - 1] = id
    } else {
      starts.append(id)
      ends.append(id)
    }
    count(id)
  }

  mutating func count(_ id: UInt64) {
    count += 1
    var mixed = id &* 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ mixed >> 32) &* 0xbf58_476d_1ce4_e5b9
    sum &+= mixed ^ mixed >> 29
  }

  func contains(_ id: UInt64) -> Bool {
    var low = 0
    var high = ends.count
    while low < high {
      let middle = (low + high) / 2
      if ends[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low < starts.count && starts[low] <= id
  }
}
