import Foundation
import Testing

@testable import EntityStore

/// Differences between sealed generations of one dataset, and live results over them.
@Suite struct `Differences between sealed generations` {
  /// Seals the newest commit as `generation` and opens the file.
  private func generation(
    _ number: UInt64, of store: Store, _ entities: [any Entity.Type],
    in folder: borrowing TemporaryFolder
  ) throws -> Store {
    let path = folder.path + "/\(number).lodestore"
    try store.seal(
      to: path, name: "films", generation: number,
      dataAsOf: Date(timeIntervalSinceReferenceDate: Double(number)))
    return try Store(at: path, entities: entities)
  }

  private func lines(_ differences: StoreDifferences) throws -> [String] {
    var lines: [String] = []
    try differences.forEach { difference in
      switch difference {
      case .schema(let schema): lines.append("\(schema.kind) \(schema.subject) \(schema.name)")
      case .record(let record):
        lines.append("\(record.kind) \(record.entity) \(record.recordID)")
      case .link(let link): lines.append("\(link.kind) \(link.recordID) \(link.targetID)")
      case .bucket(let bucket): lines.append("\(bucket.kind) \(bucket.bucket)")
      }
      return true
    }
    return lines
  }

  @Test func `differences between sealed generations equal those of their stores`() throws {
    let folder = try TemporaryFolder()
    try withTemporaryStore(Library.entities) { store in
      let (shelf, books) = try store.write { tx throws in
        let shelf = try tx.insert(Shelf(name: "S")).id
        let books = try tx.insert((1...6).map { Book(title: "\($0)") }).ids
        try tx.add(Array(books.dropLast()), to: Shelf.books, of: shelf)
        try tx.put(Data([1]), for: "page", in: "marks")
        return (shelf, Array(books))
      }
      let first = try generation(1, of: store, Library.entities, in: folder)
      let before = try store.snapshot()
      #expect(try lines(store.differences(from: first)) == [])
      #expect(try lines(first.differences(from: store)) == [])
      try store.write { tx throws in
        try tx.modify(books[1]) { $0.pages = 7 }
        try tx.delete(books[2])
        try tx.insert(Book(title: "new"))
        try tx.add([books[5]], to: Shelf.books, of: shelf)
        try tx.move(books[4], in: Shelf.books, of: shelf, to: .first)
        try tx.delete(key: "page", in: "marks")
      }
      let second = try generation(2, of: store, Library.entities, in: folder)
      let found = try lines(second.differences(from: first))
      #expect(found == (try lines(store.differences(from: before))))
      #expect(found.contains("updated Book 2") && found.contains("deleted Book 3"))
      #expect(found.contains("added 1 6") && found.contains("removed 1 3"))
      #expect(found.contains("moved 1 5") && found.last == "deleted marks")
      for store in [first, second] { store.close() }
    }
  }

  @Test func `generations that differ only in the layout of records have no differences`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/people.lodestore"
    let store = try Store(at: path, entities: [PersonV1.self])
    try store.write { tx in
      for number in 1...4 { try tx.insert(PersonV1(name: "\(number)", email: nil, age: number)) }
    }
    let first = try generation(1, of: store, [PersonV1.self], in: folder)
    store.close()
    let later = try Store(at: path, entities: [PersonV2.self])
    let second = try generation(2, of: later, [PersonV2.self], in: folder)
    #expect(
      try lines(second.differences(from: first)) == [
        "inserted attribute city", "inserted attribute level", "inserted index level",
      ])
    for store in [first, second, later] { store.close() }
    try expectSound(path)
  }

  @Test func `differences lead live results from one generation to the next`() async throws {
    let folder = try TemporaryFolder()
    try await withTemporaryStore([Film.self]) { store in
      let (generations, arrivals) = AsyncStream<Store>.makeStream()
      let updates = Turner(generations.updates(of: Film.all.sorted(by: \.title)))
      try await store.insert((1...5).map { Film(title: "\($0)", episode: $0) })
      arrivals.yield(try generation(1, of: store, [Film.self], in: folder))
      let first = try await within { try await updates.next() }
      #expect(first?.items.map(\.title) == ["1", "2", "3", "4", "5"])
      try await store.modify(Film.ID(rawValue: 2)) { $0.title = "6" }
      try await store.delete(Film.ID(rawValue: 4))
      arrivals.yield(try generation(2, of: store, [Film.self], in: folder))
      let second = try await within { try await updates.next() }
      #expect(second?.items.map(\.title) == ["1", "3", "5", "6"])
      #expect(second?.difference?.deleted.map(\.index) == [3])
      #expect(second?.difference?.moved.map { [$0.from.index, $0.to.index] } == [[1, 3]])
      #expect(second?.difference?.updated == [] && second?.difference?.inserted == [])
      arrivals.finish()
    }
  }
}
