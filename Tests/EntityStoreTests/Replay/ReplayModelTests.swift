import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Copies of a store of guilds follow it while it makes random operations.
@Suite struct `Copies that replay the history of a store` {
  /// The variable `LODESTORE_REPLAY_OPERATIONS` sets the number of operations.
  @Test func `a copy has the records, links, orders, buckets and digests of its store`()
    async throws
  {
    let wanted = SeededNumbers.environmentNumber("LODESTORE_REPLAY_OPERATIONS") ?? 300
    var numbers = SeededNumbers(salt: 47_001)
    var done = 0
    var counts = ReplayTally()
    while done < wanted {
      let folder = try TemporaryFolder()
      var run = try GuildRun(folder: folder.path, numbers: SeededNumbers(seed: numbers.next()))
      var copy = try FollowingCopy(of: run.store, in: folder.path)
      let most = min(wanted - done, 400)
      while run.operations < most {
        try await run.step()
        try copy.note(run.store)
        if numbers.oneIn(4) { try Self.changeBuckets(of: run.store, &numbers) }
        if numbers.oneIn(2) { try await copy.follow(run, &numbers, &counts) }
      }
      try await copy.follow(run, &numbers, &counts)
      try copy.close()
      try run.close()
      done += run.operations
    }
    print("\(done) operations, replayed: \(counts)")
    #expect(counts.steps > 0)
  }

  private static func changeBuckets(
    of store: Store, _ numbers: inout SeededNumbers
  ) throws {
    let bucket = "b\(numbers.below(3))"
    let key = "k\(numbers.below(4))"
    let value = numbers.oneIn(3) ? nil : Data([UInt8(numbers.below(256))])
    try store.write { transaction in
      if let value {
        try transaction.put(value, for: key, in: bucket)
      } else {
        try transaction.delete(key: key, in: bucket)
      }
    }
  }
}

/// The numbers of replayed steps, of parts of units, and of copies that were made again.
struct ReplayTally {
  var steps = 0
  var transactions = 0
  var parts = 0
  var copies = 0
}

/// A copy of a store of guilds that follows it by the history.
private struct FollowingCopy {
  private let folder: String
  private var store: Store
  private var lists: GuildLists
  private var path: String
  private var facts: ReplayFacts
  /// The units that were read, and are not replayed yet.
  private var units: [ReplayUnit] = []
  /// The digests of the store after some of its writes.
  private var digests: [UInt64: [[UInt8]: [UInt8]]] = [:]
  private var number = 0

  init(of store: Store, in folder: String) throws {
    self.folder = folder
    path = folder + "/follower-0.lodestore"
    facts = try store.read { try $0.replayFacts() }
    self.store = try Self.copy(store, to: path, facts)
    lists = GuildLists(self.store)
  }

  private static func copy(
    _ store: Store, to path: String, _ facts: ReplayFacts
  ) throws -> Store {
    try store.backup(to: path)
    let copy = try open(path)
    try copy.replaying(author: nil, context: nil) {
      try $0.setReplicaCursor(ReplicaCursor(storeID: facts.storeID, lastWrite: facts.lastWrite))
    }
    return copy
  }

  private static func open(_ path: String) throws -> Store {
    var options = StoreOptions.history(.images)
    options.durability = .mayLoseLastCommit
    return try Store(at: path, entities: Guild.entities, options: options)
  }

  /// Remembers the digests of the store.
  mutating func note(_ store: Store) throws {
    let facts = try store.read { try $0.replayFacts() }
    digests[facts.lastWrite] = facts.digests.contents
  }

  /// Makes the copy again, as after a change of the schema.
  private mutating func renew(_ run: GuildRun) throws {
    try close()
    number += 1
    path = folder + "/follower-\(number).lodestore"
    facts = try run.store.read { try $0.replayFacts() }
    store = try Self.copy(run.store, to: path, facts)
    lists = GuildLists(store)
    (units, digests) = ([], [:])
  }

  mutating func follow(
    _ run: GuildRun, _ numbers: inout SeededNumbers, _ counts: inout ReplayTally
  ) async throws {
    let unit: ReplayUnit
    do {
      unit = try read(run, &numbers)
    } catch let error as ReplayError {
      switch error {
      case .expired, .otherSchema, .otherStore:
        counts.copies += 1
        return try renew(run)
      default: throw error
      }
    }
    units.append(unit)
    counts.steps += unit.steps.count
    (facts.lastWrite, facts.digests) = (unit.end.last, try #require(unit.end.digests))
    if numbers.oneIn(3) { return }
    if numbers.oneIn(3) { try replayPart(&numbers, &counts) }
    if numbers.oneIn(3) { try reopen() }
    if numbers.oneIn(2) { units = ReplayUnit.merged(units) }
    if numbers.oneIn(3) {
      for unit in units { try replay([unit], &counts) }
    } else {
      try replay(units, &counts)
    }
    units = []
    try compare(run)
    try await lists.follow(store)
  }

  /// Reads the changes that the copy does not have.
  private func read(_ run: GuildRun, _ numbers: inout SeededNumbers) throws -> ReplayUnit {
    var request = ReplayRequest(after: facts.lastWrite)
    request.storeID = facts.storeID
    request.schema = facts.schema
    request.digests = facts.digests
    request.isNet = numbers.oneIn(4)
    if numbers.oneIn(2) { request.byteLimit = 200 }
    return try run.store.read { try $0.replayUnit(request) }
  }

  private mutating func reopen() throws {
    store.close()
    store = try Self.open(path)
    lists = GuildLists(store)
  }

  private func replay(_ units: [ReplayUnit], _ counts: inout ReplayTally) throws {
    counts.transactions += 1
    try store.replaying(author: "replica", context: nil) { _ = try $0.replay(units) }
  }

  /// Another copy gets the writes up to one of them, and must have the digests of the store then.
  private mutating func replayPart(
    _ numbers: inout SeededNumbers, _ counts: inout ReplayTally
  ) throws {
    let first = try #require(units.first)
    let known = digests.keys.filter { $0 > first.end.after && $0 < facts.lastWrite }.sorted()
    guard let write = known.randomElement(using: &numbers) else { return }
    var parts: [ReplayUnit] = []
    for unit in units where unit.end.after < write { parts.append(unit.through(write)) }
    guard parts.last?.end.last == write else { return }
    counts.parts += 1
    let path = folder + "/restored.lodestore"
    try store.backup(to: path)
    let restored = try Self.open(path)
    try restored.replaying(author: "replica", context: nil) { _ = try $0.replay(parts) }
    let found = try restored.read { try $0.replayFacts().digests.contents }
    if found != digests[write] {
      throw Disagreement("restored to write \(write), with other digests")
    }
    restored.close()
    try expectSound(path)
    for file in [path, path + "-lock"] { try? FileManager.default.removeItem(atPath: file) }
  }

  private func compare(_ run: GuildRun) throws {
    let own = try store.read { try $0.replayFacts() }
    let theirs = try run.store.read { try $0.replayFacts() }
    let found = try store.read { try GuildState($0) }
    let expected = try run.store.read { try GuildState($0) }
    if found != expected { throw Disagreement("the copy", found, expected) }
    if own.digests != theirs.digests {
      throw Disagreement("the copy has \(own.digests), the store has \(theirs.digests)")
    }
    let (next, expectedNext) = (try Self.nextIDs(of: store), try Self.nextIDs(of: run.store))
    if next != expectedNext {
      throw Disagreement("the next ids of the copy are \(next), not \(expectedNext)")
    }
    try expectSound(store)
  }

  private static func nextIDs(of store: Store) throws -> [String: UInt64] {
    try store.core.read { core in
      try core.schema.entities.reduce(into: [:]) { $0[$1.name] = try core.storedNextID(of: $1) }
    }
  }

  func close() throws {
    store.close()
    try expectSound(path)
  }
}
