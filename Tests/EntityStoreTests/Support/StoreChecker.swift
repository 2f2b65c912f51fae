import LMDB
import LodestoreFormat

@testable import EntityStore

/// Checks a file by Format.md: every record's shape and checksum, every index entry against its
/// record and back, and the counters. Reads records as bytes, never as entities.
struct StoreChecker {
  private(set) var findings: [String] = []

  static func findings(at path: String) throws -> [String] {
    let store = try StoreCore(path: path, options: .readOnly)
    defer { store.close() }
    return try findings(in: store)
  }

  static func findings(in store: StoreCore) throws -> [String] {
    try store.read { core in
      var checker = StoreChecker()
      for entity in core.schema.entities { try checker.check(entity, core) }
      return checker.findings
    }
  }

  private mutating func check(_ entity: StoredEntity, _ core: TransactionCore) throws {
    var expected = [[[UInt8]: UInt64]](repeating: [:], count: entity.indexes.count)
    var encoder = KeyEncoder()
    let records = try Cursor(entity.records, in: core.transaction)
    var found = try records.first()
    while found {
      let id = records.integerKey
      let view = try entity.view(records.value, id: id)
      try view.validate(id: id)
      if Checksum.record(id: id, body: view.content) != view.storedChecksum {
        findings.append("\(entity.name) \(id): wrong checksum")
      }
      for (place, index) in entity.indexes.enumerated() {
        let hasNull = try IndexTuple.encode(
          index.description, of: view, in: entity.description, into: &encoder)
        var key = Array(encoder.bytes)
        if !index.isUnique || hasNull { key += bigEndianBytes(id) }
        if let other = expected[place].updateValue(id, forKey: key) {
          findings.append("\(index.name): records \(other) and \(id) have one key")
        }
      }
      found = try records.next()
    }
    for (place, index) in entity.indexes.enumerated() {
      try check(index, expected[place], core)
    }
    let counter = try core.transaction.get(
      CounterKey.nextRecord(entity: entity.number), in: core.store.trees.counters)
    if let counter, counter.count != 8 { findings.append("\(entity.name): odd counter") }
  }

  private mutating func check(
    _ index: StoredIndex, _ expected: [[UInt8]: UInt64], _ core: TransactionCore
  ) throws {
    var rest = expected
    let entries = try Cursor(index.tree, in: core.transaction)
    var found = try entries.first()
    while found {
      let key = Array(entries.key)
      if let id = rest.removeValue(forKey: key) {
        let body = index.isUnique ? littleEndianBytes(id) : []
        if Array(entries.value) != body { findings.append("\(index.name): wrong body, record \(id)") }
      } else {
        findings.append("\(index.name): an entry of no record, \(key)")
      }
      found = try entries.next()
    }
    for id in rest.values { findings.append("\(index.name): no entry of record \(id)") }
  }
}
