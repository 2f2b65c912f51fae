import EntityStore
import LodestoreJSON
import Testing

@testable import LodestoreInspector

// Whole Foundation: the removal of a folder is not in FoundationEssentials.
import Foundation

/// A writer of books, with a to-many relationship.
struct Author: Entity {
  var id = RecordID<Author>()
  var name: String

  static let books = ToMany<Author, Book>(inverse: \.author, onDelete: .cascade)

  static let schema = EntitySchema<Author>(
    "Author", attributes: [.init("name", \.name)], unique: [[\.name]],
    relationships: [.init("books", books)])

  init(_ name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// A book with a text, a number, nested values and a link.
struct Book: Entity {
  var id = RecordID<Book>()
  var title: String
  var pages: Int
  var details: JSONValue = .null
  var author: RecordID<Author>?

  struct Attributes: Sendable {
    var pages: Attribute<Book, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Book>(
    "Book",
    attributes: [
      .init("title", \.title), .init("pages", \.pages), .init("details", \.details),
      .toOne("author", \.author),
    ], indexes: [[\.pages]], elementIndexes: [ElementIndex<Book>(\.details, "tags")],
    history: .kept(images: true))

  init(_ title: String, pages: Int, details: JSONValue = .null, author: RecordID<Author>? = nil) {
    self.title = title
    self.pages = pages
    self.details = details
    self.author = author
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    pages = try reader.read()
    details = try reader.read()
    author = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(pages)
    writer.write(details)
    writer.write(author)
  }
}

/// A store in a folder of its own, and the answers of its inspector.
final class Library {
  let store: Store
  private let folder: String

  /// - Parameter prepare: called with the path before the store is opened.
  init(
    entities: [any Entity.Type] = [Author.self, Book.self],
    _ prepare: (String) throws -> Void = { _ in }
  ) throws {
    folder = FileManager.default.temporaryDirectory.path + "/inspector-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/library.lodestore"
    try prepare(path)
    store = try Store(at: path, entities: entities)
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// A library with one author of `count` books.
  static func withBooks(_ count: Int) async throws -> Library {
    let library = try Library()
    try await library.store.write(author: "test") { tx in
      let author = try tx.insert(Author("Ursula")).id
      for number in 1...max(count, 1) where count > 0 {
        try tx.insert(
          Book(
            "Book \(number)", pages: number % 10,
            details: [
              "shelf": .integer(Int64(number % 3)), "tags": ["all", .integer(Int64(number % 2))],
            ],
            author: author))
      }
    }
    return library
  }

  var responder: Responder {
    Responder(maker: PageMaker(store: DynamicStore(store), path: store.path))
  }

  /// Answers an address, and expects a status.
  func get(
    _ address: String, _ status: Int = 200, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> String {
    let answer = PrintedAddress(address, of: DynamicStore(store), path: store.path)
    var bytes: [UInt8] = []
    try answer.forEachPart { bytes += $0 }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(answer.status == status, "\(text.prefix(300))", sourceLocation: sourceLocation)
    return text
  }

  /// Answers an address as JSON.
  func json(
    _ address: String, _ status: Int = 200, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> JSONNode {
    let text = try get(address, status, sourceLocation: sourceLocation)
    return try JSONDocument.parsing(text.utf8).root
  }
}
