import Foundation
import EntityStore

/// A store of one entity as a dictionary, with the rules of unique keys and ids.
struct StoreModel {
  private(set) var rows: [UInt64: ModelRow] = [:]
  private var holders: [ModelKey: UInt64] = [:]
  private(set) var nextID: UInt64 = 1

  enum Refusal: Error, Equatable {
    /// Held by one of these records; empty when the values of one batch collide.
    case held(by: Set<UInt64>)
    case noSuchRecord
  }

  /// The records other than `id` that hold a unique key of `row`.
  func holders(of row: ModelRow, except id: UInt64? = nil) -> Set<UInt64> {
    Set(row.uniqueKeys.compactMap { holders[$0] }.filter { $0 != id })
  }

  mutating func insert(_ row: ModelRow) throws -> UInt64 {
    let held = holders(of: row)
    guard held.isEmpty else { throw Refusal.held(by: held) }
    let id = nextID
    nextID += 1
    set(id, row)
    return id
  }

  /// One step: all or nothing, and no id is used up by a refusal.
  mutating func insert(contentsOf batch: [ModelRow]) throws -> [UInt64] {
    let held = batch.reduce(into: Set<UInt64>()) { $0.formUnion(holders(of: $1)) }
    let keys = batch.flatMap(\.uniqueKeys)
    guard held.isEmpty, Set(keys).count == keys.count else { throw Refusal.held(by: held) }
    return try batch.map { try insert($0) }
  }

  mutating func update(_ id: UInt64, _ row: ModelRow) throws -> Bool {
    guard let old = rows[id] else { throw Refusal.noSuchRecord }
    if old == row { return false }
    let held = holders(of: row, except: id)
    guard held.isEmpty else { throw Refusal.held(by: held) }
    set(id, row)
    return true
  }

  mutating func delete(_ id: UInt64) -> Bool {
    guard let old = rows.removeValue(forKey: id) else { return false }
    for key in old.uniqueKeys { holders[key] = nil }
    return true
  }

  mutating func deleteAll() {
    rows = [:]
    holders = [:]
  }

  /// What a change of the schema does to the attribute that one version lacks.
  mutating func resetExtra() {
    for id in rows.keys { rows[id]?.extra = ModelRow.initialExtra }
  }

  func holder(of key: ModelKey) -> UInt64? { holders[key] }

  /// Ids in the order of an index over `value`, equal ones in the order of insertion.
  func ordered<Value>(
    by value: (ModelRow) -> Value, _ isBefore: (Value, Value) -> Bool
  ) -> [(id: UInt64, value: Value)] {
    rows.map { (id: $0.key, value: value($0.value)) }.sorted { a, b in
      if isBefore(a.value, b.value) { return true }
      return isBefore(b.value, a.value) ? false : a.id < b.id
    }
  }

  private mutating func set(_ id: UInt64, _ row: ModelRow) {
    for key in rows[id]?.uniqueKeys ?? [] { holders[key] = nil }
    rows[id] = row
    for key in row.uniqueKeys { holders[key] = id }
  }
}

/// Order of text as the store has it: null first, then by the UTF-8 bytes of the normalized form.
func utf8Precedes(_ a: String?, _ b: String?) -> Bool {
  guard let b = b?.precomposedStringWithCanonicalMapping else { return false }
  guard let a = a?.precomposedStringWithCanonicalMapping else { return true }
  return a.utf8.lexicographicallyPrecedes(b.utf8)
}
