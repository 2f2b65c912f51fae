import EntityStore
import Testing

@testable import LodestorePages
@testable import LodestoreVerifier

@Suite struct `Computed indexes that are built while the store is used` {
  private static let count = 9_000
  /// The names of the indexes in ``IndexBuild/attributes``.
  private static let names = [
    "tags[]", "search(title)", "place(latitude+longitude)", "vector(hue)",
  ]

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Marker.Plain.self])
    var numbers = SeededNumbers(salt: 3)
    try store.insert((0..<Self.count).map { _ in Marker.Plain(Marker.Values(&numbers)) })
    store.close()
    return folder
  }

  private func open(_ folder: borrowing TemporaryFolder, inUse: Bool = true) throws -> Store {
    var options = StoreOptions()
    options.buildsIndexesInUse = inUse
    return try Store(at: folder.storePath, entities: [Marker.Indexed.self], options: options)
  }

  /// Makes inserts, updates and deletes at random places among the records.
  private func change(_ store: Store, _ numbers: inout SeededNumbers) throws {
    try store.write { tx throws in
      for step in 0..<30 {
        let id = Marker.Indexed.ID(rawValue: UInt64(numbers.below(Self.count) + 1))
        if step % 3 == 0 {
          try tx.delete(id)
        } else if try tx.fetch(id) != nil {
          let values = Marker.Values(&numbers)
          try tx.modify(id) { $0.values = values }
        }
      }
      let values = (0..<5).map { _ in Marker.Values(&numbers) }
      try tx.insert(values.map(Marker.Indexed.init))
      let word = Marker.Values.words[numbers.below(Marker.Values.words.count)]
      let moved = Double(numbers.below(80))
      try tx.update(Marker.Indexed.all.where(.search("\(word) amber"))) { $0.latitude = moved }
    }
  }

  /// The conditions of the queries, each by one of the indexes.
  private static func queries() throws -> [Query<Marker.Indexed>] {
    try [
      "'t7' IN tags", "SELF SEARCH 'amber cedar'", "SELF WITHIN {0, 0, 20, 40}",
      "SELF NEAR {10, 10, 900000}",
    ].map { try Marker.Indexed.where(format: $0) }
  }

  /// Expects the results of each query to be those of a plain test of all records.
  private func expectRight(_ store: Store) throws {
    try store.read { snapshot throws in
      let all = try snapshot.fetch(Marker.Indexed.all)
      let expected: [[Marker.Indexed]] = [
        all.filter { $0.values.tags.contains("t7") },
        all.filter {
          let words = $0.values.title.split(separator: " ")
          return words.contains("amber") && words.contains("cedar")
        },
        all.filter {
          (0...20).contains($0.values.latitude) && (0...40).contains($0.values.longitude)
        },
        all.filter {
          Coordinate(latitude: 10, longitude: 10).distance(
            to: Coordinate(latitude: $0.values.latitude, longitude: $0.values.longitude))
            <= 900_000
        },
      ]
      for (query, expected) in zip(try Self.queries(), expected) {
        #expect(!expected.isEmpty)
        #expect(try snapshot.ids(query) == expected.map(\.id), "\(query)")
      }
      let near = Vector([0.5, -1, 2])
      let nearest = try snapshot.fetch(
        Marker.Indexed.where { $0.hue.isNear(near, by: .euclidean) }.sortedByDistance().limit(5))
      let distances = all.compactMap { $0.values.hue.distance(to: near, by: .euclidean) }
      #expect(
        nearest.compactMap { $0.values.hue.distance(to: near, by: .euclidean) }
          == Array(distances.sorted().prefix(5)))
    }
  }

  private func indexes(_ store: Store) throws -> [String?] {
    try store.read { snapshot in try Self.queries().map { try snapshot.explain($0).index } }
  }

  private func expectBuilt(_ store: Store) throws {
    #expect(try store.indexBuilds() == [])
    let indexes = try indexes(store)
    #expect(
      indexes == [
        "Marker.tags[]", "Marker.search(title)", "Marker.place(latitude+longitude)",
        "Marker.place(latitude+longitude)",
      ])
    try expectRight(store)
    let ranked = Marker.Indexed.all.where(.search("amber cedar")).sortedByScore().limit(3)
    #expect(try store.fetch(ranked).count == 3)
  }

  @Test func `queries are right before and after, and all changes reach the indexes`()
    async throws
  {
    let folder = try folder()
    let store = try open(folder)
    #expect(try store.indexBuilds().map(\.attributes) == Self.names)
    #expect(try indexes(store) == [nil, nil, nil, nil])
    var numbers = SeededNumbers(salt: 8)
    var changes = 0
    // On a busy machine a check may take as long as the construction, so changes come first.
    repeat {
      try change(store, &numbers)
      changes += 1
      if changes > 2, changes % 2 == 1 { try expectRight(store) }
      if changes == 4 { try expectSound(store) }
    } while try !store.indexBuilds().isEmpty
    try await store.waitForIndexes()
    try expectBuilt(store)
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `scores and suggestions wait for the whole index`() throws {
    let folder = try folder()
    let store = try open(folder)
    try store.write { tx throws in
      // The build waits for this write.
      guard try tx.explain(Self.queries()[1]).index == nil else {
        print("skipped: the index was built before the write")
        return
      }
      let ranked = Marker.Indexed.all.where(.search("amber")).sortedByScore()
      let ofOrder = try storeError(.invalidQuery) { try tx.fetch(ranked) }
      let ofSuggestions = try storeError(.invalidQuery) {
        try tx.searchSuggestions(for: "ambr", in: Marker.Indexed.self)
      }
      for error in [ofOrder, ofSuggestions] {
        #expect(error.message.contains("is being built"), "\(error)")
      }
    }
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `an opening continues the build, or completes it at once`() async throws {
    let folder = try folder()
    var numbers = SeededNumbers(salt: 9)
    for inUse in [true, false] {
      let store = try open(folder)
      try change(store, &numbers)
      store.close()
      try expectSound(folder.storePath)
      let other = try Store(at: folder.storePath, entities: [])
      other.close()
      let again = try open(folder, inUse: inUse)
      if !inUse { #expect(try again.indexBuilds() == []) }
      try await again.waitForIndexes()
      try expectBuilt(again)
      again.close()
      try expectSound(folder.storePath)
      // A program without the indexes removes them.
      let plain = try Store(at: folder.storePath, entities: [Marker.Plain.self])
      #expect(try plain.indexBuilds() == [])
      plain.close()
      try expectSound(folder.storePath)
    }
  }

  @Test func `a place that is none is refused during the build`() async throws {
    let folder = try folder()
    let store = try open(folder)
    var numbers = SeededNumbers(salt: 10)
    var values = Marker.Values(&numbers)
    values.latitude = 91
    let error = #expect(throws: StoreError.self) { try store.insert(Marker.Indexed(values)) }
    #expect(error?.code == .invalidValue)
    try await store.waitForIndexes()
    store.close()
    try expectSound(folder.storePath)
  }
}
