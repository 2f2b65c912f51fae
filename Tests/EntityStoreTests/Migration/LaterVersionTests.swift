import LMDB
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore

/// Parts of a file that a later version wrote, which this version must preserve.
@Suite struct `What a later version has in a file` {
  private static let later: Document = .object(["a": .integer(1)])

  /// Collects the objects of a description by their path, such as `attributes/3` or
  /// `layouts/1/attributes/3`.
  private static func objects(
    _ document: Document, _ place: String = "", into found: inout [String: Document]
  ) {
    guard case .object(let members) = document else { return }
    found[place] = document
    for (name, value) in members where name != "initial" && name != "later" {
      if case .array(let elements) = value {
        for element in elements {
          guard case .integer(let number)? = element["number"] else { continue }
          objects(element, "\(place)/\(name)/\(number)", into: &found)
        }
      } else {
        objects(value, "\(place)/\(name)", into: &found)
      }
    }
  }

  /// A copy of the document with a member `later` in each object.
  private static func adding(_ document: Document) -> Document {
    switch document {
    case .object(let members):
      var result = members
      for (name, value) in members where name != "initial" { result[name] = adding(value) }
      result["later"] = later
      return .object(result)
    case .array(let elements): return .array(elements.map(adding))
    default: return document
    }
  }

  /// Replaces each description of the file by the one that `body` returns for it.
  private static func forEachDescription(
    _ path: String, _ body: ([UInt8], Document) throws -> Document
  ) throws {
    let core = try StoreCore(path: path, options: StoreOptions())
    defer { core.close() }
    try core.write { core throws in
      var pairs: [(key: [UInt8], body: [UInt8])] = []
      try Cursor(core.store.trees.catalogue, in: core.transaction).walk(KeyRange()) { key, body in
        if key.first.map({ $0 < 3 }) == true { pairs.append((Array(key), Array(body))) }
        return true
      }
      for pair in pairs {
        let document = try pair.body.dropFirst(4)._withBytes { try Document(decoding: $0) }
        let changed = try body(pair.key, document)
        if changed == document { continue }
        try core.writing.put(
          pair.key, Checksum.sealed(key: pair.key, content: changed.encoded()),
          in: core.store.trees.catalogue)
      }
      try core.store.trees.raiseSchemaNumber(in: core.writing)
    }
  }

  /// The pairs in trees that this version knows and in one that it does not know.
  private static func foreign(_ core: TransactionCore, in later: Tree) -> [([UInt8], Tree)] {
    [
      (Array("later".utf8), core.store.trees.header),
      ([3, 0, 0, 0, 1], core.store.trees.catalogue),
      ([1], later),
    ]
  }

  private static func putForeign(_ core: WriteCore) throws {
    let later = try core.store.environment.tree(
      "later", isCreated: true, hasIntegerKeys: false, in: core.writing)
    for (key, tree) in foreign(core, in: try #require(later)) {
      try core.writing.put(key, [7, 7], in: tree)
    }
  }

  private static func foreignBytes(_ core: TransactionCore) throws -> [[UInt8]] {
    let later = try core.store.environment.tree(
      "later", hasIntegerKeys: false, in: core.transaction)
    return try foreign(core, in: try #require(later)).map { key, tree in
      Array(try core.transaction.get(key, in: tree) ?? ByteView())
    }
  }

  @Test func `parts of a later version stay, whatever this version writes`() throws {
    try withTemporaryPath { path throws in
      let first = try Store(
        at: path, entities: Library.entities + [Clause.self, PersonV1.self],
        options: .history(.changes))
      try first.insert((0..<3).map { PersonV1(name: "p\($0)", email: nil, age: 1) })
      first.close()
      var before: [[UInt8]: [String: Document]] = [:]
      try Self.forEachDescription(path) { key, document in
        Self.objects(document, into: &before[key, default: [:]])
        return Self.adding(document)
      }
      let core = try StoreCore(path: path, options: StoreOptions())
      try core.write { try Self.putForeign($0) }
      core.close()

      try Self.write(path)

      var kinds: Set<String> = []
      try Self.forEachDescription(path) { key, document in
        var after: [String: Document] = [:]
        Self.objects(document, into: &after)
        for place in before[key, default: [:]].keys {
          #expect(after[place]?["later"] == Self.later, "\(key) \(place)")
          kinds.insert(place.filter { !$0.isNumber })
        }
        return document
      }
      #expect(
        kinds == [
          "", "/attributes/", "/attributes//derived", "/layouts/", "/layouts//attributes/",
          "/indexes/", "/history", "/from", "/to",
        ])
      let again = try StoreCore(path: path, options: StoreOptions())
      #expect(try again.write { try Self.foreignBytes($0) } == [[7, 7], [7, 7], [7, 7]])
      again.close()
    }
  }

  /// Opens the store with another declaration and stages for the other entities, and changes
  /// records.
  private static func write(_ path: String) throws {
    let stage = MigrationStage(
      to: 1, .add("added", to: "Author", Int?.self), .add("added", to: "Book", Int?.self),
      .add("added", to: "Shelf", Int?.self), .add("added", to: "Loan", Int?.self),
      .add("added", to: "Clause", Int?.self), .rename("age", of: "Person", to: "years"))
    try Store(at: path, entities: [], migrating: [stage]).close()
    let back = MigrationStage(to: 2, .rename("years", of: "Person", to: "age"))
    let store = try Store(
      at: path, entities: Library.entities + [Clause.self, PersonV2.self], migrating: [stage, back])
    defer { store.close() }
    try store.insert(PersonV2(city: "c", age: 1, level: 2, name: "n", email: nil))
    try store.write { tx throws in
      let shelf = try tx.insert(Shelf(name: "s")).id
      let book = try tx.insert(Book(title: "b")).id
      try tx.add([book], to: Shelf.books, of: shelf)
      let clause = try tx.insert(Clause(name: "c")).id
      try tx.delete(clause)
    }
  }
}
