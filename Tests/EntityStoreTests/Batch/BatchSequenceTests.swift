import Foundation
import Testing

@testable import EntityStore

/// Sequences of batches of all kinds, compared with the same changes of a dictionary.
@Suite struct `Sequences of batches` {
  private func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number)) }

  private func films(_ numbers: inout SeededNumbers) -> [Film] {
    (0..<numbers.below(1_500)).map { _ in
      let episode = numbers.below(2_000)
      return Film(
        title: "title \(numbers.below(400))", episode: episode,
        code: numbers.oneIn(3) ? nil : "code \(episode)",
        released: numbers.oneIn(4) ? nil : day(numbers.below(300) - 150))
    }
  }

  /// Applies one random batch to the transaction and to the model.
  private func change(
    _ transaction: inout WriteTransaction, _ model: inout [Int: Film],
    _ numbers: inout SeededNumbers
  ) throws {
    let from = numbers.below(300) - 150
    let days = day(from)...day(from + numbers.below(100))
    switch numbers.below(6) {
    case 0:
      try transaction.update(Film.where { $0.released.isIn(days) }) { $0.released = nil }
      for (episode, film) in model where film.released.map(days.contains) == true {
        model[episode]?.released = nil
      }
    case 1:
      // Zero and minus zero are the same date.
      let date = numbers.oneIn(2) ? day(from) : Date(timeIntervalSinceReferenceDate: -0.0)
      try transaction.update(Film.where { $0.episode < from + 500 }) { $0.released = date }
      for episode in model.keys where episode < from + 500 { model[episode]?.released = date }
    case 2:
      try transaction.delete(Film.where { $0.released.isIn(days) })
      model = model.filter { $0.value.released.map(days.contains) != true }
    default:
      let films = films(&numbers)
      try transaction.insert(films, onConflict: .replace)
      for film in films { model[film.episode] = film }
    }
  }

  private func expect(_ store: Store, has model: [Int: Film], _ step: Int) throws {
    let (all, byEpisode, byReleased) = try store.read {
      (
        try $0.fetch(Film.all), try $0.fetch(Film.byEpisode), try $0.fetch(Film.byReleased)
      )
    }
    let found = byEpisode.map { film in
      var film = film
      film.id = .unassigned
      return film
    }
    #expect(found == model.values.sorted { $0.episode < $1.episode }, "step \(step)")
    // The index order is: null first, then by date, and by id if dates are equal.
    let ordered = all.sorted {
      ($0.released ?? .distantPast, $0.id.rawValue) < ($1.released ?? .distantPast, $1.id.rawValue)
    }
    #expect(byReleased.map(\.id) == ordered.map(\.id), "step \(step)")
  }

  @Test(arguments: [2_000, 64 << 10, 512 << 20])
  func `sequences of batches agree with a dictionary, in one part or in many`(memory: Int) throws {
    var numbers = SeededNumbers(salt: 961)
    var options = StoreOptions()
    options.batchMemoryInBytes = memory
    var model: [Int: Film] = [:]
    try withTemporaryStore([Film.self], options: options) { store in
      for step in 0..<24 {
        try store.write { transaction in
          for _ in 0..<numbers.below(3) + 1 { try change(&transaction, &model, &numbers) }
        }
        try expect(store, has: model, step)
      }
    }
    #expect(model.count > 300)
  }

  /// A delete collects 262,144 records at a time.
  @Test func `a delete of more records than one chunk leaves all other records`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        try transaction.insert(
          (0..<264_000).lazy.map {
            Film(title: "", episode: $0, released: $0 % 3 == 0 ? nil : day($0 % 1_000))
          }, returning: .counts)
        try transaction.delete(Film.where { $0.episode >= 1_000 })
      }
      try store.read { snapshot in
        #expect(try snapshot.count(Film.all) == 1_000)
        #expect(try snapshot.count(Film.byReleased, within: .init()) == 1_000)
        let last = try snapshot.fetch(Film.byEpisode).last
        #expect(last?.episode == 999)
      }
    }
  }

  @Test func `batches over records of two layouts move the entries of both layouts`() throws {
    try withTemporaryPath { path in
      let first = try Store(at: path, entities: [PersonV1.self])
      try first.write {
        try $0.insert((0..<2_000).map { PersonV1(name: "old \($0)", age: $0) })
      }
      first.close()
      let store = try Store(at: path, entities: [PersonV2.self])
      try store.write { transaction in
        // Every second record is rewritten in the current layout; the other records have the
        // initial level.
        let people = try transaction.fetch(PersonV2.all)
        for var person in people where person.age % 2 == 0 {
          person.level = 7
          try transaction.update(person)
        }
        try transaction.delete(PersonV2.where { $0.age < 1_000 })
        #expect(try transaction.count(PersonV2.byLevel, within: .init()) == 1_000)
        let count = try transaction.update(PersonV2.where { $0.age < 1_500 }) { $0.level.add(10) }
        #expect(count == 500)
      }
      let levels = try store.read { try $0.fetch(PersonV2.byLevel) }.map(\.level)
      let expected = [3, 7, 13, 17].flatMap { Array(repeating: $0, count: 250) }
      #expect(levels == expected)
      store.close()
      try expectSound(path)
    }
  }
}
