import Foundation
import LMDB
import LodestoreFormat
import LodestoreVerifier
import Testing

@testable import EntityStore

@Suite struct `Lists of vectors` {
  private let limit = 300

  private func options(limit: Int? = nil) -> StoreOptions {
    var options = StoreOptions()
    options.mostVectorsWithoutLists = limit ?? self.limit
    return options
  }

  /// Runs a body with a store whose vectors were there before their indexes.
  private func withLists(
    _ vectors: [Vector?], _ body: (Store) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let before = try Store(at: path, entities: [PlainThought.self])
      try before.insert(vectors.map { PlainThought($0) })
      before.close()
      let store = try Store(at: path, entities: [Thought.self], options: options())
      defer { store.close() }
      #expect(try groupCount(store) > 0)
      try body(store)
    }
  }

  /// The number of groups of the index on embeddings; 0 without lists.
  private func groupCount(_ store: Store) throws -> Int {
    var count = 0
    try store.core.write { core in
      let index = try #require(try core.entity(named: "Thought").vectorIndexes.first)
      count = try VectorLists(of: index, in: core.transaction)?.groups.count ?? 0
    }
    return count
  }

  private func near(
    _ query: Vector, _ measure: VectorMeasure = .euclidean, candidates: Int? = nil
  ) -> Query<Thought> {
    Thought.where { $0.embedding.isNear(query, by: measure, candidates: candidates) }
      .sortedByDistance()
  }

  /// A long vector, of which those of zeros, whose distances are equal, are not the nearest.
  private func vectors(_ count: Int, _ random: inout SeededNumbers) -> [Vector?] {
    (0..<count).map { $0 % 9 == 0 ? nil : Vector.random(&random, Thought.dimensions) }
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `have all vectors after changes of any kind`(salt: UInt64) throws {
    var random = SeededNumbers(salt: 7_100 + salt)
    try withLists(vectors(500, &random)) { store in
      for _ in 0..<8 {
        try store.write { tx in
          switch Int.random(in: 0..<4, using: &random) {
          case 0: try tx.insert((0..<60).map { _ in Thought.random(&random) })
          case 1:
            let id = UInt64.random(in: 1...500, using: &random)
            try tx.delete(Thought.where { $0.id.isIn((id..<id + 20).map(Thought.ID.init)) })
          default:
            for var one in try tx.fetch(Thought.all)
            where Int.random(in: 0..<9, using: &random) == 0 {
              // The second change begins with the first one.
              for _ in 0..<2 {
                one.embedding = Thought.random(&random).embedding
                one.group = Int.random(in: 0..<5, using: &random)
                try tx.update(one)
              }
            }
          }
        }
        try expectSound(store)
        let all = try store.fetch(Thought.all)
        for measure in VectorMeasure.allCases {
          let query = Thought.sought(&random)
          let expected = all.sorted(\.embedding, query, measure)
          // With 16,000 candidates all lists are read.
          #expect(
            try store.fetch(near(query, measure, candidates: 16_000).limit(20)).map(\.id)
              == Array(expected.prefix(20)))
          #expect(try store.fetch(near(query, measure)).map(\.id) == expected)
          #expect(try store.count(near(query, measure)) == expected.count)
          let group = all.filter { $0.group == 1 }
          #expect(
            try store.fetch(near(query, measure).where { $0.group == 1 }.limit(9)).map(\.id)
              == Array(group.sorted(\.embedding, query, measure).prefix(9)))
        }
      }
    }
  }

  @Test func `are made and renewed when a store opens that has outgrown them`() throws {
    var random = SeededNumbers(salt: 7_110)
    try withTemporaryPath { path in
      func grow(by count: Int) throws -> Int {
        let store = try Store(at: path, entities: [Thought.self], options: options())
        defer { store.close() }
        let groups = try groupCount(store)
        try expectSound(store)
        try store.insert((0..<count).map { _ in Thought(.random(&random, Thought.dimensions)) })
        return groups
      }
      #expect(try grow(by: limit) == 0)
      #expect(try grow(by: 1) == 0)
      #expect(try grow(by: 700) == 4)
      #expect(try grow(by: 30) == 4)
      #expect(try grow(by: 0) == 5)
      // Other programs keep the lists, also with another limit.
      let other = try Store(at: path, entities: [Thought.self])
      defer { other.close() }
      #expect(try groupCount(other) == 5)
      try other.delete(Thought.where { $0.id < Thought.ID(rawValue: 900) })
      try expectSound(other)
    }
  }

  @Test func `that have more vectors of near ids than a block follow changes between them`() throws
  {
    let base = (0..<Thought.dimensions).map { Float($0 % 7) - 3 }
    func similar(_ length: Float) -> Vector { Vector(base.map { $0 * length }) }
    let span = VectorForm(dimensions: Thought.dimensions).span(.listedSigns)
    let count = 3 * span + 2
    let other = Vector(base.map { -$0 })
    try withLists((0..<count).map { $0 == 0 ? other : similar(Float($0)) }) { store in
      func set(_ id: UInt64, _ vector: Vector?) throws {
        try store.write { tx in
          var one = try #require(try tx.fetch(Thought.ID(rawValue: id)))
          one.embedding = vector
          try tx.update(one)
        }
        try expectSound(store)
      }
      // The first block loses a vector, and the last block all of its vectors.
      try set(2, nil)
      try set(span, other)
      try set(2 * span + 5, similar(0.5))
      try set(1, similar(0.25))
      try set(2, similar(0.125))
      try store.delete(Thought.where { $0.id > Thought.ID(rawValue: span / 2) })
      try expectSound(store)
      let found = try store.fetch(near(similar(0.2), .euclidean).limit(2))
      #expect(found.map(\.id.rawValue) == [1, 2])
    }
  }

  @Test func `of a part of the vectors have most of the nearest`() throws {
    var random = SeededNumbers(salt: 7_120)
    try withLists((0..<3_000).map { _ in .random(&random, Thought.dimensions) }) { store in
      let all = try store.fetch(Thought.all)
      var right = 0
      var read = 0
      for _ in 0..<20 {
        let query = Thought.sought(&random)
        let few = near(query, candidates: 300).limit(10)
        let found = try store.fetch(few).map(\.id)
        right +=
          Set(all.sorted(\.embedding, query, .euclidean).prefix(10)).intersection(found).count
        try store.core.read { core in
          let entity = try core.entity(named: "Thought")
          let index = try #require(entity.vectorIndexes.first)
          let bound = BoundVector(index, query, .euclidean, candidates: 300, subject: "SELF")
          let search = try VectorSearch(bound, in: core.transaction)
          _ = try search.candidates(300, among: nil, of: all.count)
          read += search.codesRead
        }
      }
      #expect(right >= 190)
      #expect(read < 20 * 1_000)
    }
  }

  @Test func `are read for conditions that many records fulfil`() throws {
    var random = SeededNumbers(salt: 7_130)
    try withLists((0..<800).map { _ in .random(&random, Thought.dimensions) }) { store in
      try store.update(Thought.where { $0.id <= Thought.ID(rawValue: 300) }) { $0.group = 3 }
      let query = Thought.sought(&random)
      let matching = try store.fetch(Thought.where { $0.group == 3 })
      // 8 candidates are so few that levels of all 300 records are not read.
      let found = try store.fetch(near(query, candidates: 8).where { $0.group == 3 }.limit(4))
      #expect(found.count == 4 && found.allSatisfy { $0.group == 3 })
      #expect(
        try store.fetch(near(query).where { $0.group == 3 }.limit(6)).map(\.id)
          == Array(matching.sorted(\.embedding, query, .euclidean).prefix(6)))
    }
  }

  @Test(arguments: 0..<6)
  func `of equal vectors, of zeros and of extreme lengths have all vectors`(kind: Int) throws {
    var random = SeededNumbers(salt: 7_150 + UInt64(kind))
    let zeros = Vector(Array(repeating: 0, count: Thought.dimensions))
    let one = Vector.random(&random, Thought.dimensions)
    func scaled(_ factor: Float) -> Vector { Vector(one.values.map { $0 * factor }) }
    let vectors = (0..<360).map { number in
      switch kind {
      case 0: zeros
      case 1: one
      case 2: number == 180 ? one : zeros
      case 3: scaled(number % 2 == 0 ? 1 : -1)
      case 4: scaled([1e37, .leastNonzeroMagnitude, 1, -1e-38, 0][number % 5])
      default: scaled(Float(number % 3) - 1)
      }
    }
    try withLists(vectors) { store in
      try expectSound(store)
      func expectAll() throws {
        let all = try store.fetch(Thought.all)
        let found = try store.fetch(near(one, .dotProduct, candidates: 16_000).limit(2_000))
        #expect(Set(found.map(\.id)) == Set(all.filter { $0.embedding != nil }.map(\.id)))
      }
      try expectAll()
      // Each vector moves twice in one write, and a part of them returns to where it was.
      try store.write { tx in
        for step in 0..<2 {
          for var thought in try tx.fetch(Thought.all) where thought.id.rawValue % 2 == 0 {
            let isBack = step == 1 && thought.id.rawValue % 4 == 0
            thought.embedding =
              isBack
              ? vectors[Int(thought.id.rawValue) - 1] : Vector.random(&random, Thought.dimensions)
            try tx.update(thought)
          }
          _ = try tx.fetch(near(one).limit(3))
        }
      }
      try expectSound(store)
      try expectAll()
      try store.delete(Thought.all)
      try expectSound(store)
      try store.insert(vectors.prefix(50).map { Thought($0) })
      try expectSound(store)
      try expectAll()
    }
  }

  @Test func `are in copies and sealed files`() throws {
    var random = SeededNumbers(salt: 7_160)
    let folder = try TemporaryFolder()
    let (sealed, copy) = (folder.path + "/sealed.lodestore", folder.path + "/copy.lodestore")
    try withLists(vectors(500, &random)) { store in
      try store.seal(to: sealed, name: "thoughts", generation: 1, dataAsOf: Date())
      try store.copyUnsealed(to: copy)
    }
    for path in [sealed, copy] {
      try expectSound(path)
      let store = try Store(at: path, entities: [Thought.self])
      defer { store.close() }
      let all = try store.fetch(Thought.all)
      let query = Thought.sought(&random)
      #expect(
        try store.fetch(near(query, candidates: 16_000).limit(20)).map(\.id)
          == Array(all.sorted(\.embedding, query, .euclidean).prefix(20)))
      if path == sealed { continue }
      let needed = try store.core.read { core in
        try Catalogue.requirement(core.store.trees.header, in: core.transaction)
      }
      #expect(needed == FormatRequirement(reader: .building, writer: .building))
      try store.delete(Thought.where { $0.id < Thought.ID(rawValue: 250) })
    }
    try expectSound(copy)
  }

  @Test func `as damaged blocks are errors of the index`() throws {
    var random = SeededNumbers(salt: 7_140)
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Thought.self], options: options())
    try store.insert((0..<10).map { _ in Thought.random(&random) })
    let form = VectorForm(dimensions: Thought.dimensions)
    var block = VectorBlockBuilder()
    let code = VectorEncoder(dimensions: Thought.dimensions).code(of: [1])
    for offset in [0, 2] as [UInt16] { block.append(code, at: offset, .groups, of: form) }
    for (part, body) in [(VectorForm.Part.groups, block.bytes), (.groups, [1]), (.lists, [])] {
      try store.core.write { core in
        let index = try #require(try core.entity(named: "Thought").vectorIndexes.first)
        try core.writing.put(VectorForm.key(part, 0), body, in: index.entries.tree)
        let query = BoundVector(
          index, .random(&random, Thought.dimensions), .dotProduct, candidates: 9, subject: "SELF")
        _ = try storeError(.damaged) { try VectorSearch(query, in: core.transaction) }
      }
    }
    store.close()
    #expect(try Verifier.verify(path: folder.storePath).findingCount > 0)
  }

  @Test(arguments: 0..<3)
  func `of any bytes are read or refused`(seed: UInt64) throws {
    struct Undone: Error {}
    var random = SeededNumbers(salt: 7_170 + seed)
    try withLists(vectors(400, &random)) { store in
      for _ in 0..<60 {
        #expect(throws: Undone.self) {
          try store.core.write { core in
            let entity = try core.entity(named: "Thought")
            let tree = try #require(entity.vectorIndexes.first).entries.tree
            var pairs: [(key: [UInt8], body: [UInt8])] = []
            let cursor = try Cursor(tree, in: core.transaction)
            var isFound = try cursor.first()
            while isFound {
              pairs.append((Array(cursor.key), Array(cursor.value)))
              isFound = try cursor.next()
            }
            for _ in 0..<3 {
              var (key, body) = try #require(pairs.randomElement(using: &random))
              for _ in 0..<random.below(3) {
                key[random.below(key.count)] = [0, 1, 2, 3, 4, 5, 127, 255][random.below(8)]
              }
              for _ in 0..<random.below(12) {
                body[body.count - 1 - random.below(body.count)] = UInt8(random.below(256))
              }
              if random.below(4) == 0 { key += [UInt8](repeating: 255, count: random.below(3)) }
              if random.below(4) == 0 { body.removeLast(random.below(body.count)) }
              if random.below(4) == 0 { key.removeLast(random.below(key.count)) }
              try core.writing.put(key, body, in: tree)
            }
            var tx = WriteTransaction(core: core)
            do {
              for query in [
                near(Thought.sought(&random)).limit(5),
                near(Thought.sought(&random), candidates: 20),
              ] {
                _ = try tx.fetch(query.limit(7))
              }
              for id in [1, 5, 300] as [UInt64] {
                guard var one = try tx.fetch(Thought.ID(rawValue: id)) else { continue }
                one.embedding = .random(&random, Thought.dimensions)
                try tx.update(one)
              }
              _ = try tx.fetch(near(Thought.sought(&random)).limit(5))
            } catch let error as StoreError {
              #expect([.damaged, .brokenTransaction].contains(error.code), "\(error)")
            }
            throw Undone()
          }
        }
      }
      try expectSound(store)
    }
  }

  @Test func `of as many runs as numbers of runs are changed, and reported by the verifier`() throws
  {
    var random = SeededNumbers(salt: 7_180)
    let one = Vector.random(&random, Thought.dimensions)
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [PlainThought.self])
    try store.insert((0..<400).map { _ in PlainThought(one) })
    store.close()
    let open = try Store(at: folder.storePath, entities: [Thought.self], options: options())
    defer { open.close() }
    let form = VectorForm(dimensions: Thought.dimensions)
    var block = VectorBlockBuilder()
    let code = VectorEncoder(dimensions: Thought.dimensions).code(of: one.values)
    block.append(code, at: 7, .listedSigns, of: form)
    try open.core.write { core in
      let index = try #require(try core.entity(named: "Thought").vectorIndexes.first)
      let list = try #require(try VectorLists(of: index, in: core.transaction)?.list(of: code))
      for run in 0..<1 << 16 {
        try core.writing.put(
          VectorForm.key(list: list, section: 0, run: run), block.bytes, in: index.entries.tree)
      }
    }
    try open.modify(Thought.ID(rawValue: 7)) { $0.embedding = nil }
    #expect(try Verifier.verify(environment: open.core.environment).findingCount > 0)
  }

  @Test func `find ids in a set of near ids and of distant ones`() {
    for ids in [[], [5], [3, 4, 70, 200], [1, 1 << 40, .max]] as [[UInt64]] {
      let set = IDSet(ids)
      for id in [0, 1, 3, 4, 5, 63, 69, 70, 71, 200, 1 << 40, .max - 1, .max] as [UInt64] {
        #expect(set.contains(id) == ids.contains(id), "\(ids) \(id)")
      }
    }
  }
}
