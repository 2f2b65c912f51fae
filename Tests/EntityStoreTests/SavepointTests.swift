import EntityStore
import Foundation
import Testing

@Suite struct `Savepoints` {
  private struct Refusal: Error, Equatable { var number = 0 }

  @Test func `a failed savepoint undoes only its changes, and passes its error on`() throws {
    try withTemporaryStore([Film.self]) { store in
      let caught = try store.write { tx in
        try tx.insert(Film(title: "before", episode: 1))
        let caught = #expect(throws: Refusal.self) {
          try tx.savepoint { inner in
            try inner.insert(Film(title: "undone", episode: 2))
            try inner.update(Film.all) { $0.title = "undone" }
            try inner.put("undone", for: "key", in: "bucket")
            throw Refusal(number: 7)
          }
        }
        try tx.insert(Film(title: "after", episode: 3))
        return caught
      }
      #expect(caught == Refusal(number: 7))
      let films = try store.read { try $0.fetch(Film.all) }
      #expect(films.map(\.title) == ["before", "after"])
      #expect(try store.read { try $0.value(String.self, for: "key", in: "bucket") } == nil)
    }
  }

  @Test func `a batch that would end a transaction ends its savepoint`() throws {
    try withTemporaryStore([AllTypes.self, Film.self]) { store in
      try store.write { try $0.insert([AllTypes(int16: 9, int: 1), AllTypes(int16: 9, int: 2)]) }
      try store.write { tx in
        let error = #expect(throws: StoreError.self) {
          try tx.savepoint { try $0.update(AllTypes.all) { $0.int16.multiply(by: 9_999) } }
        }
        #expect(error?.code == .unstorableValue)
        try tx.insert(Film(title: "kept", episode: 1))
      }
      #expect(try store.count(Film.all) == 1)
      #expect(try store.count(AllTypes.where { $0.int16 == 9 }) == 2)
    }
  }

  @Test func `a savepoint that fails before its first change costs no second run`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.insert(Film(title: "first", episode: 1))
      var runCount = 0
      try store.write { tx in
        runCount += 1
        try tx.insert(Film(title: "kept", episode: 2))
        for _ in 0..<100 {
          let error = #expect(throws: StoreError.self) {
            try tx.savepoint { try $0.insert(Film(title: "refused", episode: 1)) }
          }
          #expect(error?.code == .uniqueViolation)
        }
      }
      #expect(runCount == 1)
      #expect(try store.count(Film.all) == 2)
    }
  }

  @Test func `sinks hear of each remaining change of a savepoint once`() throws {
    try withTemporaryStore([Film.self]) { store in
      let recording = ChangeRecording([])
      recording.listen(to: store)
      try store.write { tx in
        try tx.insert(Film(title: "a", episode: 1))
        _ = try? tx.savepoint { inner in
          try inner.insert(Film(title: "b", episode: 2))
          throw Refusal()
        }
        try tx.insert(Film(title: "c", episode: 3))
      }
      #expect(recording.changes.map(\.id) == [1, 2])
      #expect(recording.committed.count == 1)
    }
  }

  @Test func `a savepoint that changed only links takes them back, with all derived attributes`()
    throws
  {
    var options = StoreOptions()
    options.history = .changes
    try withTemporaryStore(Library.entities, options: options) { store in
      let (books, shelf) = try store.write { tx throws in
        let books = Array(try tx.insert((1...3).map { Book(title: "\($0)") }).ids)
        let shelf = try tx.insert(Shelf(name: "S")).id
        try tx.add([books[0]], to: Shelf.books, of: shelf)
        return (books, shelf)
      }
      let told = try store.history().count
      try store.write { tx throws in
        let changes: [(inout WriteTransaction) throws -> Void] = [
          { try $0.add([books[1], books[2]], to: Shelf.books, of: shelf) },
          { try $0.remove([books[0]], from: Shelf.books, of: shelf) },
        ]
        for change in changes {
          #expect(throws: Refusal.self) {
            try tx.savepoint { inner throws in
              try change(&inner)
              throw Refusal()
            }
          }
        }
      }
      try store.read { snapshot throws in
        #expect(try snapshot.relatedIDs(Shelf.books, of: shelf) == [books[0]])
        #expect(try snapshot.fetch(shelf)?.pageTotal == 100)
        #expect(try snapshot.fetch(books[1])?.shelfCount == 0)
      }
      #expect(try store.history().count == told)
    }
  }

  @Test func `asynchronous writes of one commit have separate savepoints`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for task in 0..<64 {
          group.addTask {
            try await store.write { tx in
              try tx.insert(Film(title: "\(task)", episode: task * 10))
              var failed = 0
              for part in 1...3 {
                do {
                  try tx.savepoint { inner in
                    try inner.insert(Film(title: "\(task)", episode: task * 10 + part))
                    if (task + part) % 3 == 0 { throw Refusal() }
                  }
                } catch is Refusal {
                  failed += 1
                }
              }
              return failed
            }
          }
        }
        for try await failed in group { #expect(failed == 1) }
      }
      let episodes = try await store.fetch(Film.all.sorted(by: \.episode)).map(\.episode)
      let expected = (0..<64).flatMap { task in
        (0...3).filter { $0 == 0 || (task + $0) % 3 != 0 }.map { task * 10 + $0 }
      }
      #expect(episodes == expected)
    }
  }

  @Test func `nested savepoints, some of which fail, agree with a dictionary`() throws {
    var numbers = SeededNumbers(salt: 0x5a7e)
    try withTemporaryStore([Film.self]) { store in
      var model: [Int: String] = [:]
      for _ in 0..<60 {
        let plan = Plan(&numbers, depth: 0)
        let result = try store.write { tx -> [Int: String] in
          var state = model
          try? plan.run(in: &tx, &state)
          return state
        }
        model = result
        let stored = try store.read { try $0.fetch(Film.all) }
        #expect(
          Dictionary(uniqueKeysWithValues: stored.map { ($0.episode, $0.title) }) == model,
          "\(SeededNumbers.replay)")
      }
    }
  }

  /// Steps of a savepoint: its changes, the savepoints inside it, and whether it fails.
  private struct Plan {
    enum Step {
      case put(Int, String)
      case remove(Int)
      case inner(Plan)
    }

    var steps: [Step] = []
    var fails: Bool

    init(_ numbers: inout SeededNumbers, depth: Int) {
      fails = depth > 0 && numbers.oneIn(3)
      for _ in 0..<numbers.below(8) {
        switch numbers.below(depth < 3 ? 4 : 3) {
        case 0, 1: steps.append(.put(numbers.below(20), "title \(numbers.below(1_000))"))
        case 2: steps.append(.remove(numbers.below(20)))
        default: steps.append(.inner(Plan(&numbers, depth: depth + 1)))
        }
      }
    }

    func run(in tx: inout WriteTransaction, _ state: inout [Int: String]) throws {
      for step in steps {
        switch step {
        case .put(let episode, let title):
          if var film = try tx.first(Film.where { $0.episode == episode }) {
            film.title = title
            try tx.update(film)
          } else {
            try tx.insert(Film(title: title, episode: episode))
          }
          state[episode] = title
        case .remove(let episode):
          try tx.delete(Film.where { $0.episode == episode })
          state[episode] = nil
        case .inner(let plan):
          let before = state
          do {
            var inside = state
            try tx.savepoint { try plan.run(in: &$0, &inside) }
            state = inside
          } catch is Refusal {
            state = before
          }
        }
      }
      if fails { throw Refusal() }
    }
  }
}
