import Foundation
import Testing

@testable import EntityStore

/// One process writes, and others follow it: by live results, and by the history from a stored
/// token.
@Suite(.serialized) struct `Consumers in other processes` {
  /// The variable `LODESTORE_CONSUMER_SECONDS` sets the duration; from 60 seconds on there are
  /// eight consumers.
  @Test func `consumers miss no change and take none twice, killed again and again`() async throws {
    let seconds = SeededNumbers.environmentNumber("LODESTORE_CONSUMER_SECONDS") ?? 5
    let count = seconds >= 60 ? 8 : 3
    let folder = try TemporaryFolder(isOnDisk: true)
    let path = folder.storePath
    try Store(at: path, entities: [Clause.self]).close()
    let copies = (0..<count).map { folder.path + "/copy-\($0).lodestore" }
    let end = Date(timeIntervalSinceNow: Double(seconds))
    let kills = try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        await #expect(processExitsWith: .success) {
          [path = path as String, end = end as Date] in
          try await Copying.write(at: path, until: end)
        }
        return 0
      }
      for (number, copy) in copies.enumerated() {
        group.addTask {
          var numbers = SeededNumbers(salt: 9_000 + UInt64(number))
          var kills = 0
          while Date() < end {
            let life = seconds * 10 + numbers.below(seconds * 110)
            await #expect(processExitsWith: .signal(SIGKILL)) {
              [path = path as String, copy = copy as String, life = life as Int] in
              Thread.detachNewThread {
                usleep(UInt32(life * 1_000))
                kill(getpid(), SIGKILL)
              }
              try await Copying.follow(path, into: copy)
              while true { sleep(1) }
            }
            kills += 1
          }
          await #expect(processExitsWith: .success) {
            [path = path as String, copy = copy as String] in
            try await Copying.follow(path, into: copy)
          }
          return kills
        }
      }
      return try await group.reduce(0, +)
    }
    let store = try Store(at: path, entities: [Clause.self])
    let clauses = try await store.fetch(Clause.all.sorted(by: \.name))
    let writes = try store.historyToken().number
    store.close()
    for copy in copies {
      let store = try Store(at: copy, entities: Copying.entities, options: .history(.off))
      #expect(try Copying.values(store) == clauses.map(Copying.Value.init))
      let taken = try await store.fetch(Film.all.sorted(by: \.episode)).map(\.episode)
      #expect(taken == (1...Int(writes)).map { $0 }, "\(SeededNumbers.replay)")
      store.close()
      try expectSound(copy)
    }
    print("\(count) consumers took \(writes) writes each in \(seconds) s, killed \(kills) times")
    try expectSound(path)
  }

  @Test func `consumers hear of commits, also without notifications of the system`() async throws {
    for isSilent in [false, true] {
      let folder = try TemporaryFolder()
      let path = folder.storePath
      let store = try Store(at: path, entities: [Clause.self])
      let updates = Turner(store.updates(of: Clause.all.sorted(by: \.name)))
      #expect(try await within { try await updates.next()?.items.isEmpty } == true)
      if isSilent { store.observations.silence() }
      await #expect(processExitsWith: .success) { [path = path as String] in
        let store = try Store(at: path, entities: [Clause.self])
        for number in 0..<20 {
          try await store.insert(Clause(name: "c\(number)"))
          usleep(20_000)
        }
        store.close()
      }
      var names: [String] = []
      while names.count < 20 {
        let update = try await within { try await updates.next() }
        let items = try #require(update).items
        #expect(items.count > names.count)
        names = items.map(\.name)
      }
      #expect(Set(names) == Set((0..<20).map { "c\($0)" }))
      store.close()
      try expectSound(path)
    }
  }
}

/// A store, and copies of it that follow its history.
private enum Copying {
  static let last = "the last"
  static let entities: [any Entity.Type] = [Clause.self, Film.self]

  struct Value: Equatable {
    var name: String
    var text: String
    var weight: Int?

    init(_ clause: Clause) {
      name = clause.name
      text = clause.text
      weight = clause.weight
    }
  }

  static func values(_ store: Store) throws -> [Value] {
    try store.fetch(Clause.all.sorted(by: \.name)).map(Value.init)
  }

  static func write(at path: String, until end: Date) async throws {
    let store = try Store(at: path, entities: [Clause.self])
    var numbers = SeededNumbers(salt: 8_999)
    var next = 0
    while Date() < end {
      let drawn = (0..<3).map { _ in numbers.below(1_000) }
      switch numbers.below(6) {
      case 0:
        // Writes that share a commit.
        let names = (next..<next + 3).map { "c\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for name in names { group.addTask { try await store.insert(Clause(name: name)) } }
          try await group.waitForAll()
        }
      case 1: try await store.insert((next..<next + 3).map { Clause(name: "c\($0)") })
      case 2:
        let weight = numbers.below(9)
        try await store.update(Clause.where { $0.weight == nil }.limit(4)) { $0.weight = weight }
      case 3:
        let weight = numbers.below(9)
        try await store.delete(Clause.where { $0.weight == weight })
      default:
        try await store.write { tx in
          let ids = try tx.ids(Clause.all)
          for number in drawn where !ids.isEmpty {
            try tx.modify(ids[number % ids.count]) { $0.text = "t\(number)" }
          }
        }
      }
      next += 3
      usleep(UInt32(numbers.below(8_000)))
    }
    try await store.insert(Clause(name: last))
    store.close()
  }

  /// Follows the source until the copy has the last clause.
  static func follow(_ path: String, into copy: String) async throws {
    let source = try Store(at: path, entities: [Clause.self], options: .readOnly)
    let store = try Store(at: copy, entities: entities, options: .history(.off))
    for try await update in source.updates(of: Clause.all.sorted(by: \.name)) {
      let listed = update.items.map(Value.init)
      try catchUp(source, store, listed, of: update.commitNumber)
      if listed.contains(where: { $0.name == last }) { return }
    }
    preconditionFailure("the updates have ended")
  }

  /// Applies the writes since the position in the history that the copy has stored.
  private static func catchUp(
    _ source: Store, _ store: Store, _ listed: [Value], of commit: CommitNumber
  ) throws {
    try source.read { snapshot in
      let newest = Film.all.sorted(by: \.episode.descending)
      let token = try store.read { try $0.first(newest) }.map {
        try JSONDecoder().decode(HistoryToken.self, from: Data($0.title.utf8))
      }
      for write in try snapshot.history(.after(token)) {
        try take(write, snapshot, into: store)
      }
      guard snapshot.commitNumber == commit else { return }
      let copied = try values(store)
      precondition(copied == listed, "the list is not what the history says")
    }
  }

  /// Applies one write to the copy, and stores the position after it, in one transaction.
  private static func take(
    _ write: HistoryWrite, _ snapshot: borrowing Snapshot, into store: Store
  ) throws {
    var deleted: [String] = []
    var saved: [(Clause, isNew: Bool)] = []
    for change in write.changes {
      if change.kind == .deleted {
        guard let name = try snapshot.preserved(\Clause.Attributes.name, of: change) else {
          preconditionFailure("a deleted clause has no name")
        }
        deleted.append(name)
      } else if var clause = try snapshot.value(after: change, as: Clause.self) {
        clause.id = Clause.ID()
        saved.append((clause, change.kind == .inserted))
      } else {
        preconditionFailure("a clause has no value")
      }
    }
    let title = String(decoding: try JSONEncoder().encode(write.token), as: UTF8.self)
    try store.write { tx in
      let number = Int(write.token.number)
      let count = try tx.count(Film.all)
      precondition(number == count + 1, "write \(number) was taken behind \(count)")
      try tx.insert(Film(title: title, episode: number))
      for name in deleted {
        let count = try tx.delete(Clause.where { $0.name == name })
        precondition(count == 1)
      }
      for (clause, isNew) in saved {
        if isNew {
          try tx.insert(clause)
        } else {
          let (text, weight, name) = (clause.text, clause.weight, clause.name)
          let count = try tx.update(Clause.where { $0.name == name }) {
            $0.text = text
            $0.weight = weight
          }
          precondition(count == 1)
        }
      }
    }
  }
}
