import EntityStore

/// A store of one entity as a dictionary, with the rules of unique keys and ids.
struct StoreModel {
  private(set) var rows: [UInt64: ModelRow] = [:]
  private var holders: [ModelKey: UInt64] = [:]
  private(set) var nextID: UInt64 = 1

  enum Refusal: Error, Equatable {
    /// Other records hold the key.
    ///
    /// The set is empty if two values of one batch collide.
    case held(by: Set<UInt64>)
    case noSuchRecord
    /// A new record lacks a required value.
    case missingValue
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

  /// Inserts all rows of the batch or none.
  ///
  /// A refused batch uses up no ids.
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

  /// Changes the rows in one step, so that they may exchange keys.
  ///
  /// Returns the number of rows whose values have changed.
  mutating func update(_ ids: [UInt64], _ change: ModelChange) throws -> Int {
    var changed: [UInt64: ModelRow] = [:]
    for id in ids {
      guard let old = rows[id] else { continue }
      var row = old
      change.apply(to: &row)
      if row != old { changed[id] = row }
    }
    for id in changed.keys { free(id) }
    for (id, row) in changed {
      let held = holders(of: row)
      guard held.isEmpty else { throw Refusal.held(by: []) }
      set(id, row)
    }
    return changed.count
  }

  mutating func delete(_ id: UInt64) -> Bool {
    free(id)
    return rows.removeValue(forKey: id) != nil
  }

  mutating func delete(_ ids: some Sequence<UInt64>) -> Int {
    ids.reduce(0) { delete($1) ? $0 + 1 : $0 }
  }

  mutating func deleteAll() {
    rows = [:]
    holders = [:]
  }

  /// Removes the attribute, as a version without it does.
  mutating func resetExtra() {
    for id in rows.keys { rows[id]?.extra = ModelRow.initialExtra }
  }

  func holder(of key: ModelKey) -> UInt64? { holders[key] }

  /// The ids of the rows whose number is within `range`, ascending.
  func ids(numbered range: ClosedRange<Int>) -> [UInt64] {
    rows.filter { range.contains($0.value.number) }.keys.sorted()
  }

  /// The ids of the rows with these numbers, in the order of their keys.
  func ids(numbered range: ClosedRange<Int>, limit: Int) -> [UInt64] {
    let found = rows.filter { range.contains($0.value.number) }
    return found.sorted { utf8Precedes($0.value.key, $1.value.key) }.prefix(limit).map(\.key)
  }

  /// The ids in the order of an index over `value`; rows with equal values are in the order of
  /// their ids.
  func ordered<Value>(
    by value: (ModelRow) -> Value, _ isBefore: (Value, Value) -> Bool
  ) -> [(id: UInt64, value: Value)] {
    rows.map { (id: $0.key, value: value($0.value)) }.sorted { a, b in
      if isBefore(a.value, b.value) { return true }
      return isBefore(b.value, a.value) ? false : a.id < b.id
    }
  }

  /// Inserts a row under the id that the store assigned; ids are consecutive.
  mutating func insert(_ row: ModelRow, as id: UInt64) {
    set(id, row)
    nextID = max(nextID, id + 1)
  }

  private mutating func free(_ id: UInt64) {
    for key in rows[id]?.uniqueKeys ?? [] where holders[key] == id { holders[key] = nil }
  }

  private mutating func set(_ id: UInt64, _ row: ModelRow) {
    free(id)
    rows[id] = row
    for key in row.uniqueKeys { holders[key] = id }
  }
}

/// The store's order of text: null first, then the UTF-8 bytes of the normalized form, as in the
/// standard library.
func utf8Precedes(_ a: String?, _ b: String?) -> Bool {
  guard let b else { return false }
  guard let a else { return true }
  return a < b
}
