import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

/// Numbers that are assigned only once, such as ids, at the end of their range.
@Suite struct `Numbers that are used up` {
  private static func change(_ path: String, _ body: (WriteCore) throws -> Void) throws {
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { try body($0) }
  }

  /// Changes the description of the only entity in the file.
  private static func describe(
    _ path: String, _ body: (inout EntityDescription) -> Void
  ) throws {
    try change(path) { core in
      var description = try #require(core.schema.entities.first).description
      body(&description)
      try core.store.trees.put(description, in: core.writing)
      try core.store.trees.raiseSchemaNumber(in: core.writing)
    }
  }

  // MARK: The schema

  @Test func `numbers of the schema end with 2^62, and a further change is refused`() throws {
    try withTemporaryPath { path throws in
      try Store(at: path, entities: [PersonV1.self]).close()
      try Self.change(path) { core in
        try core.writing.put(
          HeaderField.schema.key, littleEndianBytes(UInt64(1) << 62 - 1),
          in: core.store.trees.header)
      }
      try Store(at: path, entities: [PersonV1.self, Film.self]).close()
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [PersonV2.self])
      }
      #expect(error.message.contains("4611686018427387904"))
      let store = try Store(at: path, entities: [PersonV1.self])
      try store.insert(PersonV1(name: "p", email: nil, age: 1))
      // The history, an optional tree, cannot be created either, and the transaction continues.
      try store.write { tx throws in
        _ = try storeError(.incompatibleSchema) {
          try tx.setHistoryToken(try tx.historyToken(), ofConsumer: "me")
        }
      }
      store.close()
    }
  }

  @Test func `used up numbers of attributes are reported, and the file stays unchanged`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [PersonV1.self])
      try store.insert(PersonV1(name: "p", email: nil, age: 1))
      store.close()
      try Self.describe(path) {
        $0.attributes.append(
          .init(
            number: EntityDescription.highestAttributeNumber, name: "gone", type: .int64,
            isOptional: true, isRemoved: true))
      }
      try Self.expectRefusal(path, "16383 attributes")
    }
  }

  @Test func `used up numbers of layouts are reported, and the file stays unchanged`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: [PersonV1.self])
      try store.insert(PersonV1(name: "p", email: nil, age: 1))
      store.close()
      try Self.describe(path) {
        $0.layouts.append(
          RecordLayout(
            number: RecordLayout.highestNumber,
            attributes: [.init(number: 1, type: .string, isOptional: false)]))
      }
      try Self.expectRefusal(path, "16383 layouts")
    }
  }

  private static func expectRefusal(_ path: String, _ fact: String) throws {
    try expectSound(path)
    let error = try storeError(.incompatibleSchema) {
      try Store(at: path, entities: [PersonV2.self])
    }
    #expect(error.entity == "Person" && error.message.contains(fact), "\(error)")
    #expect(!error.message.contains("verify") && error.message.contains("new store"), "\(error)")
    let store = try Store(at: path, entities: [PersonV1.self])
    #expect(try store.count(PersonV1.all) == 1)
    store.close()
    let dynamic = try DynamicStore(path: path, options: StoreOptions())
    defer { dynamic.close() }
    _ = try storeError(.incompatibleSchema) {
      try dynamic.declare([try DeclaredEntity(PersonV2.self)])
    }
  }

  // MARK: Records

  @Test func `used up ids of records are refused to new records alone`() throws {
    try withTemporaryPath { path throws in
      try Store(at: path, entities: [Player.self]).close()
      let limit = WriteCore.idLimit
      try Self.change(path) { core in
        try core.writing.put(
          CounterKey.nextRecord(entity: 1), littleEndianBytes(limit - 1),
          in: core.store.trees.counters)
      }
      let store = try Store(at: path, entities: [Player.self])
      // A transaction that begins below the limit may assign ids beyond it.
      let ids = try store.insert((0..<3).map { Player(name: "p\($0)") }).ids
      #expect(Array(ids).map(\.rawValue) == [limit - 1, limit, limit + 1])
      let single = try storeError(.unstorableValue) { try store.insert(Player(name: "new")) }
      let batch = try storeError(.unstorableValue) { try store.insert([Player(name: "new")]) }
      let merged = try storeError(.unstorableValue) {
        try store.insert([Player(name: "new")], onConflict: .replace)
      }
      for error in [single, batch, merged] {
        #expect(error.message.hasPrefix("cannot insert Player: the next id would be \(limit + 2)"))
        #expect(error.entity == "Player" && !error.message.contains("verify"))
      }
      // All existing records can still be read, changed and deleted.
      try store.write { tx throws in
        try tx.modify(ids[1]) { $0.score = 7 }
        try tx.insert([Player(name: "p0", score: 5)], onConflict: .replace)
        try tx.delete(ids[2])
      }
      #expect(try store.fetch(Player.all).map(\.score) == [5, 7])
      store.close()
    }
  }

  @Test func `ids of records beyond 2^63 are damage`() throws {
    let folder = try TemporaryFolder()
    try Store(at: folder.storePath, entities: [Player.self]).close()
    try Self.change(folder.storePath) { core in
      try core.writing.put(
        CounterKey.nextRecord(entity: 1), littleEndianBytes(UInt64.max),
        in: core.store.trees.counters)
    }
    let store = try Store(at: folder.storePath, entities: [Player.self])
    let error = try storeError(.damaged) { try store.insert(Player(name: "new")) }
    #expect(error.message.hasPrefix("cannot change Player: ") && error.entity == "Player")
    store.close()
  }
}
