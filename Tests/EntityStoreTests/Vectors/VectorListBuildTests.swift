import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands

@Suite struct `Lists of vectors that are made while the store is used` {
  private static let limit = 300

  private static func options(inUse: Bool = true, limit: Int = limit) -> StoreOptions {
    var options = StoreOptions()
    options.buildsIndexesInUse = inUse
    options.mostVectorsWithoutLists = limit
    options.history = .images
    return options
  }

  /// Makes a store whose index on embeddings is complete, and has no lists.
  private func folder(_ count: Int, _ random: inout SeededNumbers) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Thought.self])
    try store.insert((0..<count).map { _ in Thought(.random(&random, Thought.dimensions)) })
    store.close()
    return folder
  }

  /// Opens the store as a program that builds indexes in use, without the task that builds them.
  private func open(_ path: String) throws -> StoreCore {
    try StoreCore(
      path: path, declared: Store.declared([Thought.self]),
      types: [ObjectIdentifier(Thought.self): "Thought"], options: Self.options())
  }

  /// Begins a replacement of the outgrown index, and returns a store that builds its parts.
  ///
  /// The store does not declare the entity, so its opening does not end the replacement.
  private func begin(_ path: String) throws -> Store {
    try open(path).close()
    return try Store(at: path, entities: [], options: Self.options(inUse: false))
  }

  /// Expects a query by the complete index to find the nearest vectors.
  private func expectRight(_ store: Store, _ random: inout SeededNumbers) throws {
    let sought = Thought.sought(&random)
    // With 16,000 candidates all lists are read.
    let query = Thought.where {
      $0.embedding.isNear(sought, by: .euclidean, candidates: 16_000)
    }
    .sortedByDistance().limit(20)
    let all = try store.fetch(Thought.all).sorted(\.embedding, sought, .euclidean)
    try store.core.read { core in
      // Few records would all be read. With statistics of many records the plan uses the index.
      let plan = try PlanningLie.manyRecords.plan(
        query.request(), for: core.entity(named: "Thought"), core: core, &random)
      let lines = plan.description.lines.map(\.text)
      #expect(lines.contains { $0.hasPrefix("Thought.vector(embedding)") }, "\(lines)")
      let ids = try PlanRun(plan, core: core).ids()
      #expect(ids == all.prefix(20).map(\.rawValue))
    }
  }

  /// The number of groups in each index on embeddings, first in the complete one.
  private func groupCounts(_ store: Store) throws -> [Int] {
    try store.core.read { core in
      try core.entity(named: "Thought").computedIndexes
        .filter { $0.description.dimensions == Thought.dimensions }
        .map { try VectorLists(of: $0, in: core.transaction)?.groups.count ?? 0 }
    }
  }

  private func expectReplaced(_ path: String, _ random: inout SeededNumbers) async throws {
    try expectSound(path)
    let store = try Store(at: path, entities: [Thought.self], options: Self.options())
    try await store.waitForIndexes()
    let counts = try groupCounts(store)
    #expect(counts.count == 1 && counts[0] > 0, "\(counts)")
    try expectRight(store, &random)
    store.close()
    try expectSound(path)
    // Nothing is left to do.
    let again = try Store(at: path, entities: [Thought.self], options: Self.options())
    #expect(try again.indexBuilds().isEmpty)
    again.close()
  }

  private func change(_ path: String, _ random: inout SeededNumbers) throws {
    let core = try open(path)
    defer { core.close() }
    try core.write { core in
      var tx = WriteTransaction(core: core)
      try tx.insert((0..<20).map { _ in Thought.random(&random) })
      for id in (0..<30).map({ _ in Thought.ID(rawValue: UInt64(random.below(2_100) + 1)) }) {
        if random.below(3) == 0 {
          try tx.delete(id)
        } else if var one = try tx.fetch(id) {
          one.embedding = Thought.random(&random).embedding
          try tx.update(one)
        }
      }
    }
  }

  @Test func `an outgrown index serves queries until an index with lists replaces it`()
    async throws
  {
    var random = SeededNumbers(salt: 7_900)
    let folder = try folder(4_100, &random)
    let builder = try begin(folder.storePath)
    defer { builder.close() }
    var options = Self.options()
    options.access = .readOnly
    let reader = try Store(at: folder.storePath, entities: [Thought.self], options: options)
    #expect(try reader.indexBuilds().map(\.attributes) == ["vector(embedding)"])
    #expect(try groupCounts(reader) == [0, 0])
    var parts = 0
    while try builder.buildNextPart() {
      parts += 1
      #expect(try groupCounts(reader) == [0, 8])
      let description = try reader.core.read { try $0.entity(named: "Thought").description }
      #expect(description.declaredIndexes(.vector) == description.vectorIndexes)
      try expectRight(reader, &random)
      try expectSound(builder)
    }
    #expect(parts == 2)
    #expect(try groupCounts(reader) == [8])
    try expectRight(reader, &random)
    reader.close()
    try await expectReplaced(folder.storePath, &random)
  }

  @Test func `writes between the sample, the lists and the parts are in both indexes`()
    async throws
  {
    var random = SeededNumbers(salt: 7_910)
    let folder = try folder(2_100, &random)
    let builder = try begin(folder.storePath)
    func change() throws {
      try self.change(folder.storePath, &random)
      try expectSound(builder)
    }
    let makes = try #require(try builder.core.listsForNextPart())
    try change()
    let lists = try makes()
    try change()
    // Another program's store makes lists as well, and comes too late.
    let late = try #require(try builder.core.listsForNextPart())
    #expect(try builder.core.write { try $0.buildNextPart(with: lists) })
    let counts = try groupCounts(builder)
    try change()
    let lateLists = try late()
    #expect(try !builder.core.write { try $0.buildNextPart(with: lateLists) })
    #expect(try groupCounts(builder) == [counts[1]])
    builder.close()
    try await expectReplaced(folder.storePath, &random)
  }

  @Test func `nothing is begun without lists, or with lists of another index`() async throws {
    var random = SeededNumbers(salt: 7_920)
    let folder = try folder(900, &random)
    let builder = try begin(folder.storePath)
    let makes = try #require(try builder.core.listsForNextPart())
    let lists = try makes()
    #expect(try builder.core.write { try $0.buildNextPart(with: nil) })
    #expect(try groupCounts(builder) == [0, 0])
    // A program without the indexes drops both of them, and the next one declares a new one.
    try Store(at: folder.storePath, entities: [PlainThought.self]).close()
    try open(folder.storePath).close()
    #expect(try builder.core.write { try $0.buildNextPart(with: lists) })
    #expect(try groupCounts(builder) == [0])
    builder.close()
    try await expectReplaced(folder.storePath, &random)
  }

  @Test func `two stores that build at once, and write, leave one index`() async throws {
    var random = SeededNumbers(salt: 7_930)
    let folder = try folder(2_100, &random)
    let stores = try (0..<2).map { _ in
      try Store(at: folder.storePath, entities: [Thought.self], options: Self.options())
    }
    repeat {
      try change(folder.storePath, &random)
      try await Task.sleep(for: .milliseconds(500))
    } while try !stores[0].indexBuilds().isEmpty
    for store in stores { try await store.waitForIndexes() }
    for store in stores { store.close() }
    try await expectReplaced(folder.storePath, &random)
  }

  @Test func `a closed store and a released one end the making of lists`() throws {
    var random = SeededNumbers(salt: 7_940)
    let folder = try folder(400, &random)
    let core = try open(folder.storePath)
    let makes = try #require(try core.listsForNextPart())
    core.close()
    _ = try storeError(.closed) { try makes() }
    var released: (@Sendable () throws -> NewLists)?
    do { released = try open(folder.storePath).listsForNextPart() }
    #expect(throws: CancellationError.self) { try released?() }
    try expectSound(folder.storePath)
  }

  @Test func `an opening without the option makes the lists at once`() async throws {
    var random = SeededNumbers(salt: 7_950)
    let folder = try folder(2_100, &random)
    let builder = try begin(folder.storePath)
    #expect(try builder.buildNextPart())
    builder.close()
    let store = try Store(
      at: folder.storePath, entities: [Thought.self], options: Self.options(inUse: false))
    #expect(try store.indexBuilds().isEmpty)
    store.close()
    try await expectReplaced(folder.storePath, &random)
  }

  @Test(arguments: [0, 1])
  func `copies of a file in the middle have the old index, and go on`(parts: Int) async throws {
    var random = SeededNumbers(salt: 7_960)
    let folder = try folder(2_100, &random)
    let builder = try begin(folder.storePath)
    for _ in 0..<parts { #expect(try builder.buildNextPart()) }
    let paths = ["salvaged", "compacted", "exact", "sealed"].map {
      "\(folder.path)/\($0).lodestore"
    }
    try builder.copyUnsealed(to: paths[2], isExact: true)
    try await builder.seal(to: paths[3], name: "thoughts", generation: 1, dataAsOf: Date())
    builder.close()
    for (command, path) in [("salvage", paths[0]), ("compact", paths[1])] {
      let messages = MemorySink()
      let status = await KVDump.execute(
        [command, folder.storePath, path], on: Console(output: MemorySink(), errors: messages))
      #expect(status == .success, "\(messages.text)")
    }
    for path in paths {
      try expectSound(path)
      let store = try Store(at: path, entities: [Thought.self], options: .readOnly)
      try expectRight(store, &random)
      store.close()
      if parts == 1, path != paths[3] { try await expectReplaced(path, &random) }
    }
  }

  @Test func `commands name the index once`() async throws {
    var random = SeededNumbers(salt: 7_970)
    let folder = try folder(900, &random)
    let copy = folder.path + "/copy.lodestore"
    try FileManager.default.copyItem(atPath: folder.storePath, toPath: copy)
    let builder = try begin(folder.storePath)
    builder.close()
    for command in ["schema", "stat", "info", "keys"] {
      let status = await KVDump.execute(
        [command, folder.storePath], on: Console(output: MemorySink(), errors: MemorySink()))
      #expect(status == .success, "\(command)")
    }
    for (old, new) in [(folder.storePath, copy), (copy, folder.storePath)] {
      let output = MemorySink()
      let status = await KVDump.execute(
        ["schema", old, "--diff", new], on: Console(output: output, errors: MemorySink()))
      #expect(status == .success)
      #expect(!output.text.contains("vector(embedding)"), "\(output.text)")
    }
    try expectSound(folder.storePath)
  }

  @Test func `a killed store continues, with all of its writes`() async throws {
    let kills = max(3, (SeededNumbers.environmentNumber("LODESTORE_KILLS") ?? 0) / 20)
    var random = SeededNumbers(salt: 7_980)
    // More than one part of records only where there is time for it.
    let origin = try folder(kills > 3 ? 2_100 : 900, &random)
    for _ in 0..<kills {
      let folder = try TemporaryFolder()
      let path = folder.storePath
      try FileManager.default.copyItem(atPath: origin.storePath, toPath: path)
      let delay = random.below(kills > 3 ? 3_000_000 : 1_200_000)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, delay = delay as Int] in
        Thread.detachNewThread {
          usleep(UInt32(delay))
          kill(getpid(), SIGKILL)
        }
        let store = try Store(at: path, entities: [Thought.self], options: Self.options())
        var random = SeededNumbers(salt: 7_990)
        while true { try store.insert(Thought.random(&random)) }
      }
      try await expectReplaced(path, &random)
    }
  }
}
