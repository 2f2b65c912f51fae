import Foundation
import LMDB
import LodestoreFormat
import Synchronization
import Testing

@testable import EntityStore
@testable import KVDumpCommands

/// Imports of a source that says which of its pages have not changed.
@Suite struct `Remembered pages` {
  private struct Row: Codable {
    var name: String
    var points: Int
  }

  /// A source of two pages with players that never change; it notes the pages that it sent.
  private final class Service: PageSource {
    let sent = Mutex<[Int]>([])
    private let pages: [[Row]]
    private let willSend: @Sendable (Int) -> Void

    init(
      _ pages: [[Row]] = [
        [Row(name: "Ada", points: 1), Row(name: "Bob", points: 2)], [Row(name: "Cyd", points: 3)],
      ], willSend: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
      self.pages = pages
      self.willSend = willSend
    }

    func pages(
      from position: String?, remembered: @escaping @Sendable (String) -> PageMemory?
    ) -> AsyncStream<ImportPage> {
      AsyncStream { continuation in
        for index in pages.indices {
          willSend(index)
          let isKnown = remembered("page \(index)")?.entityTag == "tag"
          if !isKnown { sent.withLock { $0.append(index) } }
          continuation.yield(
            ImportPage(
              content: isKnown ? nil : try? JSONEncoder().encode(pages[index]),
              memory: PageMemory(name: "page \(index)", entityTag: "tag"),
              next: index + 1 < pages.count ? "\(index + 1)" : nil))
        }
        continuation.finish()
      }
    }
  }

  /// Imports all pages of the source; returns the numbers of the pages that the source sent.
  @discardableResult
  private func run(
    _ store: Store, _ strategy: ImportStrategy = .upsert, name: String = "players",
    version: Int = 0,
    from service: Service = Service()
  ) async throws -> [Int] {
    var options = ImportOptions()
    options.name = name
    options.version = version
    let importer = Importer(
      into: store, PlayerPoints.self, matching: .unique(\.name), strategy: strategy,
      options: options)
    let report = try await importer.run(service, as: Row.self) {
      PlayerPoints(name: $0.name, points: $0.points)
    }
    let sent = service.sent.withLock { $0 }
    #expect(report.unchangedPages == report.pages - sent.count)
    return sent
  }

  private func points(_ store: Store) async throws -> [String: Int] {
    let players = try await store.read { try $0.fetch(PlayerPoints.all) }
    return Dictionary(uniqueKeysWithValues: players.map { ($0.name, $0.points) })
  }

  private static let all = ["Ada": 1, "Bob": 2, "Cyd": 3]

  @Test(arguments: [ImportStrategy.upsert, .replaceMatching, .mirror])
  func `remembered pages are requested conditionally only while nothing else has changed`(
    strategy: ImportStrategy
  ) async throws {
    try await withTemporaryStore([PlayerPoints.self, Film.self]) { store in
      #expect(try await run(store, strategy) == [0, 1])
      #expect(try await run(store, strategy) == [])
      // The imported records do not depend on anything that this write changes.
      try await store.write { tx in
        try tx.insert(Film(title: "a", episode: 1))
        try tx.delete(Film.all)
        try tx.put(Data([1]), for: "k", in: "bucket")
        if strategy != .mirror { try tx.insert(PlayerPoints(name: "Dan", points: 4)) }
        let ada = try #require(try tx.fetch(PlayerPoints.index(\.name).key("Ada")))
        #expect(try tx.update(ada) == false)
        try tx.update(PlayerPoints.where { $0.points == 99 }) { $0.points = 5 }
        try tx.delete(PlayerPoints.where { $0.points == 99 })
      }
      #expect(try await run(store, strategy) == [])
      #expect(try await run(store, strategy) == [])
    }
  }

  /// Changes that others make to the records of an import.
  enum Change: CaseIterable {
    case deleteOne, deleteIDs, deleteWhere, deleteAll, deleteReturning, deleteInChunks
    case update, updateWhere, updateAll, updateInChunks, replace, merge
    case deleteByTool, updateByTool, otherImport, anotherStore
  }

  private func change(_ change: Change, _ store: Store) async throws {
    let query = PlayerPoints.where { $0.name == "Bob" }
    switch change {
    case .deleteOne, .deleteIDs, .deleteWhere, .deleteAll, .deleteReturning, .update, .updateWhere,
      .updateAll, .replace, .merge:
      try await store.write { try Self.change(change, &$0) }
    case .deleteInChunks: try await store.delete(query, inChunksOf: 1)
    case .updateInChunks:
      try await store.update(query, inChunksOf: 1) { $0.points = 9 }
    case .deleteByTool, .updateByTool:
      let arguments =
        change == .deleteByTool
        ? ["delete", store.path, "Player", "name == 'Bob'", "--yes"]
        : ["update", store.path, "Player", "name == 'Bob'", "points=9", "--yes"]
      let console = Console(output: MemorySink(), errors: MemorySink())
      #expect(await KVDump.execute(arguments, on: console) == .success)
    case .otherImport:
      try await run(store, name: "other", from: Service([[Row(name: "Bob", points: 9)]]))
    case .anotherStore:
      let other = try Store(at: store.path, entities: [PlayerName.self])
      try await other.write { _ = try $0.delete(PlayerName.where { $0.name == "Bob" }) }
      other.close()
    }
  }

  private static func change(_ change: Change, _ tx: inout WriteTransaction) throws {
    var bob = try #require(try tx.fetch(PlayerPoints.index(\.name).key("Bob")))
    switch change {
    case .deleteOne: try tx.delete(bob.id)
    case .deleteIDs: try tx.delete([bob.id])
    case .deleteWhere: try tx.delete(PlayerPoints.where { $0.name == "Bob" })
    case .deleteAll: try tx.delete(PlayerPoints.all)
    case .deleteReturning:
      _ = try tx.deleteReturning(PlayerPoints.where { $0.name == "Bob" })
    case .update:
      bob.points = 9
      try tx.update(bob)
    case .updateWhere:
      try tx.update(PlayerPoints.where { $0.name == "Bob" }) { $0.points = 9 }
    case .updateAll: try tx.update(PlayerPoints.all) { $0.points.add(1) }
    case .replace: try tx.insert(PlayerPoints(name: "Bob", points: 9), onConflict: .replace)
    default:
      let values = [PlayerPoints(name: "Bob", points: 9)]
      try tx.insert(values, onConflict: .replace)
    }
  }

  @Test(arguments: Change.allCases)
  func `remembered pages are requested again when others update or delete records`(_ change: Change)
    async throws
  {
    for strategy in [ImportStrategy.upsert, .mirror] {
      try await withTemporaryStore([PlayerPoints.self]) { store in
        try await run(store, strategy)
        #expect(try await run(store, strategy) == [])
        try await self.change(change, store)
        #expect(try await points(store) != Self.all)
        #expect(try await run(store, strategy) == [0, 1])
        #expect(try await points(store) == Self.all)
        #expect(try await run(store, strategy) == [])
      }
    }
  }

  @Test func `remembered pages are requested again when an attribute was added`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    let first = try Store(at: path, entities: [PlayerName.self])
    func importNames(_ store: Store) async throws -> [Int] {
      let service = Service()
      _ = try await Importer(into: store, PlayerName.self, matching: .unique(\.name))
        .run(service, as: Row.self) { PlayerName(name: $0.name) }
      return service.sent.withLock { $0 }
    }
    func importPoints(_ store: Store) async throws -> [Int] {
      let service = Service()
      _ = try await Importer(into: store, PlayerPoints.self, matching: .unique(\.name))
        .run(service, as: Row.self) { PlayerPoints(name: $0.name, points: $0.points) }
      return service.sent.withLock { $0 }
    }
    #expect(try await importNames(first) == [0, 1])
    #expect(try await importNames(first) == [])
    first.close()
    let second = try Store(at: path, entities: [PlayerPoints.self])
    #expect(try await points(second) == ["Ada": 7, "Bob": 7, "Cyd": 7])
    #expect(try await importPoints(second) == [0, 1])
    #expect(try await points(second) == Self.all)
    #expect(try await importPoints(second) == [])
    second.close()
    // A program that declares only a part of the attributes makes different records from the pages.
    let third = try Store(at: path, entities: [PlayerName.self])
    #expect(try await importNames(third) == [0, 1])
    third.close()
    let fourth = try Store(at: path, entities: [PlayerPoints.self])
    #expect(try await importPoints(fourth) == [0, 1])
    #expect(try await points(fourth) == Self.all)
    fourth.close()
    try expectSound(path)
  }

  @Test func `remembered pages are requested again when the program states another version`()
    async throws
  {
    try await withTemporaryStore([PlayerPoints.self]) { store in
      try await run(store)
      #expect(try await run(store, version: 1) == [0, 1])
      #expect(try await run(store, version: 1) == [])
      #expect(try await run(store, .mirror, version: 1) == [0, 1])
    }
  }

  /// Later imports continue with the counts in the file, so impossible counts are refused as
  /// damage.
  @Test func `impossible counts are damage, in an open import and in its reports`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [PlayerPoints.self])
    defer { store.close() }
    func put(_ change: (inout ImportState) -> Void) throws {
      try store.core.write(origin: WriteOrigin(author: nil, context: nil)) { core in
        var state = ImportState()
        state.report.name = "players"
        state.report.entity = "PlayerPoints"
        change(&state)
        // The import log would refuse to store these counts, so they are written directly.
        let key = ImportKey.state.bytes(name: "players")
        var document = DocumentWriter()
        try DocumentCoding.encode(state, into: &document)
        try core.writing.put(
          key, Checksum.sealed(key: key, content: document.bytes), in: core.store.trees.imports)
      }
    }
    for change: @Sendable (inout ImportState) -> Void in [
      { $0.pages = -1 }, { $0.report.pages = -1 }, { $0.report.inserted = .max },
      { $0.report.run = .max },
      { $0.report.unknownMembers = ["a": .max] },
    ] {
      try put(change)
      do {
        try await run(store)
        Issue.record("the import was resumed")
      } catch let error as StoreError {
        #expect(error.code == .damaged, "\(error)")
      }
    }
    _ = try storeError(.damaged) { try store.read { try $0.importReports(of: "players") } }
  }

  @Test func `imports without changes leave each other's remembered pages valid`() async throws {
    try await withTemporaryStore([PlayerPoints.self]) { store in
      try await run(store)
      #expect(try await run(store, name: "other") == [0, 1])
      for _ in 0..<2 {
        #expect(try await run(store) == [])
        #expect(try await run(store, name: "other") == [])
      }
    }
  }

  @Test func `a change during an import makes the next import request the pages again`()
    async throws
  {
    try await withTemporaryStore([PlayerPoints.self]) { store in
      try await run(store)
      let service = Service { [store] index in
        guard index == 1 else { return }
        _ = try? store.write { try $0.delete(PlayerPoints.where { $0.name == "Ada" }) }
      }
      #expect(try await run(store, from: service) == [1])
      // The second page was fetched after the change, so only the first page is requested again.
      #expect(try await run(store) == [0])
      #expect(try await points(store) == Self.all)
      #expect(try await run(store) == [])
    }
  }

  @Test func `a page that a mirror has lost brings its records when it comes again`() async throws {
    try await withTemporaryStore([PlayerPoints.self]) { store in
      try await run(store, .mirror)
      let one = Service([[Row(name: "Ada", points: 1), Row(name: "Bob", points: 2)]])
      #expect(try await run(store, .mirror, from: one) == [])
      #expect(try await points(store) == ["Ada": 1, "Bob": 2])
      #expect(try await run(store, .mirror) == [1])
      #expect(try await points(store) == Self.all)
      #expect(try await run(store, .mirror) == [])
    }
  }

  @Test func `a store has a mark only for entities with remembered pages`()
    async throws
  {
    try await withTemporaryStore([PlayerPoints.self, Film.self]) { store in
      func mark<E: Entity>(_ type: E.Type) throws -> UInt64 {
        try store.core.read { try $0.changeMark(of: try $0.entity(type)) }
      }
      try await store.write { tx in
        try tx.insert(PlayerPoints(name: "Ada", points: 5))
        try tx.update(PlayerPoints.all) { $0.points = 6 }
        try tx.delete(PlayerPoints.all)
      }
      #expect(try mark(PlayerPoints.self) == 0)
      try await run(store)
      #expect(try mark(PlayerPoints.self) == 1 && (try mark(Film.self)) == 0)
      for round in 0..<2 {
        try await store.write { tx in
          try tx.update(PlayerPoints.all) { $0.points = 10 + round }
        }
        #expect(try mark(PlayerPoints.self) == 2)
      }
      try await run(store)
      #expect(try mark(PlayerPoints.self) == 3)
    }
  }
}
