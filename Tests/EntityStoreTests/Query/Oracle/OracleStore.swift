import Foundation
import Testing

@testable import EntityStore
@testable import LodestoreFormat

/// Runs `body` on a store of random records of two layouts, with gaps between their ids.
func withSpecimens(
  count: Int, salt: UInt64, _ body: (Store, [FactRecord]) throws -> Void
) throws {
  var random = SeededNumbers(salt: salt)
  try withTemporaryPath { path in
    let specimens = (1...count).map { Specimen.nasty(serial: $0, &random) }
    let old = try Store(at: path, entities: [OldSpecimen.self])
    try old.write { transaction in
      for specimen in specimens.prefix(count / 2) {
        _ = try transaction.insert(OldSpecimen(specimen: specimen))
      }
    }
    old.close()
    let store = try Store(at: path, entities: [Specimen.self])
    defer { store.close() }
    try store.write { transaction in
      for specimen in specimens.dropFirst(count / 2) { _ = try transaction.insert(specimen) }
      for id in 1...UInt64(count) where random.oneIn(12) {
        _ = try transaction.delete(RecordID<Specimen>(rawValue: id))
      }
    }
    try body(store, try store.core.read { core in try factRecords(core) })
  }
}

/// All records, read only through their layouts.
func factRecords(_ core: TransactionCore) throws -> [FactRecord] {
  let entity = try core.entity(named: "Specimen")
  var records: [FactRecord] = []
  let last = try core.plan(QueryRequest(), for: entity)
  let names = entity.layout.attributes.map { attribute in
    entity.description.attribute(number: attribute.number)?.name ?? "?"
  }
  try PlanRun(last, core: core).forEach { id, bytes in
    let values = try entity.values(of: entity.view(bytes, id: id))
    let facts = try values.map { try Fact($0) }
    records.append(
      FactRecord(id: id, facts: Dictionary(uniqueKeysWithValues: zip(names, facts))))
    return true
  }
  return records
}

/// The scalars that occur in `records`, by attribute.
func valuesByAttribute(_ records: [FactRecord]) -> [String: [Value]] {
  var values: [String: [Value]] = ["_id": records.map { .integer(unsigned: $0.id) }]
  for record in records {
    for (name, fact) in record.facts {
      if let value = fact.scalar, value != .null { values[name, default: []].append(value) }
    }
  }
  return values
}
