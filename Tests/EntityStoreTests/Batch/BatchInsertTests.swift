import Foundation
import Testing

@testable import EntityStore

/// The three forms of batch inserts, compared with inserts one by one.
@Suite struct BatchInsertTests {
  private static let modes: [MergePolicy<Film>] = [
    .ignore, .replace, .patch([\.title]), .patch(),
    .merge { stored, incoming in
      var film = stored
      film.title += "+" + incoming.title
      return film
    },
    .fillNulls, .replace.attribute(\.title, .merge { $0 + "+" + $1 }),
  ]

  private func films(_ numbers: inout SeededNumbers, _ count: Int) -> [Film] {
    (0..<count).map { index in
      let episode = numbers.below(60)
      // Most codes follow from their episode; a few conflict with the codes of other episodes.
      let code = numbers.oneIn(3) ? nil : "code \(numbers.oneIn(12) ? numbers.below(60) : episode)"
      return Film(title: "title \(index % 7)", episode: episode, code: code)
    }
  }

  private func content(_ store: Store) throws -> [Film] {
    try store.read { snapshot in
      try snapshot.fetch(Film.all).map { film in
        var film = film
        film.id = .unassigned
        return film
      }.sorted { $0.episode < $1.episode }
    }
  }

  /// The variable `LODESTORE_BATCH_ROUNDS` sets the number of pairs of stores.
  @Test(arguments: modes.indices)
  func `a batch does what its single inserts do, one after the other`(mode: Int) throws {
    var numbers = SeededNumbers(salt: 910 + UInt64(mode))
    let conflict = Self.modes[mode]
    for _ in 0..<(SeededNumbers.environmentNumber("LODESTORE_BATCH_ROUNDS") ?? 20) {
      try withTemporaryStore([Film.self]) { together in
        try withTemporaryStore([Film.self]) { alone in
          for _ in 0..<4 {
            let batch = films(&numbers, 1 + numbers.below(40))
            let matching: RecordMatching<Film>? = numbers.oneIn(2) ? .unique(\.episode) : nil
            var refusal: StoreError.Code?
            do {
              try alone.write { transaction in
                for film in batch {
                  try transaction.insert(film, onConflict: conflict, matching: matching)
                }
              }
            } catch let error as StoreError {
              refusal = error.code
            }
            do {
              let result = try together.write { transaction in
                try transaction.insert(batch, onConflict: conflict, matching: matching)
              }
              #expect(refusal == nil, "\(SeededNumbers.replay)")
              #expect(result.count == batch.count && result.ids.count == batch.count)
              let found = try together.read { try $0.fetch(result.ids) }
              #expect(found.count == batch.count, "\(SeededNumbers.replay)")
            } catch let error as StoreError {
              #expect(refusal == error.code, "\(error) \(SeededNumbers.replay)")
            }
            #expect(try content(together) == content(alone), "\(SeededNumbers.replay)")
          }
        }
      }
    }
  }

  @Test func `dictionaries give attributes by name, and omitted ones stay or are null`() throws {
    try withTemporaryStore([Film.self]) { store in
      let first = try store.write { transaction in
        try transaction.insert(
          Film.self,
          dictionaries: [
            ["title": "A", "episode": 1, "code": "a"], ["title": "B", "episode": Int16(2)],
          ])
      }
      #expect(first.insertedCount == 2)
      let second = try store.write { transaction in
        try transaction.insert(
          Film.self,
          dictionaries: [
            ["episode": 1, "title": "A2"], ["episode": 2, "code": nil as String?],
            ["episode": 3, "title": "C"],
          ], onConflict: .patch(), returning: .counts)
      }
      #expect(second.updatedCount == 1 && second.unchangedCount == 1 && second.insertedCount == 1)
      #expect(second.ids.isEmpty)
      #expect(
        try content(store) == [
          Film(title: "A2", episode: 1, code: "a"), Film(title: "B", episode: 2),
          Film(title: "C", episode: 3),
        ])
    }
  }

  @Test(
    arguments: [
      (["title": "A", "episodes": 1], "'episodes' is no attribute of it; did you mean 'episode'?"),
      (["title": "A"], "'episode' was not given, and is required"),
      (["title": 7, "episode": 1], "'title' is a required string and was given"),
      (["title": "A", "episode": 1.5], "'episode' is a required int64 and was given"),
      (["title": "A", "episode": "1"], "'episode' is a required int64 and was given a string"),
    ] as [([String: any AttributeValue], String)])
  func `a dictionary that is no record is refused, and its batch has no effect`(
    dictionary: [String: any AttributeValue], reason: String
  ) throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        let error = #expect(throws: StoreError.self) {
          try transaction.insert(
            Film.self, dictionaries: [["title": "x", "episode": 9], dictionary])
        }
        #expect(error?.code == .unstorableValue)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        try transaction.insert(Film(title: "kept", episode: 5))
      }
      #expect(try content(store).map(\.episode) == [5])
    }
  }

  @Test(
    arguments: [
      (["stage": "nowhere"], "'stage' was given a raw value that is no case of Stage"),
      (["optionalStage": "nowhere"], "'optionalStage' was given a raw value that is no case"),
      (["grade": 5], "'grade' was given a raw value that is no case of Grade"),
      (["optionalGrade": Int8(5)], "'optionalGrade' was given a raw value that is no case"),
      (
        ["stage": "draft", "grade": 127, "optionalStage": nil as String?, "optionalGrade": 0],
        "'bool' was not given"
      ),
    ] as [([String: any AttributeValue], String)])
  func `a raw value without a case is refused, because its record would be unreadable`(
    dictionary: [String: any AttributeValue], reason: String
  ) throws {
    try withTemporaryStore([AllTypes.self]) { store in
      try store.write { transaction in
        let error = #expect(throws: StoreError.self) {
          try transaction.insert(AllTypes.self, dictionaries: [dictionary])
        }
        #expect(error?.code == .unstorableValue)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
      }
    }
  }

  @Test func `a closure fills dictionaries until it returns true, and its last call inserts none`()
    throws
  {
    try withTemporaryStore([Film.self]) { store in
      var calls = 0
      let result = try store.write { transaction in
        calls = 0
        return try transaction.insert(Film.self) {
          (row: inout [String: any AttributeValue]) in
          #expect(row.isEmpty)
          row["title"] = "film \(calls)"
          row["episode"] = calls
          calls += 1
          return calls == 5
        }
      }
      #expect(calls == 5 && result.insertedCount == 4)
      #expect(try content(store).map(\.episode) == [0, 1, 2, 3])
    }
  }

  @Test func `a draft sets the assigned attributes, and the others keep their stored values`()
    throws
  {
    try withTemporaryStore([Film.self]) { store in
      let released = Date(timeIntervalSinceReferenceDate: 5)
      try store.write { transaction in
        try transaction.insert(Film(title: "A", episode: 1, code: "a", released: released))
        try transaction.insert(Film(title: "B", episode: 2, code: "b", released: released))
      }
      var episodes = [1, 2, 3].makeIterator()
      let result = try store.write { transaction in
        try transaction.insert(
          Film.self, onConflict: .patch(), matching: .unique(\.episode)
        ) { draft in
          guard let episode = episodes.next() else { return true }
          #expect(draft.episode == nil && draft.title == nil)
          draft.episode = episode
          #expect(draft.episode == episode)
          switch episode {
          case 1: draft.code = "changed"
          case 2: draft.released = nil
          default: draft.title = "C"
          }
          return false
        }
      }
      #expect(result.updatedCount == 2 && result.insertedCount == 1)
      #expect(
        try content(store) == [
          Film(title: "A", episode: 1, code: "changed", released: released),
          Film(title: "B", episode: 2, code: "b"), Film(title: "C", episode: 3),
        ])
    }
  }

  @Test func `a new record of a draft needs its required attributes, unlike a patched record`()
    throws
  {
    try withTemporaryStore([Film.self]) { store in
      try store.write { try $0.insert(Film(title: "A", episode: 1)) }
      func patch(_ episode: Int) throws {
        var isDone = false
        _ = try store.write { transaction in
          isDone = false
          return try transaction.insert(Film.self, onConflict: .patch()) { draft in
            defer { isDone = true }
            draft.episode = episode
            draft.code = "code \(episode)"
            return isDone
          }
        }
      }
      try patch(1)
      let error = #expect(throws: StoreError.self) { try patch(2) }
      #expect(error?.code == .unstorableValue && error?.attribute == "title")
      #expect(
        error?.message
          == "cannot insert a Film: 'title' was not given, and is required (value 1 of the batch)")
      #expect(try content(store) == [Film(title: "A", episode: 1, code: "code 1")])
    }
  }

  @Test func `a sequence may expect more values than it has`() throws {
    struct Promising: Sequence, IteratorProtocol {
      var films: ArraySlice<Film>
      var underestimatedCount: Int { .max }
      mutating func next() -> Film? { films.popFirst() }
    }
    try withTemporaryStore([Film.self]) { store in
      let films = (0..<3).map { Film(title: "t", episode: $0) }
      let result = try store.write { transaction in
        try transaction.insert(Promising(films: films[...]))
      }
      #expect(result.insertedCount == 3 && result.ids.count == 3)
    }
  }

  @Test func `a merge of two records may have another key if no other record holds the key`() throws
  {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        try transaction.insert(
          (0..<4).map { Film(title: "", episode: $0, code: "\($0)") })
      }
      let moved = MergePolicy<Film>.merge { stored, incoming in
        var film = stored
        film.code = incoming.title
        return film
      }
      try store.write { transaction in
        try transaction.insert(
          [Film(title: "x", episode: 0), Film(title: "y", episode: 1)],
          onConflict: moved)
      }
      #expect(try content(store).map(\.code) == ["x", "y", "2", "3"])
      let error = #expect(throws: StoreError.self) {
        try store.write { transaction in
          try transaction.insert(
            [Film(title: "3", episode: 2)], onConflict: moved)
        }
      }
      #expect(error?.code == .uniqueViolation)
      #expect(try content(store).map(\.code) == ["x", "y", "2", "3"])
    }
  }

  @Test func `work in chunks is committed chunk by chunk, and can be cancelled between chunks`()
    async throws
  {
    try await withTemporaryStore([Film.self]) { store in
      let films = (0..<1_000).map { Film(title: "t\($0 % 3)", episode: $0) }
      let inserted = try await store.insert(films, inChunksOf: 64)
      #expect(inserted.insertedCount == 1_000)
      let query = Film.where { $0.title == "t1" }.sorted(by: \.episode.descending)
      let updated = try await store.update(query, inChunksOf: 50) {
        $0.set(\.code, format: "CAST(episode, 'NSString')")
      }
      #expect(updated == 333)
      let task = Task {
        try await store.delete(query.limit(300), inChunksOf: 100) { progress in
          #expect(progress.total == 300)
          if progress.completed == 200 { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
      _ = await task.result
      let left = try await store.read { try $0.count(Film.where { $0.title == "t1" }) }
      #expect(left == 33 || left == 133, "\(left)")
      let rest = try await store.read { try $0.count(Film.all) }
      #expect(rest == 667 + left)
      await #expect(throws: StoreError.self) {
        try await store.delete(Film.all, inChunksOf: 0)
      }
    }
  }

  // MARK: Errors

  @Test func `an error names the refused value, and each broken rule`() throws {
    try withTemporaryStore([Film.self, Review.self]) { store in
      try store.insert(Film(title: "a", episode: 1, code: "x"))
      let films = [2, 3, 1, 4].map { Film(title: "b", episode: $0) }
      let held = try storeError(.uniqueViolation) { try store.insert(films) }
      #expect(held.batchPosition == 2 && held.recordID == 1)
      #expect(held.message.hasSuffix("(value 3 of the batch)"))
      let repeated = try storeError(.uniqueViolation) {
        try store.insert([5, 6, 7, 6].map { Film(title: "b", episode: $0) })
      }
      #expect(repeated.batchPosition == 3)
      #expect(repeated.message.contains("the values 2 and 4 of the batch"))
      #expect(repeated.debugDescription.contains("6"))
      // A batch with little memory is merged in parts, and positions in messages count over all
      // parts.
      for mode in Self.modes {
        let ambiguous = try storeError(.uniqueViolation) {
          try store.insert(
            [Film(title: "b", episode: 8), Film(title: "c", episode: 9, code: "x")],
            onConflict: mode)
        }
        #expect(ambiguous.batchPosition == 1 && ambiguous.debugDescription.contains("9"))
      }
      let broken = try storeError(.invalidValue) {
        try store.insert([
          Review(slug: "a", stars: 1), Review(slug: "b", stars: 99), Review(slug: "c", stars: 98),
        ])
      }
      #expect(broken.batchPosition == 1)
      #expect(broken.violations.map(\.batchPosition) == [1, 2])
      #expect(Set(broken.violations.map(\.description)).count == 2)
      let lacking = try storeError(.unstorableValue) {
        try store.write {
          _ = try $0.insert(
            Film.self, dictionaries: [["title": "a", "episode": 20], ["title": "b"]])
        }
      }
      #expect(lacking.batchPosition == 1 && lacking.attribute == "episode")
      let stored = try storeError(.invalidID) {
        try store.insert([Film(title: "n", episode: 30)] + store.fetch(Film.all))
      }
      #expect(stored.batchPosition == 1)
      #expect(try store.count(Film.all) == 1)
    }
  }

  @Test func `an error of a chunk counts the values of all chunks`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      let films = [1, 2, 3, 4, 3].map { Film(title: "a", episode: $0) }
      let error = await #expect(throws: StoreError.self) {
        try await store.insert(films, inChunksOf: 2)
      }
      #expect(error?.batchPosition == 4)
      #expect(error?.message.hasSuffix("(value 5 of the batch)") == true)
    }
  }
}
