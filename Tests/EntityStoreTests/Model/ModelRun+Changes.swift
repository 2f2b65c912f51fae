import LodestoreFormat

@testable import EntityStore

// Compares the changes that sinks received with the differences between two models.

extension ModelRun {
  /// Compares the changes that sinks received since `start` with the difference between the two
  /// models.
  func compareChanges(of store: Store, since start: ModelRun) throws {
    guard let recording else { return }
    let writes = recording.committed
    let numbers = writes.map(\.committed.number)
    if numbers != numbers.sorted() { throw Disagreement("told in the order \(numbers)") }
    let names = try store.core.read { core in
      try ["Item", "Tag"].map {
        try core.entity(named: $0).description.declaredAttributes.map(\.name)
      }
    }
    for entity in ["Item", "Tag"] {
      let changes = writes.flatMap(\.changes).filter { $0.entity == entity }
      if entity == "Item" {
        var fold = ChangeFold(start.model.rows, names: names[0], recording.interest)
        try fold.take(changes, until: model.rows)
      } else {
        var fold = ChangeFold(start.tags.rows, names: names[1], recording.interest)
        try fold.take(changes, until: tags.rows)
      }
    }
    if writes.contains(where: \.changes.isEmpty) { throw Disagreement("a write told of nothing") }
  }
}

/// The changes that a sink received, applied to rows one after the other.
struct ChangeFold<Row: ModelledRow> {
  private let before: [UInt64: Row]
  private let names: [String]
  private let interest: ChangeInterest
  /// The rows whose values are known, because the changes had the records' bytes, or because no
  /// change was reported.
  private var rows: [UInt64: Row?]
  /// The names of the attributes reported as changed, for records that were neither inserted nor
  /// removed.
  private var changed: [UInt64: Set<String>] = [:]
  /// The number of records that the removal of all records has announced but not reported yet.
  private var toClear = 0

  init(_ before: [UInt64: Row], names: [String], _ interest: ChangeInterest) {
    self.before = before
    self.names = names
    self.interest = interest
    rows = before.mapValues { $0 }
  }

  mutating func take(_ changes: [ChangeRecording.Change], until after: [UInt64: Row]) throws {
    for change in changes {
      if toClear > 0, change.kind != .removed {
        throw Disagreement("\(change) amid a removal of all")
      }
      try take(change)
    }
    if Set(rows.keys) != Set(after.keys) {
      throw Disagreement(
        "told \(Set(rows.keys).symmetricDifference(after.keys).sorted()) differently")
    }
    for (id, row) in after {
      if interest.contains(.newRecord), rows[id] != .some(.some(row)) {
        throw Disagreement("record \(id) was told as \(String(describing: rows[id])), is \(row)")
      }
      // A record that was neither inserted nor removed must have had all its differences reported.
      guard let old = before[id], let told = changed[id] ?? (old == row ? nil : []) else {
        continue
      }
      if interest.contains(.attributes), !told.isSuperset(of: row.changedNames(from: old)) {
        throw Disagreement("record \(id): \(told) were told to have changed")
      }
      if old != row, changed[id] == nil { throw Disagreement("record \(id): no update was told") }
    }
  }

  private mutating func take(_ change: ChangeRecording.Change) throws {
    let id = change.id
    let old = try row(change.old, .oldRecord, change)
    let new = try row(change.new, .newRecord, change)
    switch change.kind {
    case .inserted:
      if rows[id] != nil { throw Disagreement("\(change), which is there") }
      rows.updateValue(new, forKey: id)
    case .updated:
      guard let known = rows[id] else { throw Disagreement("\(change), which is not there") }
      if let old, let known, old != known {
        throw Disagreement("\(change) from \(old), was \(known)")
      }
      try takeAttributes(change, old, new)
      rows.updateValue(new, forKey: id)
    case .removed:
      guard let known = rows.removeValue(forKey: id) else {
        throw Disagreement("\(change), which is not there")
      }
      if let old, let known, old != known {
        throw Disagreement("\(change) was \(old), is \(known)")
      }
      changed[id] = nil
      toClear = max(0, toClear - 1)
    case .cleared(let count):
      if count != rows.count { throw Disagreement("\(change), there are \(rows.count)") }
      if !interest.isDisjoint(with: [.oldRecord, .eachRemoval]) {
        toClear = count
      } else {
        rows = [:]
        changed = [:]
      }
    }
  }

  private mutating func takeAttributes(
    _ change: ChangeRecording.Change, _ old: Row?, _ new: Row?
  ) throws {
    guard interest.contains(.attributes) == (change.attributes != nil) else {
      throw Disagreement("\(change) with \(String(describing: change.attributes))")
    }
    let told = Set(change.attributes ?? [])
    if let old, let new {
      let differences = new.changedNames(from: old)
      if differences.isEmpty { throw Disagreement("\(change) is none") }
      if interest.contains(.attributes), told != differences {
        throw Disagreement("\(change) of \(told), are \(differences)")
      }
    } else if interest.contains(.attributes), told.isEmpty {
      throw Disagreement("\(change) of no attribute")
    }
    changed[change.id, default: []].formUnion(told)
  }

  /// The row made of a change's values; `nil` if the sink did not ask for these values.
  private func row(
    _ values: [Value]?, _ part: ChangeInterest, _ change: ChangeRecording.Change
  ) throws -> Row? {
    let isExpected =
      interest.contains(part)
      && (part == .oldRecord ? change.kind != .inserted : change.kind != .removed)
    if case .cleared = change.kind { return nil }
    guard isExpected == (values != nil) else {
      throw Disagreement("\(change): its bytes were \(isExpected ? "not " : "")told")
    }
    return values.map { Row(Dictionary(uniqueKeysWithValues: zip(names, $0))) }
  }
}
