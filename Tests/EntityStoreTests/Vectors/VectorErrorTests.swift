import Foundation
import LodestoreFormat
import LodestoreVerifier
import Testing

@testable import EntityStore

@Suite struct `Values that are no vectors` {
  private let invalid: [Vector] = [
    [], [1, 2], [1, 2, 3, 4], [1, .nan, 3], [1, .infinity, 3], [1e38, 3e38, 3e38],
  ]

  @Test func `are refused by every way to write`() throws {
    try withTemporaryStore([Thought.self]) { store in
      try store.insert(Thought(nil, color: [1, 2, 3]))
      for vector in invalid {
        let wrong = Thought(nil, color: vector)
        let writes: [(inout WriteTransaction) throws -> Void] = [
          { try $0.insert(wrong) },
          { try $0.insert([Thought(nil), wrong]) },
          { tx in
            for var one in try tx.fetch(Thought.all) {
              one.color = vector
              try tx.update(one)
            }
          },
        ]
        for write in writes {
          let error = #expect(throws: StoreError.self) { try store.write { try write(&$0) } }
          #expect(error?.code == .invalidValue)
          #expect(error?.message.contains("must be a vector of") == true, "\(error as Any)")
        }
      }
      #expect(try store.fetch(Thought.all).map(\.color) == [[1, 2, 3]])
    }
  }

  @Test func `of zeros are found unless angles are compared`() throws {
    try withTemporaryStore([Thought.self]) { store in
      try store.insert([Thought(nil, color: [0, 0, 0]), Thought(nil, color: [0, 1, 0])])
      func found(_ measure: VectorMeasure) throws -> [Vector?] {
        try store.fetch(
          Thought.where { $0.color.isNear([0, 2, 0], by: measure) }.sortedByDistance().limit(5)
        ).map(\.color)
      }
      #expect(try found(.cosine) == [[0, 1, 0]])
      #expect(try found(.dotProduct) == [[0, 1, 0], [0, 0, 0]])
      #expect(try found(.euclidean) == [[0, 1, 0], [0, 0, 0]])
    }
  }

  @Test func `are refused in queries`() throws {
    try withTemporaryStore([Thought.self]) { store in
      for vector in invalid + [[0, 0, 0]] {
        let error = #expect(throws: StoreError.self, "\(vector)") {
          try store.fetch(Thought.where { $0.color.isNear(vector, by: .cosine) })
        }
        #expect(error?.code == .invalidQuery)
      }
      let formats = [
        "SELF NEAR {'cosine'}", "SELF NEAR {'angle', CAST('AAAA', 'data')}",
        "group NEAR {'cosine', CAST('AACAPwAAgD8AAIA/', 'data')}",
        "color NEAR {'cosine', CAST('AACAPwAAgD8AAIA/', 'data'), 0}",
      ]
      for format in formats {
        let error = #expect(throws: StoreError.self, "\(format)") {
          try store.fetch(Thought.where(Condition(format: format)))
        }
        #expect(error?.code == .invalidQuery, "\(format)")
      }
      try store.insert(Thought(nil, color: [1, 1, 1]))
      let right = try Condition<Thought>(
        format: "color NEAR {'cosine', CAST('AACAPwAAgD8AAIA/', 'data')}")
      #expect(try store.count(Thought.where(right)) == 1)
    }
  }

  @Test func `in an attribute that is no vector are refused with the type to declare`() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: StoreError.self) {
      try Store(at: folder.storePath, entities: [NumberedNote.self])
    }
    #expect(error?.code == .badSchema)
    #expect(error?.message.contains("declare an attribute of the type Vector") == true)
  }

  @Test func `an entity without an index is refused with the index to declare`() throws {
    try withTemporaryStore([Film.self]) { store in
      let error = #expect(throws: StoreError.self) {
        try store.fetch(Film.all.where(.near([1, 2], by: .cosine)))
      }
      #expect(error?.code == .invalidQuery)
      #expect(error?.message.contains("#Vector<Film>") == true)
    }
  }

  @Test func `with enormous numbers are found by every measure`() throws {
    try withTemporaryStore([Thought.self]) { store in
      var random = SeededNumbers(salt: 6301)
      try store.insert(
        (0..<60).map { _ in
          Thought(
            nil,
            color: Vector((0..<3).map { _ in 1.9e38 * Float.random(in: -1...1, using: &random) }))
        })
      let vector: Vector = [1.9e38, 1, -1.9e38]
      for measure in [VectorMeasure.cosine, .dotProduct, .euclidean] {
        let near = Thought.where { $0.color.isNear(vector, by: measure) }
        #expect(try store.fetch(near.sortedByDistance().limit(100)).count == 60)
        // The planner reads so few records without the index.
        try store.core.write { core in
          let index = try #require(try core.entity(named: "Thought").vectorIndexes.last)
          let query = BoundVector(index, vector, measure, candidates: 10, subject: "color")
          let search = try VectorSearch(query, in: core.transaction)
          let (found, areAll) = try search.candidates(10, among: nil, of: 60)
          #expect(found.count >= 10 && !areAll)
          #expect(try search.sorted(found).count == found.count)
        }
      }
    }
  }

  @Test func `as damaged blocks are errors of the index, and findings`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Thought.self])
    try store.insert((0..<50).map { Thought(nil, color: [Float($0), 1, 2]) })
    let form = VectorForm(dimensions: 3)
    func signs(_ offsets: [UInt16]) -> [UInt8] {
      [UInt8](repeating: 0, count: offsets.count * (form.codeSize(.signs) + 4))
        + offsets.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }
    let blocks: [(number: UInt64, body: [UInt8])] = [
      (0, []), (0, [1, 2, 3]), (0, signs([5, 4])), (0, signs([60_000])), (.max, signs([0])),
    ]
    for (number, body) in blocks {
      try store.core.write { core in
        let index = try #require(try core.entity(named: "Thought").vectorIndexes.last)
        try core.writing.put(VectorForm.key(.signs, 0), signs([0]), in: index.entries.tree)
        try core.writing.put(VectorForm.key(.signs, number), body, in: index.entries.tree)
        let query = BoundVector(index, [1, 2, 3], .cosine, candidates: 100, subject: "color")
        let search = try VectorSearch(query, in: core.transaction)
        _ = try storeError(.damaged) { try search.allIDs() }
        _ = try storeError(.damaged) { try search.candidates(100, among: nil, of: 50) }
      }
    }
    store.close()
    #expect(try Verifier.verify(path: folder.storePath).findingCount > 0)
  }
}

private struct NumberedNote: Entity {
  var id = RecordID<NumberedNote>()
  var numbers: [Float]

  static let attributes: Void = ()

  static let schema = EntitySchema<NumberedNote>(
    "Note", attributes: [.init("numbers", \.numbers)],
    vectorIndexes: [VectorIndex(\.numbers, dimensions: 3)])

  init(from reader: inout RecordReader) throws(StoreError) { numbers = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(numbers) }
}
