import EntityStore
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import KVDumpCommands
@testable import LodestoreVerifier

private struct Shelf: Entity {
  var id = RecordID<Shelf>()
  var name: String

  static let schema = EntitySchema<Shelf>(
    "Shelf", attributes: [.init("name", \.name)], unique: [[\.name]])

  init(_ name: String) { self.name = name }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// A book, which is always on a shelf.
private struct Book: Entity {
  var id = RecordID<Book>()
  var title: String
  var shelf: RecordID<Shelf>

  static let schema = EntitySchema<Book>(
    "Book", attributes: [.init("title", \.title), .toOne("shelf", \.shelf)], unique: [[\.title]])

  init(_ title: String, _ shelf: UInt64) {
    self.title = title
    self.shelf = .init(rawValue: shelf)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    shelf = try reader.read()
    id = reader.id()
  }
  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(shelf)
  }
}

@Suite struct `Salvage of repeated keys in several entities` {
  @Test(arguments: [false, true])
  func `salvage keeps a record whose duplicate is removed with its owner`(isReversed: Bool)
    async throws
  {
    let folder = try StoreFolder()
    // The entities get their numbers in this order.
    let entities: [any Entity.Type] =
      isReversed ? [Book.self, Shelf.self] : [Shelf.self, Book.self]
    let store = try Store(at: folder.store, entities: entities)
    try await store.write { tx throws in
      _ = try tx.insert([Shelf("a"), Shelf("b")])
      _ = try tx.insert([Book("x", 2), Book("y", 1), Book("z", 2)])
    }
    store.close()
    let (shelf, book): (EntityNumber, EntityNumber) = isReversed ? (2, 1) : (1, 2)
    try FaultFile.commit(to: folder.store) { raw in
      // Shelf 1 is left out because of its copy, and book 2 with it. Then book 1 is the only book
      // with its title.
      try raw.putCopy(of: 1, as: 3, entity: shelf)
      let content = try raw.record(2, entity: book).dropLast(4).map {
        $0 == UInt8(ascii: "y") ? UInt8(ascii: "x") : $0
      }
      let checksum = content._withBytes { Checksum.record(id: 2, body: $0) }
      try raw.putRecord(2, content + littleEndianBytes(checksum), entity: book)
      try raw.putDigests()
    }
    let memory = MemoryConsole()
    let out = folder.path + "/out.lodestore"
    let status = await KVDump.execute(["salvage", folder.store, out], on: memory.console)
    #expect(status == .negative, "\(memory.messages.text)")
    #expect(
      memory.messages.text.contains(
        "Shelf: left out, because other records have their unique keys: 1"))
    #expect(!memory.messages.text.contains("Book: left out"), "\(memory.messages.text)")
    #expect(try Verifier.verify(path: out).isSound)
    let saved = try Store(at: out, entities: entities)
    defer { saved.close() }
    #expect(try await saved.fetch(Shelf.all).map(\.id.rawValue) == [2, 3])
    #expect(try await saved.fetch(Book.all).map(\.title) == ["x", "z"])
  }
}
