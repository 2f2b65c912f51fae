import Foundation
import LodestoreFormat
import LodestoreVerifier
import Testing

@testable import EntityStore

/// ``Page`` with an attribute that is removed later.
private struct NotedPage: Entity {
  var id = RecordID<NotedPage>()
  var url: String
  var note: String

  static let schema = EntitySchema<NotedPage>(
    "Page", attributes: [.init("url", \.url), .init("note", \.note)], unique: [[\.url]],
    limit: EntityLimit(bytes: 1_000))

  init(_ url: String, note: String) {
    self.url = url
    self.note = note
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(url)
    writer.write(note)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    url = try reader.read()
    note = try reader.read()
  }
}

private struct BarePage: Entity {
  var id = RecordID<BarePage>()
  var url: String

  static let schema = EntitySchema<BarePage>(
    "Page", attributes: [.init("url", \.url)], unique: [[\.url]],
    limit: EntityLimit(bytes: 1_000), removed: ["note"])

  func encode(into writer: inout RecordWriter) { writer.write(url) }

  init(from reader: inout RecordReader) throws(StoreError) { url = try reader.read() }
}

@Suite struct `The file of a limited entity` {
  typealias Cached = Page<FewPages>

  private func fill(_ path: String) throws {
    let store = try Store(at: path, entities: [Cached.self], options: .withoutKeeper)
    try store.write { tx in
      _ = try tx.insert((0..<30).map { Cached("p\($0)", "body \($0)", at: Double($0)) })
    }
    store.close()
  }

  @Test func `a sealed file keeps limit and size, although its records may be shorter`() throws {
    let folder = try TemporaryFolder()
    let noted = try Store(
      at: folder.storePath, entities: [NotedPage.self], options: .withoutKeeper)
    try noted.write { tx in
      _ = try tx.insert((0..<10).map { NotedPage("p\($0)", note: "a secret note") })
    }
    noted.close()
    let bare = try Store(at: folder.storePath, entities: [BarePage.self], options: .withoutKeeper)
    let size = try bare.storedSize(of: BarePage.self)
    let sealed = folder.path + "/sealed.lodestore"
    try SealedFileTests.seal(bare, to: sealed)
    bare.close()
    try expectSound(sealed)
    let opened = try Store(at: sealed, entities: [BarePage.self], options: .withoutKeeper)
    let lengths = try opened.storedLengths(of: BarePage.self)
    #expect(try opened.storedSize(of: BarePage.self) == lengths.values.reduce(0, +))
    #expect(try opened.storedSize(of: BarePage.self) < size)
    let limit = try opened.core.read { try $0.entity(BarePage.self).description.limit }
    #expect(limit?.byteCount == 1_000)
    opened.close()
    try expectSound(folder.storePath)
  }

  @Test func `a compact copy keeps limit and size, and its limit continues`() throws {
    let folder = try TemporaryFolder()
    try fill(folder.storePath)
    let copy = folder.path + "/copy.lodestore"
    let source = try DynamicStore(path: folder.storePath, options: .readOnly)
    try source.copy(to: copy, compacting: true)
    source.close()
    let store = try Store(at: copy, entities: [Cached.self], options: .withoutKeeper)
    let before = try store.storedSize(of: Cached.self)
    #expect(before == (try store.storedLengths(of: Cached.self)).values.reduce(0, +))
    try store.write { tx in
      _ = try tx.insert((0..<50).map { Cached("q\($0)", at: 100 + Double($0)) })
    }
    #expect(try store.evict().evictedCount == 40)
    store.close()
    try expectSound(copy)
  }

  @Test func `the verifier finds a size of an entity that its records do not have`() throws {
    let folder = try TemporaryFolder()
    try fill(folder.storePath)
    let core = try StoreCore(path: folder.storePath, options: .withoutKeeper)
    let entity = try #require(core.schema.entities.first).number
    try core.environment.write { transaction in
      try transaction.put(
        CounterKey.size(entity: entity), littleEndianBytes(UInt64(7)), in: core.trees.counters)
    }
    core.close()
    let findings = try Verifier.verify(path: folder.storePath).findings
    #expect(findings.map(\.rule) == [.counterSize], "\(findings)")
    #expect(findings.first?.detail.contains("is 7, must be") == true, "\(findings)")
  }

  @Test func `a file without the size of a limited entity refuses a write with a message`() throws {
    let folder = try TemporaryFolder()
    try fill(folder.storePath)
    let core = try StoreCore(path: folder.storePath, options: .withoutKeeper)
    let entity = try #require(core.schema.entities.first).number
    try core.environment.write { transaction in
      _ = try transaction.delete(CounterKey.size(entity: entity), in: core.trees.counters)
    }
    core.close()
    let store = try Store(at: folder.storePath, entities: [Cached.self], options: .withoutKeeper)
    let error = try storeError(.damaged) { try store.insert(Cached("new")) }
    #expect(error.message.contains("has no size"), "\(error.message)")
    #expect(try store.count(Cached.all) == 30)
    store.close()
  }

  @Test func `entities with and without a limit differ in their schema alone`() throws {
    let folder = try TemporaryFolder()
    try fill(folder.storePath)
    let other = folder.path + "/other.lodestore"
    let free = try Store(
      at: other, entities: [Page<AllPages>.self], options: .withoutKeeper)
    try free.write { tx in
      _ = try tx.insert((0..<30).map { Page<AllPages>("p\($0)", "body \($0)", at: Double($0)) })
    }
    let limited = try Store(
      at: folder.storePath, entities: [Cached.self], options: .withoutKeeper)
    let older = try free.read { $0.core.schema }
    let newer = try limited.read { $0.core.schema }
    let differences = SchemaComparison(older, newer, entities: nil).differences
    #expect(differences.map(\.subject) == [.index, .limit])
    #expect(differences.last?.new == "40 records, 3000 bytes, by 'fetchedAt'")
    #expect(differences.last?.old == nil && differences.last?.name == "limit")
    for store in [free, limited] { store.close() }
    try expectSound(other)
  }
}
