import EntityStore
import Foundation
import Testing

@testable import LodestorePages
@testable import LodestoreVerifier

@Suite struct `Indexes that are built while the store is used` {
  private static let count = 25_000

  private func folder(_ change: (inout Gauge.Plain) -> Void = { _ in }) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Gauge.Plain.self])
    try store.insert(
      (0..<Self.count).map { number in
        var gauge = Gauge.Plain(code: "c\(number)", value: number % 1_000)
        change(&gauge)
        return gauge
      })
    store.close()
    return folder
  }

  private func open(_ folder: borrowing TemporaryFolder, inUse: Bool = true) throws -> Store {
    var options = StoreOptions()
    options.buildsIndexesInUse = inUse
    return try Store(at: folder.storePath, entities: [Gauge.Indexed.self], options: options)
  }

  @Test func `indexes are used once they are complete, and right through all changes meanwhile`()
    async throws
  {
    let folder = try folder()
    let store = try open(folder)
    var numbers = SeededNumbers(salt: 5)
    var changes = 0
    var plans: Set<String?> = []
    while try !store.indexBuilds().isEmpty {
      try change(store, &numbers)
      changes += 1
      plans.insert(try plan(store))
      if changes == 3 { try expectSound(store) }
    }
    try await store.waitForIndexes()
    #expect(plans.contains(nil), "a scan at first")
    try expectBuilt(store)
    store.close()
    try expectSound(folder.storePath)
  }

  private func plan(_ store: Store) throws -> String? {
    try store.read { try $0.explain(Gauge.Indexed.where { $0.value == 7 }).index }
  }

  private func expectBuilt(_ store: Store) throws {
    #expect(try store.indexBuilds() == [])
    #expect(try plan(store) == "Gauge.value")
    try store.read { snapshot throws in
      let all = try snapshot.fetch(Gauge.Indexed.all)
      for value in [7, 500, -3] {
        let found = try snapshot.ids(Gauge.Indexed.where { $0.value == value })
        #expect(found == all.filter { $0.value == value }.map(\.id))
      }
      for gauge in all.prefix(20) {
        #expect(try snapshot.fetch(Gauge.Indexed.key(code: gauge.code))?.id == gauge.id)
      }
    }
  }

  /// Makes inserts, updates and deletes at random places among the records.
  private func change(_ store: Store, _ numbers: inout SeededNumbers) throws {
    let ids = (0..<40).map { _ in
      Gauge.Indexed.ID(rawValue: UInt64(numbers.below(Self.count) + 1))
    }
    let code = "n\(numbers.below(1 << 40))"
    let low = numbers.below(990)
    try store.write { tx throws in
      for id in ids.prefix(10) { try tx.delete(id) }
      for (offset, id) in ids.dropFirst(10).prefix(10).enumerated() {
        guard try tx.fetch(id) != nil else { continue }
        try tx.modify(id) {
          $0.value = -3
          $0.code = "\(code).\(offset)"
        }
      }
      try tx.update(
        Gauge.Indexed.where {
          $0.value >= low; $0.value < low + 3
        }
      ) {
        $0.value.add(1)
      }
      try tx.insert((0..<5).map { Gauge.Indexed(code: "\(code)+\($0)", value: 500) })
    }
  }

  @Test func `index builds continue at their last place when the store is opened next`()
    async throws
  {
    let folder = try folder()
    try await usePartly(folder)
    try expectSound(folder.storePath)
    let store = try open(folder)
    try await store.waitForIndexes()
    try expectBuilt(store)
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `a program that does not wait builds indexes at once`() async throws {
    let folder = try folder()
    try await usePartly(folder)
    let store = try open(folder, inUse: false)
    try expectBuilt(store)
    store.close()
    try expectSound(folder.storePath)
  }

  @Test func `index builds survive a program without them, and end with the attribute`()
    async throws
  {
    let folder = try folder()
    try await usePartly(folder)
    let other = try Store(at: folder.storePath, entities: [])
    other.close()
    let plain = try Store(at: folder.storePath, entities: [Gauge.Plain.self])
    // This program declares all attributes and no index, so there is no build.
    #expect(try plain.indexBuilds() == [])
    plain.close()
    try expectSound(folder.storePath)
  }

  @Test func `index builds continue when a task that waits for them is cancelled`() async throws {
    let folder = try folder()
    let store = try open(folder)
    let waiting = Task { try await store.waitForIndexes() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    try await store.waitForIndexes()
    try expectBuilt(store)
    store.close()
    try expectSound(folder.storePath)
  }

  private func failure(of store: Store) async -> StoreError? {
    do {
      try await store.waitForIndexes()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  /// Uses the store and closes it, if possible before its indexes are complete.
  private func usePartly(_ folder: borrowing TemporaryFolder) async throws {
    let store = try open(folder)
    var numbers = SeededNumbers(salt: 6)
    try change(store, &numbers)
    store.close()
    #expect(await failure(of: store)?.code == .closed)
  }

  @Test func `a unique index build reports the first conflicts, and the store continues`()
    async throws
  {
    let folder = try folder { if $0.code == "c20000" || $0.code == "c3" { $0.code = "twin" } }
    let store = try open(folder)
    let error = await failure(of: store)
    #expect(error?.code == .incompatibleSchema)
    #expect(error?.message.contains("records 4 and 20001") == true, "\(error?.message ?? "")")
    #expect(try store.indexBuilds() == [])
    #expect(try plan(store) == "Gauge.value", "the other one was built")
    let none = #expect(throws: StoreError.self) {
      _ = try store.fetch(Gauge.Indexed.key(code: "c5"))
    }
    #expect(none?.code == .unknownIndex)
    try await store.update(Gauge.Indexed.where { $0.code == "twin" }.limit(1)) { $0.code = "other" }
    try expectSound(store)
    store.close()
    let again = try open(folder)
    try await again.waitForIndexes()
    try expectBuilt(again)
    again.close()
    try expectSound(folder.storePath)
  }

  @Test func `unique indexes refuse a change of one record and stay, during the build`()
    async throws
  {
    let folder = try folder()
    let store = try open(folder)
    var isRefused: Bool?
    while try !store.indexBuilds().isEmpty {
      guard try store.indexBuilds().contains(where: { $0.progress.completed > 2 }) else { continue }
      isRefused = try await store.write { tx in
        guard var second = try tx.fetch(Gauge.Indexed.ID(rawValue: 2)) else { return false }
        second.code = "c0"
        do {
          _ = try tx.update(second)
        } catch let error as StoreError where error.code == .uniqueViolation {
          return true
        }
        return false
      }
      break
    }
    try await store.waitForIndexes()
    if isRefused == nil { print("skipped: the indexes were built before the change") }
    #expect(isRefused != false)
    try expectBuilt(store)
    store.close()
    try expectSound(folder.storePath)
  }

  /// Runs `body` when an index has entries of the first records, then waits until the index is
  /// complete.
  private func whileBuilt(
    _ folder: borrowing TemporaryFolder, _ body: (Store) async throws -> Void
  ) async throws {
    var options = StoreOptions()
    options.buildsIndexesInUse = true
    let store = try Store(at: folder.storePath, entities: [Gauge.Counted.self], options: options)
    var isRun = false
    while !isRun, try !store.indexBuilds().isEmpty {
      guard try store.indexBuilds().contains(where: { $0.progress.completed > 200 }) else {
        continue
      }
      try await body(store)
      isRun = true
    }
    if !isRun { print("skipped: the indexes were built before the change") }
    try await store.waitForIndexes()
    store.close()
    try expectSound(folder.storePath)
  }

  /// A folder with records whose `value` is the number in `code`; the index over `code` is
  /// complete.
  private func numberedFolder() throws -> TemporaryFolder {
    let folder = try folder { $0.value = Int($0.code.dropFirst()) ?? 0 }
    try open(folder, inUse: false).close()
    return folder
  }

  @Test func `a batch moves the keys of a unique index to other records during the build`()
    async throws
  {
    let folder = try numberedFolder()
    try await whileBuilt(folder) { store async throws in
      // One update changes all records, and another one so few that it is rehearsed.
      try await store.update(Gauge.Counted.all) { $0.value.add(1) }
      try await store.update(Gauge.Counted.where { $0.value <= 100 }) { $0.value.add(-1) }
      let error = await #expect(throws: StoreError.self) {
        try await store.update(Gauge.Counted.where { $0.value == 5 }) { $0.value = 7 }
      }
      #expect(error?.code == .uniqueViolation)
      let values = try await store.fetch(Gauge.Counted.all).map(\.value)
      #expect(values == Array(0..<100) + Array(101...Self.count))
    }
  }

  @Test func `a unique index rejects only one row of an import during the build`()
    async throws
  {
    let folder = try numberedFolder()
    try await whileBuilt(folder) { store async throws in
      let rows = [("c0", 1), ("c2", -2), ("c3", -3)].map { Gauge.Counted(code: $0, value: $1) }
      let pages = AsyncStream { continuation in
        continuation.yield(rows)
        continuation.finish()
      }
      let report = try await Importer(
        into: store, Gauge.Counted.self, matching: .unique(\.code)
      ).run(decoded: pages) { (row: Gauge.Counted) in row }
      #expect(report.updated == 2 && report.rejected == 1, "\(report)")
      let values = try await store.fetch(Gauge.Counted.all.limit(4)).map(\.value)
      #expect(values == [0, 1, -2, -3])
    }
  }

  @Test func `rows of a page exchange keys, and rows with taken keys are rejected`()
    async throws
  {
    let folder = try numberedFolder()
    try await whileBuilt(folder) { store async throws in
      let rows = [("c0", 1), ("c1", 0), ("c2", -2), ("c5", 7), ("c6", 8)]
      let pages = AsyncStream { continuation in
        continuation.yield(rows.map { Gauge.Counted(code: $0, value: $1) })
        continuation.finish()
      }
      let report = try await Importer(
        into: store, Gauge.Counted.self, matching: .unique(\.code)
      ).run(decoded: pages) { (row: Gauge.Counted) in row }
      #expect(report.updated == 3 && report.rejected == 2, "\(report)")
      let values = try await store.fetch(Gauge.Counted.all.limit(7)).map(\.value)
      #expect(values == [1, 0, -2, 3, 4, 5, 6])
    }
  }

  @Test func `an update of another attribute leaves an index entry unchanged during the build`()
    async throws
  {
    let folder = try numberedFolder()
    try await whileBuilt(folder) { store async throws in
      let first = Gauge.Counted.where { $0.value < 100 }
      // The second update finds the records in the current layout, so it changes them in their
      // page.
      for spare in 1...2 { #expect(try await store.update(first) { $0.spare = spare } == 100) }
      #expect(try await store.update(first) { $0.spare = 2 } == 0)
    }
  }

  @Test func `a unique index refuses a stored key after the build`() async throws {
    let folder = try folder()
    let store = try open(folder)
    try await store.waitForIndexes()
    let error = #expect(throws: StoreError.self) {
      try store.insert(Gauge.Indexed(code: "c17", value: 1))
    }
    #expect(error?.code == .uniqueViolation)
    store.close()
  }
}

/// One entity with and without indexes.
private enum Gauge {
  struct Plain: Entity {
    var id = RecordID<Plain>()
    var code: String
    var value: Int

    struct Attributes: Sendable {
      var code: Attribute<Plain, String> { .init(0) }
      var value: Attribute<Plain, Int> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Plain>(
      "Gauge", attributes: [.init("code", \.code), .init("value", \.value)])

    init(code: String, value: Int) {
      self.code = code
      self.value = value
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      code = try reader.read()
      value = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(code)
      writer.write(value)
    }
  }

  struct Counted: Entity {
    var id = RecordID<Counted>()
    var code: String
    var value: Int
    var spare: Int?

    struct Attributes: Sendable {
      var code: Attribute<Counted, String> { .init(0) }
      var value: Attribute<Counted, Int> { .init(1) }
      var spare: Attribute<Counted, Int?> { .init(2) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Counted>(
      "Gauge",
      attributes: [.init("code", \.code), .init("value", \.value), .init("spare", \.spare)],
      unique: [[\.code], [\.value]])

    init(code: String, value: Int) {
      self.code = code
      self.value = value
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      code = try reader.read()
      value = try reader.read()
      spare = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(code)
      writer.write(value)
      writer.write(spare)
    }
  }

  struct Indexed: Entity {
    var id = RecordID<Indexed>()
    var code: String
    var value: Int

    struct Attributes: Sendable {
      var code: Attribute<Indexed, String> { .init(0) }
      var value: Attribute<Indexed, Int> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Indexed>(
      "Gauge", attributes: [.init("code", \.code), .init("value", \.value)], unique: [[\.code]],
      indexes: [[\.value]])

    static func key(code: String) -> EntityKey<Indexed> {
      EntityKey(_of: attributes.code, code)
    }

    init(code: String, value: Int) {
      self.code = code
      self.value = value
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      code = try reader.read()
      value = try reader.read()
    }

    func encode(into writer: inout RecordWriter) {
      writer.write(code)
      writer.write(value)
    }
  }
}
