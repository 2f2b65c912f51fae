import EntityStore

/// The treatment of an incoming row that has a key of a stored row.
enum ModelConflict: Int, CaseIterable {
  case fail, ignore, replace, patch, merge, given

  func conflict<Version>(_: Version.Type) -> MergePolicy<ModelItem<Version>> {
    switch self {
    case .fail: .fail
    case .ignore: .ignore
    case .replace: .replace
    case .patch: .patch(ModelItem<Version>.patched)
    case .given: .patch()
    case .merge:
      .merge { stored, incoming in
        var merged = stored
        merged.row.note = incoming.row.note
        merged.row.extra = incoming.row.extra
        return merged
      }
    }
  }
}

/// The unique index by which an incoming row finds a stored one.
enum ModelMatching: Int, CaseIterable {
  /// All unique keys must lead to the same record.
  case all
  case key, groupNumber

  func matching<Version>(_: Version.Type) -> RecordMatching<ModelItem<Version>>? {
    switch self {
    case .all: nil
    case .key: .unique(\.row.key)
    case .groupNumber: .unique(\.row.group, \.row.number)
    }
  }
}

extension ModelKey {
  var matching: ModelMatching {
    switch self {
    case .key: .key
    case .groupNumber: .groupNumber
    }
  }
}

/// A row on its way in, and which of its values were given.
struct IncomingRow {
  var row: ModelRow
  var given: Set<String>

  static let all: Set<String> = ["key", "number", "group", "note", "extra"]

  /// Makes the incoming row of a version with or without the extra attribute.
  init(_ row: ModelRow, given: Set<String> = all, hasExtra: Bool) {
    self.row = row
    self.given = hasExtra ? given : given.subtracting(["extra"])
  }

  /// The unique keys by which the row is matched: those whose values are all given.
  var keys: [ModelKey] {
    row.uniqueKeys.filter { key in
      if case .groupNumber = key { given.isSuperset(of: ["group", "number"]) } else { true }
    }
  }

  /// The keys that are searched for a stored row; throws if `matching` names a key that the row
  /// does not give.
  func keys(_ matching: ModelMatching) throws -> [ModelKey] {
    if matching == .all { return keys }
    let named = keys.filter { $0.matching == matching }
    if named.isEmpty { throw StoreModel.Refusal.missingValue }
    return named
  }

  /// The row to insert if no stored row has its keys; throws if it lacks the required number.
  func new() throws -> ModelRow {
    guard given.contains("number") else { throw StoreModel.Refusal.missingValue }
    var new = row
    if !given.contains("group") { new.group = nil }
    if !given.contains("note") { new.note = nil }
    if !given.contains("extra") { new.extra = ModelRow.initialExtra }
    return new
  }

  func merged(with stored: ModelRow, _ conflict: ModelConflict) -> ModelRow {
    var merged = stored
    let isNarrow = conflict == .patch || conflict == .merge
    let taken = isNarrow ? given.intersection(["note", "extra"]) : given
    if taken.contains("key") { merged.key = row.key }
    if taken.contains("number") { merged.number = row.number }
    if taken.contains("group") { merged.group = row.group }
    if taken.contains("note") { merged.note = row.note }
    if taken.contains("extra") { merged.extra = row.extra }
    return merged
  }

  var dictionary: [String: any AttributeValue] {
    var values: [String: any AttributeValue] = ["key": row.key]
    if given.contains("number") { values["number"] = row.number }
    // A given null is passed as a value.
    if given.contains("group") { values.updateValue(row.group, forKey: "group") }
    if given.contains("note") { values.updateValue(row.note, forKey: "note") }
    if given.contains("extra") { values["extra"] = row.extra }
    return values
  }
}

/// The numbers of rows that a batch inserted, updated, left unchanged and ignored.
struct MergeCounts: Equatable {
  var inserted = 0, updated = 0, unchanged = 0, ignored = 0
}

extension StoreModel {
  /// Merges rows one after the other.
  ///
  /// New rows get the ids that the store assigned, or the next ids.
  mutating func merge(
    _ incoming: [IncomingRow], _ conflict: ModelConflict, by matching: ModelMatching = .all,
    ids: [UInt64]? = nil
  ) throws -> MergeCounts {
    var counts = MergeCounts()
    var newIDs: Set<UInt64> = []
    let first = nextID
    /// The refusal by the records in `held`.
    ///
    /// A refused batch does not show the ids of its new rows, so conflicts with these have no ids.
    func refusal(_ held: Set<UInt64>) -> Refusal {
      .held(by: held.contains { $0 >= first } ? [] : held)
    }
    for (index, row) in incoming.enumerated() {
      let id: UInt64
      let keys = try row.keys(matching)
      let held = Set(keys.compactMap { holder(of: $0) })
      if let holder = held.first {
        guard held.count == 1, conflict != .fail, let stored = rows[holder] else {
          throw refusal(held)
        }
        // The incoming row has a key that no stored row has, where the stored row has another
        // value.
        let others = keys.filter { self.holder(of: $0) == nil }.map(\.matching)
        if stored.uniqueKeys.contains(where: { others.contains($0.matching) }) {
          throw refusal(held)
        }
        id = holder
        if conflict == .ignore {
          counts.ignored += 1
        } else if try updating(holder, row.merged(with: stored, conflict), refusal) {
          counts.updated += 1
        } else {
          counts.unchanged += 1
        }
      } else {
        let new = try row.new()
        let held = holders(of: new)
        guard held.isEmpty else { throw refusal(held) }
        id = ids?[index] ?? nextID
        insert(new, as: id)
        newIDs.insert(id)
        counts.inserted += 1
      }
      if let ids, ids[index] != id {
        throw Disagreement("row \(index) became \(ids[index]), in the model \(id)")
      }
    }
    if newIDs != Set(first..<first + UInt64(newIDs.count)) {
      throw Disagreement("new ids \(newIDs.sorted()) do not follow \(first)")
    }
    return counts
  }

  private mutating func updating(
    _ id: UInt64, _ row: ModelRow, _ refusal: (Set<UInt64>) -> Refusal
  ) throws -> Bool {
    do {
      return try update(id, row)
    } catch Refusal.held(let held) {
      throw refusal(held)
    }
  }
}
