import Foundation
import Testing

@testable import EntityStore

@Suite(.serialized) struct `A killed schema change` {
  private static let count = 6_000

  /// The schema change adds attributes, and builds an index and a search index, before the store is
  /// used or during its use.
  ///
  /// The variable `LODESTORE_KILLS` sets the number of kills in all tests; this test makes one in
  /// twenty of them.
  @Test(arguments: [false, true])
  func `a killed schema change loses no write, and the next opening completes it`(inUse: Bool)
    async throws
  {
    let kills = max(3, (SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 0) / 20)
    var numbers = SeededNumbers(salt: inUse ? 92 : 91)
    let origin = try TemporaryFolder()
    let old = try Store(at: origin.storePath, entities: [PersonV1.self])
    try await old.insert((0..<Self.count).map { PersonV1(name: "\($0)", email: nil, age: $0) })
    old.close()
    // The duration of the change on this machine, by which the kills are spread.
    let start = Date()
    do {
      let folder = try TemporaryFolder()
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: folder.storePath)
      let store = try Store(at: folder.storePath, entities: [SearchedPerson.self])
      store.close()
    }
    let microseconds = max(1_000, Int(Date().timeIntervalSince(start) * 2_000_000))
    var (unchanged, building, acknowledged) = (0, 0, 0)
    for _ in 0..<kills {
      let folder = try TemporaryFolder()
      let path = folder.storePath
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: path)
      let delay = numbers.below(microseconds)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, delay = delay as Int, inUse = inUse as Bool] in
        Thread.detachNewThread {
          usleep(UInt32(delay))
          kill(getpid(), SIGKILL)
        }
        try Self.use(path, inUse: inUse)
      }
      try expectSound(path)
      let told = Self.acknowledged(beside: path)
      let core = try StoreCore(path: path, options: .readOnly)
      let isChanged = try core.read { core in
        core.schema.entities.contains { $0.description.currentLayout > 1 }
      }
      core.close()
      if !isChanged {
        #expect(told == 0, "\(SeededNumbers.replay)")
        unchanged += 1
      }
      acknowledged += told
      var options = StoreOptions()
      options.buildsIndexesInUse = inUse
      let store = try Store(at: path, entities: [SearchedPerson.self], options: options)
      if try !store.indexBuilds().isEmpty { building += 1 }
      try await store.waitForIndexes()
      let people = try await store.read { try $0.fetch(SearchedPerson.all) }
      let added = people.dropFirst(Self.count).map(\.person.age)
      #expect(people.prefix(Self.count).map(\.person.age) == Array(0..<Self.count))
      #expect(added == Array(0..<added.count) && added.count >= told, "\(SeededNumbers.replay)")
      let byLevel = try await store.read { try $0.fetch(SearchedPerson.byLevel).map(\.id) }
      #expect(Set(byLevel) == Set(people.map(\.id)), "\(SeededNumbers.replay)")
      let news = SearchedPerson.all.where(.search("new")).sortedByScore()
      #expect(try await store.read { try $0.count(news) } == added.count, "\(SeededNumbers.replay)")
      store.close()
      try expectSound(path)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
        !$0.hasSuffix(".told")
      }
      #expect(names.count == 2, "\(names)")
    }
    print(
      "\(kills) kills of schema changes\(inUse ? " in use" : ""): \(unchanged) not begun, \(building) "
        + "indexes to go on with, \(acknowledged) writes acknowledged")
  }

  /// Opens the store as the newer program, inserts records forever, and notes each commit.
  private static func use(_ path: String, inUse: Bool) throws {
    var options = StoreOptions()
    options.buildsIndexesInUse = inUse
    let store = try Store(at: path, entities: [SearchedPerson.self], options: options)
    var number = 0
    while true {
      try store.insert(
        SearchedPerson(PersonV2(city: nil, age: number, name: "new \(number)", email: nil)))
      number += 1
      let file = open(path + ".told", O_WRONLY | O_APPEND | O_CREAT, 0o600)
      _ = write(file, "1", 1)
      close(file)
    }
  }

  private static func acknowledged(beside path: String) -> Int {
    (try? Data(contentsOf: URL(fileURLWithPath: path + ".told")).count) ?? 0
  }
}

/// A ``PersonV2`` whose name is searched.
private struct SearchedPerson: Entity {
  static let byLevel = SearchedPerson.index(\.level)

  var id = RecordID<SearchedPerson>()
  var person: PersonV2

  struct Attributes: Sendable {
    var level: Attribute<SearchedPerson, Int> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<SearchedPerson>(
    "Person",
    attributes: [
      .init("city", \.person.city), .init("age", \.person.age),
      .init("level", \.person.level, initial: 3), .init("name", \.person.name),
      .init("email", \.person.email),
    ], indexes: [[\.person.name], [\.person.level]],
    searchIndexes: [SearchIndex(.init(\.person.name))])

  init(_ person: PersonV2) { self.person = person }

  init(from reader: inout RecordReader) throws(StoreError) {
    person = try PersonV2(from: &reader)
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { person.encode(into: &writer) }
}
