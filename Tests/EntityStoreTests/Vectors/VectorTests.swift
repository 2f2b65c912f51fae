import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore

/// Orders by distance are the same as those of a plain comparison of all vectors.
@Suite struct `The nearest vectors` {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `are those of all vectors after changes of any kind`(salt: UInt64) throws {
    var random = SeededNumbers(salt: salt)
    try withTemporaryStore([Thought.self]) { store in
      try check(store, &random)
      for _ in 0..<10 {
        try store.write { tx in
          switch Int.random(in: 0..<5, using: &random) {
          case 0, 1, 2:
            var added: [Thought] = []
            for _ in 0..<Int.random(in: 1...150, using: &random) {
              added.append(Thought.random(&random))
            }
            try tx.insert(added)
          case 3: try tx.delete(Thought.where { $0.group == Int.random(in: 0..<5, using: &random) })
          default:
            for var changed in try tx.fetch(Thought.where { $0.group == 2 }) {
              changed.embedding = Thought.random(&random).embedding
              if Bool.random(using: &random) { changed.color = Thought.random(&random).color }
              try tx.update(changed)
            }
          }
          // A write sees its own changes.
          let query = Vector.random(&random, 3)
          #expect(
            try tx.fetch(
              Thought.where { $0.color.isNear(query, by: .euclidean) }.sortedByDistance().limit(5)
            ).map(\.id)
              == Array(try tx.fetch(Thought.all).sorted(\.color, query, .euclidean).prefix(5)))
        }
        try check(store, &random)
      }
    }
  }

  private func check(_ store: Store, _ random: inout SeededNumbers) throws {
    let all = try store.fetch(Thought.all)
    for measure in VectorMeasure.allCases {
      let count = Int.random(in: 0...20, using: &random)
      let query = Vector.random(&random, Thought.dimensions)
      guard query.distance(to: query, by: measure) != nil else { continue }
      let near = Thought.where { $0.embedding.isNear(query, by: measure) }.sortedByDistance()
      let expected = all.sorted(\.embedding, query, measure)
      #expect(try store.fetch(near.limit(count)).map(\.id) == Array(expected.prefix(count)))
      #expect(try store.fetch(near).map(\.id) == expected)
      #expect(try store.count(near) == expected.count)
      #expect(
        try store.fetch(near.offset(3).limit(count)).map(\.id)
          == Array(expected.dropFirst(3).prefix(count)))
      #expect(
        try store.fetch(near.where { $0.group == 1 }.limit(count)).map(\.id)
          == Array(all.filter { $0.group == 1 }.sorted(\.embedding, query, measure).prefix(count)))
      // No index finds these records.
      let odd = all.filter { $0.group % 2 == 1 && $0.color != nil }
      #expect(
        try store.fetch(
          near.where(try Condition(format: "group % 2 == 1 AND color != nil")).limit(count)
        )
        .map(\.id) == Array(odd.sorted(\.embedding, query, measure).prefix(count)))
      let color = Vector.random(&random, 3)
      guard color.distance(to: color, by: measure) != nil else { continue }
      let few = Thought.where { $0.color.isNear(color, by: measure, candidates: 5) }
      #expect(
        try store.fetch(few.sortedByDistance().limit(1_000)).map(\.id)
          == all.sorted(\.color, color, measure))
    }
  }

  @Test func `are found by conditions that few records fulfil`() throws {
    var random = SeededNumbers(salt: 4)
    try withTemporaryStore([Thought.self]) { store in
      try store.insert(
        (0..<3_000).map { number in
          var note = Thought.random(&random)
          note.group = number % 100
          return note
        })
      let all = try store.fetch(Thought.all)
      let query = Vector.random(&random, Thought.dimensions)
      // 8 candidates are too few for the condition that only records decide.
      let near = Thought.where { $0.embedding.isNear(query, by: .euclidean, candidates: 8) }
        .sortedByDistance().limit(4)
      for format in ["group == 7", "group < 20", "group % 100 == 7", "group % 50 == 7"] {
        let condition = try Condition<Thought>(format: format)
        let matching = Set(try store.fetch(Thought.where(condition)).map(\.id))
        let expected = all.filter { matching.contains($0.id) }.sorted(
          \.embedding, query, .euclidean)
        let found = try store.fetch(near.where(condition)).map(\.id)
        #expect(found.count == 4)
        #expect(matching.isSuperset(of: found))
        if format == "group == 7" { #expect(found == Array(expected.prefix(4))) }
      }
    }
  }

  @Test func `are mostly among few candidates`() throws {
    var random = SeededNumbers(salt: 5)
    try withTemporaryStore([Thought.self]) { store in
      try store.insert((0..<4_000).map { _ in Thought(Vector.random(&random, Thought.dimensions)) })
      let all = try store.fetch(Thought.all)
      for measure in VectorMeasure.allCases {
        var (right, total) = (0, 0)
        for _ in 0..<20 {
          let query = Vector.random(&random, Thought.dimensions)
          guard query.distance(to: query, by: measure) != nil else { continue }
          total += 10
          let near = Thought.where { $0.embedding.isNear(query, by: measure, candidates: 200) }
          let found = try store.fetch(near.sortedByDistance().limit(10)).map(\.id)
          right +=
            Set(all.sorted(\.embedding, query, measure).prefix(10)).intersection(found).count
        }
        #expect(right * 100 >= total * 95, "\(measure): \(right) of \(total)")
      }
    }
  }

  @Test func `are those of records from before the index`() throws {
    var random = SeededNumbers(salt: 6)
    try withTemporaryPath { file in
      let before = try Store(at: file, entities: [PlainThought.self])
      try before.insert([PlainThought([1, 2]), PlainThought(nil), PlainThought([.nan])])
      try before.insert(
        (0..<500).map { _ in PlainThought(Vector.random(&random, Thought.dimensions)) })
      before.close()
      let store = try Store(at: file, entities: [Thought.self])
      defer { store.close() }
      let query = Vector.random(&random, Thought.dimensions)
      let near = Thought.all.where(.near(query, by: .dotProduct)).sortedByDistance()
      #expect(
        try store.fetch(near.limit(9)).map(\.id)
          == Array(try store.fetch(Thought.all).sorted(\.embedding, query, .dotProduct).prefix(9)))
      #expect(try store.count(near) == 500)
      try expectSound(store)
    }
  }

  @Test func `come in pages`() throws {
    var random = SeededNumbers(salt: 7)
    try withTemporaryStore([Thought.self]) { store in
      try store.insert((0..<100).map { _ in Thought.random(&random) })
      let query = Vector.random(&random, Thought.dimensions)
      let near = Thought.all.where(.near(query, by: .euclidean)).sortedByDistance()
      var found: [Thought.ID] = []
      var token: ContinuationToken?
      repeat {
        let page = try store.page(near.limit(7).continuing(after: token))
        found += page.items.map(\.id)
        token = page.next
      } while token != nil
      #expect(try found == store.fetch(near).map(\.id))
      #expect(found.count > 50)
    }
  }

  @Test func `are explained with the access that finds their records`() throws {
    try withTemporaryStore([Thought.self]) { store in
      try store.insert(
        (0..<40_000).map { number in
          Thought(nil, group: number % 4, color: [1, Float(number), 0.5])
        })
      let near = Thought.where { $0.color.isNear([1, 2, 3], by: .cosine) }.sortedByDistance().limit(
        10)
      let plan = try store.explain(near).description
      #expect(plan.contains("vectors"), "\(plan)")
      #expect(plan.contains("Thought.vector(color)"), "\(plan)")
      #expect(plan.contains("by the distance, the nearest first"), "\(plan)")
      let filtered = try store.explain(near.where { $0.group == 3 }).description
      #expect(filtered.contains("of the records found by"), "\(filtered)")
      #expect(filtered.contains("Thought.group"), "\(filtered)")
    }
  }
}
