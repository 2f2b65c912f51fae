import Testing

#if canImport(Glibc)
  import Glibc
#endif

@testable import EntityStore

/// Batches whose index entries are sorted part by part in a scratch file.
@Suite struct `Index entries beyond memory` {
  /// Options with so little memory that a batch of thousands is sorted in many runs.
  private var scarce: StoreOptions {
    var options = StoreOptions()
    options.batchMemoryInBytes = 64 << 10
    return options
  }

  /// Films with titles of all lengths in random order, many of them equal and some longer than a
  /// key.
  private func films(_ numbers: inout SeededNumbers, _ episodes: Range<Int>) -> [Film] {
    episodes.map { episode in
      let title = String(
        repeating: "ab\0ä".randomElement(using: &numbers).map(String.init) ?? "",
        count: numbers.oneIn(9) ? numbers.below(600) : numbers.below(4))
      return Film(
        title: title, episode: episode, code: numbers.oneIn(3) ? nil : "code \(episode)")
    }.shuffled(using: &numbers)
  }

  /// All films in the order of each index.
  private func orders(_ store: Store) throws -> [[Film]] {
    try store.read {
      [
        try $0.fetch(Film.byEpisode), try $0.fetch(Film.byCode),
        try $0.fetch(Film.byTitle),
      ]
    }
  }

  @Test func `many runs give the indexes that one sort in memory gives`() throws {
    var numbers = SeededNumbers(salt: 951)
    // The batch is large enough for a second thread to collect the entries.
    let films = films(&numbers, 0..<21_000)
    let more = self.films(&numbers, -2_000..<0)
    var found: [[[Film]]] = []
    for options in [scarce, StoreOptions()] {
      try withTemporaryStore([Film.self], options: options) { store in
        try store.write { try $0.insert(films) }
        // The new entries are between the stored entries in key order.
        try store.write { try $0.insert(more) }
        found.append(try orders(store))
      }
    }
    #expect(found[0] == found[1])
    #expect(found[0][0].map(\.episode) == Array(-2_000..<21_000))
  }

  @Test func `a repeated key in another run is refused, and the batch has no effect`() throws {
    var numbers = SeededNumbers(salt: 952)
    let films = films(&numbers, 0..<10_000)
    try withTemporaryStore([Film.self], options: scarce) { store in
      try store.write { transaction in
        let again = Film(title: "again", episode: films[3].episode)
        let repeated = try storeError(.uniqueViolation) {
          try transaction.insert(films + [again])
        }
        #expect(repeated.index == "Film.episode" && repeated.recordID == nil)
        #expect(try transaction.count(Film.all) == 0)
        try transaction.insert(Film(title: "first", episode: 6_000))
        let held = try storeError(.uniqueViolation) { try transaction.insert(films) }
        #expect(held.index == "Film.episode" && held.recordID == 1)
        #expect(try transaction.count(Film.all) == 1)
        #expect(try transaction.count(Film.byTitle, within: .init()) == 1)
      }
    }
  }

  @Test func `an update moves more entries than memory holds`() throws {
    var numbers = SeededNumbers(salt: 953)
    let films = films(&numbers, 0..<10_000)
    try withTemporaryStore([Film.self], options: scarce) { store in
      try store.write { try $0.insert(films) }
      let count = try store.write {
        try $0.update(Film.where { $0.episode >= 0 }) { $0.episode.multiply(by: -1) }
      }
      // The episode 0 stays 0, so it does not count as changed.
      #expect(count == 9_999)
      #expect(try orders(store)[0].map(\.episode) == Array(-9_999...0))
      // Each film gets the next film's number, and the last one gets 0, which another film has.
      let refusal = try storeError(.uniqueViolation) {
        try store.write {
          try $0.update(Film.where { $0.episode < 0 }) { $0.episode.add(1) }
        }
      }
      #expect(refusal.index == "Film.episode")
    }
  }

  @Test func `an index is built over more records than memory holds`() throws {
    var numbers = SeededNumbers(salt: 954)
    let people = (0..<10_000).map { index in
      PersonV1(name: "person \(numbers.below(1_000_000))", email: nil, age: index)
    }
    try withTemporaryPath { path in
      let first = try Store(at: path, entities: [PersonV1.self], options: scarce)
      try first.write { try $0.insert(people) }
      first.close()
      let second = try Store(at: path, entities: [PersonV2.self], options: scarce)
      defer { second.close() }
      #expect(try second.read { try $0.count(PersonV2.byLevel, within: .init()) } == 10_000)
    }
  }

  @Test func `a disk without room for the runs is reported, and the transaction can continue`()
    throws
  {
    let folder = try TemporaryFolder()
    #if canImport(Glibc)
      let isMounted = mount("tmpfs", folder.path, "tmpfs", 0, "size=4m") == 0
    #else
      let isMounted = false
    #endif
    guard isMounted else {
      print("skipped: a small file system cannot be mounted here")
      return
    }
    #if canImport(Glibc)
      defer { umount2(folder.path, 2) }
    #endif
    var numbers = SeededNumbers(salt: 955)
    let films = films(&numbers, 0..<80_000)
    let store = try Store(at: folder.storePath, entities: [Film.self], options: scarce)
    try store.write { transaction in
      let error = try storeError(.diskFull) { try transaction.insert(films) }
      #expect(error.message.contains("scratch file"), "\(error.message)")
      #expect(try transaction.count(Film.all) == 0)
      try transaction.insert(films.prefix(500))
    }
    #expect(try store.read { try $0.count(Film.byEpisode, within: .init()) } == 500)
    store.close()
    try expectSound(folder.storePath)
  }
}
