import Foundation
import Testing

@testable import EntityStore

// Undo, purges, pinned snapshots, shared commits, other processes, other files.

extension GuildRun {
  mutating func undo() throws -> String {
    let told = try store.history(.all.newestFirst().limit(10))
    guard let chosen = numbers.oneIn(2) ? told.first : told.randomElement(using: &numbers) else {
      return "no undo"
    }
    let isPart = numbers.oneIn(3)
    log.append("undo of \(chosen.token.number) of \(told.map(\.token.number))")
    let known = writes.firstIndex { $0.number == chosen.token.number }
    let expected = known.map { state.undoing(writes[$0], isPart: isPart) }
    do {
      if isPart { try store.undoPartly(chosen.token) } else { try store.undo(chosen.token) }
    } catch let error as StoreError {
      let codes: [StoreError.Code] = [
        .cannotUndo, .uniqueViolation, .invalidValue, .deleteDenied, .missingTarget,
      ]
      guard codes.contains(error.code) else { throw Disagreement("\(log): \(error)") }
      guard let known, let expected, writes[known].isWhole, expected.violations.isEmpty,
        expected.lateViolations.isEmpty
      else { return "refused undo" }
      // An undo must not be refused if no later write touched the same records.
      let touched = writes[known].touched
      if writes[(known + 1)...].allSatisfy({ $0.touched.isDisjoint(with: touched) }) {
        throw Disagreement("\(log): \(error)\nleaves", state, expected)
      }
      return "refused undo"
    }
    let found = try read()
    guard found.violations.isEmpty, found.lateViolations.isEmpty else {
      throw Disagreement("\(log) leaves \(found)")
    }
    if let expected, found.unordered != expected.unordered {
      throw Disagreement(log, found.unordered, expected.unordered)
    }
    state = found
    return expected == nil ? "undo" : "known undo"
  }

  mutating func purge() throws -> String {
    let told = try store.history(.all)
    guard let chosen = told.randomElement(using: &numbers) else { return "no purge" }
    log.append("purge through \(chosen.token.number)")
    try store.purgeHistory(through: chosen.token)
    guard try store.history(.all).map(\.id) == told.map(\.id).filter({ $0 > chosen.id }) else {
      throw Disagreement("\(log) leaves \(try store.history(.all).map(\.id))")
    }
    return "purge"
  }

  mutating func pin() throws -> String {
    guard let pinned else {
      pinned = (try store.snapshot(), state)
      return "pin"
    }
    let found = try pinned.snapshot.read { try GuildState($0) }
    guard found == pinned.state.takingGrades(of: found) else {
      throw Disagreement("pinned", found, pinned.state)
    }
    if numbers.oneIn(2) {
      pinned.snapshot.end()
      self.pinned = nil
    }
    return "pinned read"
  }

  /// Several tasks write at the same time, so that their writes share commits.
  mutating func together() async throws -> String {
    let names = (0..<numbers.below(6) + 2).map { "t\(operations).\($0)" }
    let ids = try await withThrowingTaskGroup(of: (UInt64, String).self) { [store] group in
      for name in names {
        group.addTask {
          (
            try await store.write { tx in try tx.insert(Work(name, tags: [name])).id.rawValue },
            name
          )
        }
      }
      return try await group.reduce(into: [(UInt64, String)]()) { $0.append($1) }
    }
    for (id, name) in ids { state.works[id] = .init(title: name, tags: [name]) }
    return "writes together"
  }

  /// Another process makes some steps on the same file.
  mutating func visit() async throws -> String {
    guard numbers.oneIn(2) else { return "nothing" }
    let (folder, path, seed) = (folder, path, numbers.next())
    log.append("steps by another process with the seed \(seed)")
    await #expect(processExitsWith: .success) {
      [folder = folder as String, path = path as String, seed = seed as UInt64] in
      try await GuildRun.runSteps(folder, path, seed: seed)
    }
    state = try read()
    guard state.violations.isEmpty, state.lateViolations.isEmpty else {
      throw Disagreement("\(log) leave \(state)")
    }
    return "visit"
  }

  // MARK: Files

  mutating func reopen() throws -> String {
    try reopen(at: path)
    return "reopening"
  }

  mutating func reopen(at path: String) throws {
    pinned?.snapshot.end()
    pinned = nil
    store.close()
    later.close()
    try expectSound(self.path)
    self.path = path
    (store, later) = try Self.open(path, stages)
    lists = GuildLists(store)
  }

  mutating func migrate() throws -> String {
    let version = stages.count + 1
    log.append("stage \(version)")
    if numbers.oneIn(2) {
      stages.append(
        MigrationStage(
          to: version,
          .map("Work") { work in
            let price: Int = work["price"] ?? 0
            work["price"] = price + 1
          }))
      for id in state.works.keys { state.works[id]?.price += 1 }
    } else {
      // The stage converts the price to a text and back. Each step rebuilds the price's indexes and
      // the attributes derived from it.
      stages.append(
        MigrationStage(
          to: version, .convert("price", of: "Work", to: String.self),
          .convert("price", of: "Work", to: Int.self)))
    }
    try reopen(at: path)
    return "migration"
  }

  /// Continues in a compacted copy.
  mutating func copy() throws -> String {
    copies += 1
    let copy = folder + "/copy\(copies).lodestore"
    try store.backup(to: copy)
    let old = path
    try reopen(at: copy)
    for file in [old, old + "-lock"] { try? FileManager.default.removeItem(atPath: file) }
    return "copy"
  }
}
