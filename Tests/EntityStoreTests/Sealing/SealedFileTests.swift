import Foundation
import LMDB
import Testing

@testable import EntityStore

/// The content and bytes of sealed files, and the operations that they allow.
@Suite("Sealed files")
struct SealedFileTests {
  private static let asOf = Date(timeIntervalSinceReferenceDate: 800_000_000)
  private static let sealedAt = Date(timeIntervalSinceReferenceDate: 800_000_100)
  static let everything: [any Entity.Type] =
    [PersonV2.self, CorpusSpecimen.self, CorpusTrip.self, CorpusNote.self] + CorpusMusic.entities

  @discardableResult
  static func seal(_ store: Store, to path: String, generation: UInt64 = 7) throws -> Seal {
    try store.seal(
      to: path, name: "pods", generation: generation, dataAsOf: asOf, sealedAt: sealedAt)
  }

  private static func bytes(_ path: String) throws -> Data {
    try #require(FileManager.default.contents(atPath: path))
  }

  /// The names of files in a folder.
  private static func names(_ folder: String) throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder))
  }

  // MARK: Content

  @Test func `a sealed file has the whole content except the history and imports`() async throws {
    let folder = try TemporaryFolder()
    try await CorpusMaker.make(folder.storePath)
    let sealed = folder.path + "/sealed.lodestore"
    let store = try Store(at: folder.storePath, entities: Self.everything)
    let seal = try Self.seal(store, to: sealed)
    #expect(store.seal == nil)
    #expect(seal.name == "pods" && seal.generation == 7)
    #expect(seal.dataAsOf == Self.asOf && seal.sealedAt == Self.sealedAt)
    #expect(seal.recordCounts["Specimen"] == CorpusSpecimen.all.count)
    let facts = try DynamicStore(store).read { try $0.facts() }
    #expect(facts.digest.map { "\($0)" } == seal.contentDigest)

    let opened = try Store(at: sealed, entities: Self.everything)
    #expect(opened.seal == seal)
    #expect(try Seal(ofFileAt: sealed) == seal)
    try await opened.read { snapshot in
      #expect(try snapshot.fetch(CorpusSpecimen.all) == CorpusSpecimen.all)
      #expect(try snapshot.fetch(CorpusTrip.all) == CorpusTrip.all)
      #expect(try snapshot.fetch(PersonV2.all).map(\.name) == ["Ada", "Bob", "Eve"])
      let bands = try snapshot.fetch(CorpusBand.all)
      #expect(try snapshot.related(CorpusBand.players, of: bands[0].id).count == 3)
      #expect(try snapshot.data(for: "bytes", in: "settings") == Data([1, 2, 3]))
    }
    let histories = (try await opened.history().count, try await store.history().count)
    #expect(histories.0 == 0 && histories.1 > 0)
    opened.close()
    store.close()
    try expectSound(sealed)
    try expectSound(folder.storePath)
  }

  @Test func `every index of a sealed file finds its records`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try store.write { transaction in
      try transaction.insert((1...3_000).map { Film(title: "t\($0 % 50)", episode: $0) })
      try transaction.delete(Film.where { $0.episode > 2_000 })
    }
    let sealed = folder.path + "/sealed.lodestore"
    let seal = try Self.seal(store, to: sealed)
    store.close()
    #expect(seal.recordCounts == ["Film": 2_000])
    let opened = try Store(at: sealed, entities: [Film.self])
    try opened.read { snapshot throws in
      #expect(try snapshot.fetch(Film.where { $0.episode == 1_234 }).map(\.title) == ["t34"])
      #expect(try snapshot.count(Film.where { $0.title == "t7" }) == 40)
      #expect(try snapshot.count(Film.all) == 2_000)
    }
    opened.close()
    try expectSound(sealed)
  }

  // MARK: Bytes

  @Test func `a sealed file has no byte of deleted text, which the store still has`() throws {
    let folder = try TemporaryFolder()
    var options = StoreOptions()
    options.history = .images
    let store = try Store(at: folder.storePath, entities: [Film.self], options: options)
    let secret = "the secret that was deleted"
    try store.write { transaction in
      try transaction.insert((1...400).map { Film(title: "\(secret) \($0)", episode: $0) })
      try transaction.put(Data(secret.utf8), for: "note", in: "settings")
    }
    try store.write { transaction in
      try transaction.delete(Film.where { $0.episode > 200 })
      var rest = try transaction.fetch(Film.all)
      for index in rest.indices { rest[index].title = "kept" }
      for film in rest { try transaction.update(film) }
      try transaction.delete(key: "note", in: "settings")
    }
    let sealed = folder.path + "/sealed.lodestore"
    try Self.seal(store, to: sealed)
    store.close()
    #expect(try Self.bytes(folder.storePath).range(of: Data(secret.utf8)) != nil)
    #expect(try Self.bytes(sealed).range(of: Data(secret.utf8)) == nil)
    try expectSound(sealed)
  }

  @Test func `a sealed file has no value of a removed attribute and all other values`() throws {
    let folder = try TemporaryFolder()
    let first = try Store(at: folder.storePath, entities: [Full.self])
    try first.write { transaction in
      try transaction.insert((1...50).map { Full(name: "n\($0)", secret: "hidden \($0)") })
    }
    first.close()
    let store = try Store(at: folder.storePath, entities: [Reduced.self])
    // One record is written in the new layout; all other records keep the old layout.
    try store.write { try $0.insert(Reduced(name: "new")) }
    let before = try store.fetch(Reduced.all)
    let sealed = folder.path + "/sealed.lodestore"
    try Self.seal(store, to: sealed)
    store.close()
    #expect(try Self.bytes(folder.storePath).range(of: Data("hidden 7".utf8)) != nil)
    #expect(try Self.bytes(sealed).range(of: Data("hidden".utf8)) == nil)
    let opened = try Store(at: sealed, entities: [Reduced.self])
    #expect(try opened.fetch(Reduced.all) == before)
    #expect(try opened.fetch(Reduced.where { $0.name == "n33" }).count == 1)
    opened.close()
    try expectSound(sealed)
  }

  @Test func `a sealed file has no value of a removed member of a nested type`() throws {
    let folder = try TemporaryFolder()
    let first = try Store(at: folder.storePath, entities: [Account<FullProfile>.self])
    try first.write { transaction in
      try transaction.insert(
        (1...20).map { Account(["p": [FullProfile(name: "n\($0)", token: "hidden \($0)")]]) })
    }
    first.close()
    let store = try Store(at: folder.storePath, entities: [Account<ReducedProfile>.self])
    let before = try store.fetch(Account<ReducedProfile>.all)
    let sealed = folder.path + "/sealed.lodestore"
    try Self.seal(store, to: sealed)
    store.close()
    #expect(try Self.bytes(folder.storePath).range(of: Data("hidden 7".utf8)) != nil)
    #expect(try Self.bytes(sealed).range(of: Data("hidden".utf8)) == nil)
    let opened = try Store(at: sealed, entities: [Account<ReducedProfile>.self])
    let after = try opened.fetch(Account<ReducedProfile>.all)
    #expect(after.map(\.profiles) == before.map(\.profiles) && after.count == 20)
    opened.close()
    try expectSound(sealed)
  }

  @Test func `a sealed file has no expired record, and is refused if one cannot be evicted`() throws
  {
    let folder = try TemporaryFolder()
    let clock = TestClock()
    let entities: [any Entity.Type] = [Offer.self, Shop.self]
    let store = try Store(at: folder.storePath, entities: entities, options: clock.options)
    try store.insert([Offer("lasting", until: 9_000), Offer("vanishing", until: 1_100)])
    clock.now = 2_000
    let sealed = folder.path + "/sealed.lodestore"
    var options = clock.options
    options.access = .readOnly
    let reader = try Store(at: folder.storePath, entities: entities, options: options)
    let error = try storeError(.deleteDenied) { try Self.seal(reader, to: sealed) }
    #expect(error.message.contains("1 expired records of Offer"))
    #expect(!FileManager.default.fileExists(atPath: sealed))
    reader.close()
    let seal = try Self.seal(store, to: sealed)
    #expect(seal.recordCounts["Offer"] == 1)
    #expect(try Self.bytes(sealed).range(of: Data("vanishing".utf8)) == nil)
    #expect(try Self.bytes(sealed).range(of: Data("lasting".utf8)) != nil)
    store.close()
    try expectSound(sealed)
  }

  @Test func `sealed files of one commit are identical, whatever the pages of the store are`()
    async throws
  {
    let folder = try TemporaryFolder()
    try await CorpusMaker.make(folder.storePath)
    let store = try Store(at: folder.storePath, entities: [])
    let copy = folder.path + "/copy.lodestore"
    try await store.backup(to: copy)
    let compacted = try Store(at: copy, entities: [])
    let names = ["one", "two", "three", "four"].map { folder.path + "/\($0).lodestore" }
    try Self.seal(store, to: names[0])
    try Self.seal(store, to: names[1])
    try Self.seal(compacted, to: names[2])
    let resealed = try Store(at: names[0], entities: [])
    try Self.seal(resealed, to: names[3])
    for store in [store, compacted, resealed] { store.close() }
    let first = try Self.bytes(names[0])
    for name in names.dropFirst() { #expect(try Self.bytes(name) == first) }
  }

  @Test func `sealed files of stores of both engines are identical`() throws {
    let folder = try TemporaryFolder()
    var sealed: [Data] = []
    for format in PageFormat.all {
      let path = `Files of earlier versions`.folder(of: format) + "/format-5.lodestore"
      let copy = folder.path + "/\(format.dataVersion).lodestore"
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      let store = try Store(at: copy, entities: [], options: .readOnly)
      try Self.seal(store, to: copy + ".sealed")
      store.close()
      sealed.append(try Self.bytes(copy + ".sealed"))
      try expectSound(copy + ".sealed")
    }
    #expect(sealed[0] == sealed[1])
  }

  // MARK: Opening

  @Test func `a sealed file is read from a read-only folder, without a file next to it`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try store.write { try $0.insert(Film(title: "one", episode: 1)) }
    let place = folder.path + "/medium"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let sealed = place + "/sealed.lodestore"
    try Self.seal(store, to: sealed)
    store.close()
    let mode = try FileManager.default.attributesOfItem(atPath: sealed)[.posixPermissions]
    #expect((mode as? NSNumber)?.intValue == 0o400)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: place)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place)
    }
    let before = try Self.bytes(sealed)
    for options in [StoreOptions(), .readOnly] {
      let opened = try Store(at: sealed, entities: [Film.self], options: options)
      let other = try Store(at: sealed, entities: [Film.self])
      #expect(try opened.fetch(Film.all).map(\.title) == ["one"])
      #expect(try other.fetch(Film.all).map(\.title) == ["one"])
      #expect(try Self.names(place) == ["sealed.lodestore"])
      opened.close()
      other.close()
    }
    #expect(try Self.names(place) == ["sealed.lodestore"])
    #expect(try Self.bytes(sealed) == before)
  }

  @Test func `a sealed file refuses every write and states that it is sealed`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    _ = try await store.write { try $0.insert(Film(title: "one", episode: 1)) }
    let sealed = folder.path + "/sealed.lodestore"
    try Self.seal(store, to: sealed)
    store.close()
    let opened = try Store(at: sealed, entities: [Film.self])
    defer { opened.close() }
    let dynamic = DynamicStore(opened)
    let error = try storeError(.sealed) { try dynamic.write { _ in } }
    #expect(error.message.contains("it is a sealed file, generation 7 of 'pods'"))
    await #expect(throws: StoreError.self) {
      try await opened.write { transaction in try transaction.insert(Film(title: "x", episode: 3)) }
    }
    var options = StoreOptions()
    options.access = .previousCommit
    _ = try storeError(.noPreviousCommit) { try Store(at: sealed, entities: [], options: options) }
  }

  @Test func `a sealed file that does not fit the declared types is refused with a message`() throws
  {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [PersonV1.self])
    let sealed = folder.path + "/sealed.lodestore"
    try Self.seal(store, to: sealed)
    store.close()
    let before = try Self.bytes(sealed)
    let changed = try storeError(.incompatibleSchema) {
      try Store(at: sealed, entities: [PersonV2.self])
    }
    #expect(changed.message.contains("cannot open the sealed file with Person"))
    let missing = try storeError(.unknownEntity) { try Store(at: sealed, entities: [Film.self]) }
    #expect(missing.message.contains("cannot open the sealed file with Film"))
    #expect(try Self.bytes(sealed) == before)
  }

  @Test func `a read of a sealed file is never overtaken, and a snapshot never expires`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    try store.write { try $0.insert(Film(title: "one", episode: 1)) }
    let sealed = folder.path + "/sealed.lodestore"
    try Self.seal(store, to: sealed)
    store.close()
    let opened = try Store(at: sealed, entities: [Film.self])
    let pinned = try opened.snapshot()
    for _ in 0..<3 {
      let count = try pinned.read { try $0.count(Film.all) }
      #expect(count == 1)
    }
    opened.close()
  }

  // MARK: Making

  @Test func `sealing refuses invalid arguments`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    defer { store.close() }
    let sealed = folder.path + "/sealed.lodestore"
    for name in ["", "a/b", ".a", "a b", "é", String(repeating: "a", count: 65)] {
      _ = try storeError(.invalidValue) {
        try store.seal(to: sealed, name: name, generation: 1, dataAsOf: Self.asOf)
      }
    }
    for generation in [0, UInt64.max] {
      _ = try storeError(.invalidValue) {
        try store.seal(to: sealed, name: "a", generation: generation, dataAsOf: Self.asOf)
      }
    }
    _ = try storeError(.nestedWrite) {
      try store.write { _ in try Self.seal(store, to: sealed) }
    }
    #expect(try Self.names(folder.path) == ["test.lodestore", "test.lodestore-lock"])
    try Data([1]).write(to: URL(fileURLWithPath: sealed))
    _ = try storeError(.unsuitablePath) { try Self.seal(store, to: sealed) }
    #expect(try Self.bytes(sealed) == Data([1]))
    _ = try storeError(.notAStore) { try Seal(ofFileAt: sealed) }
    _ = try storeError(.notSealed) { try Seal(ofFileAt: folder.storePath) }
    _ = try storeError(.noSuchStore) { try Seal(ofFileAt: folder.path + "/none") }
  }

  @Test func `a cancelled sealing leaves nothing`() async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: [Film.self])
    defer { store.close() }
    _ = try await store.write { transaction in
      try transaction.insert((1...3_000).map { Film(title: "t", episode: $0) })
    }
    let sealed = folder.path + "/sealed.lodestore"
    let task = Task {
      try await store.seal(
        to: sealed, name: "a", generation: 1, dataAsOf: Self.asOf
      ) { _ in withUnsafeCurrentTask { $0?.cancel() } }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try Self.names(folder.path) == ["test.lodestore", "test.lodestore-lock"])
    let seal = try await store.seal(
      to: sealed, name: "a", generation: 1, dataAsOf: Self.asOf, sealedAt: Self.sealedAt)
    #expect(seal.recordCounts == ["Film": 3_000])
  }
}

/// An entity before one of its attributes is removed.
private struct Full: Entity, Equatable {
  var id = RecordID<Full>()
  var name: String
  var secret: String

  init(name: String, secret: String) {
    self.name = name
    self.secret = secret
  }

  struct Attributes: Sendable {
    var id: Attribute<Full, RecordID<Full>> { .recordID }
    var name: Attribute<Full, String> { .init(0) }
    var secret: Attribute<Full, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Full>(
    "Person", attributes: [.init("name", \.name), .init("secret", \.secret)],
    indexes: [[\.name]])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    secret = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(secret)
  }
}

/// The entity after the change.
private struct Reduced: Entity, Equatable {
  var id = RecordID<Reduced>()
  var name: String

  init(name: String) { self.name = name }

  struct Attributes: Sendable {
    var id: Attribute<Reduced, RecordID<Reduced>> { .recordID }
    var name: Attribute<Reduced, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Reduced>(
    "Person", attributes: [.init("name", \.name)], indexes: [[\.name]], removed: ["secret"])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// An account with profiles of some type: the same entity for each.
private struct Account<Profile: Codable & Sendable>: Entity {
  var id = RecordID<Account>()
  var profiles: [String: [Profile]]

  static var schema: EntitySchema<Account> {
    EntitySchema("Account", attributes: [.init("profiles", \.profiles)])
  }

  init(_ profiles: [String: [Profile]]) { self.profiles = profiles }

  init(from reader: inout RecordReader) throws(StoreError) { profiles = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(profiles) }
}

private struct FullProfile: Codable, Equatable {
  var name: String
  var token: String
}

private struct ReducedProfile: Codable, Equatable { var name: String }
