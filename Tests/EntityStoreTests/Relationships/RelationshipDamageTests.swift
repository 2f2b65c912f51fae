import Foundation
import LMDB
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite struct `Damaged relationships` {
  /// Makes two shelves with two books each, by an author, and then runs `change` without the store.
  private func damaged(
    _ change: (WriteCore, StoredRelationship, StoredRelationship) throws -> Void,
    _ body: (String) throws -> Void
  ) throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: Library.entities)
    try store.write { tx throws in
      let author = try tx.insert(Author(name: "A"))
      let shelves = try tx.insert(["S", "T"].map { Shelf(name: $0) }).ids
      let books = try tx.insert(["B", "C"].map { Book(title: $0, author: author.id) }).ids
      for shelf in shelves { try tx.add(books, to: Shelf.books, of: shelf) }
    }
    try store.core.write { core in
      let shelf = try core.entity(named: "Shelf")
      let book = try core.entity(named: "Book")
      let links = try #require(core.schema.end(named: "books", of: shelf))
      let author = try #require(core.schema.end(named: "author", of: book))
      try change(core, links.relationship, author.relationship)
    }
    store.close()
    try body(folder.storePath)
  }

  private func key(_ id: UInt64, _ other: UInt64) -> [UInt8] {
    var key = KeyEncoder()
    key.append(id)
    key.append(recordID: other)
    return Array(key.bytes)
  }

  /// There are as many links as records.
  ///
  /// The delete must still not delete all records.
  @Test func `a dangling damaged link deletes no other record`() throws {
    try damaged { core, _, author in
      let holder = try #require(author.description.attribute)
      let book = try core.entity(named: "Book")
      let index = try #require(book.indexes.first { $0.description.attributes == [holder] })
      try core.writing.put(key(1, 99), [], in: index.tree)
    } _: { path in
      let store = try Store(at: path, entities: Library.entities)
      try store.write { tx throws in
        for shelf in try tx.fetch(Shelf.all) { try tx.delete(shelf) }
        var books = try tx.fetch(Book.all.sorted(by: \.title))
        books[1].author = nil
        try tx.update(books[1])
        for author in try tx.fetch(Author.all) { try tx.delete(author) }
      }
      #expect(try store.fetch(Book.all).map(\.title) == ["C"])
      store.close()
    }
  }

  /// The related record's text is copied by a derivation.
  ///
  /// Such damage once ended the verifier, and all its findings were lost.
  @Test func `a related record that cannot be read is found`() throws {
    try damaged { core, _, _ in
      let author = try core.entity(named: "Author")
      var body = Array(try #require(try core.record(1, of: author)))
      let name = try #require(body.lastIndex(of: UInt8(ascii: "A")))
      body[name] = 0xff
      try body._withBytes { try core.writing.put(1, $0, in: author.records) }
    } _: { path in
      let findings = try Verifier.verify(path: path).findings
      #expect(findings.contains { $0.record == 1 && $0.rule == .recordChecksum }, "\(findings)")
    }
  }

  @Test func `the verifier finds damaged relationships, each fault by its name`() throws {
    try damaged { core, links, _ in
      let tree = links.linksTo.tree
      try core.writing.delete(key(1, 1), in: tree)
    } _: { path in
      let report = try Verifier.verify(path: path)
      #expect(report.count(of: .linkMissing) == 1, "\(report.findings)")
    }
    try damaged { core, links, _ in
      let from = try #require(links.linksFrom)
      try core.writing.put(key(9, 1), [], in: from.tree)
      try core.writing.put(key(1, 9), [], in: links.linksTo.tree)
    } _: { path in
      let report = try Verifier.verify(path: path)
      #expect(report.count(of: .linkDangling) == 1, "\(report.findings)")
    }
    try damaged { core, links, _ in
      let from = try #require(links.linksFrom)
      try core.writing.put([0x15, 1], [], in: from.tree)
      try core.writing.put(key(1, 1), [7], in: from.tree)
    } _: { path in
      let report = try Verifier.verify(path: path)
      #expect(report.count(of: .entryKey) == 1 && report.count(of: .entryBody) == 1)
    }
    try damaged { core, _, author in
      let record = try #require(try core.record(1, of: author.to))
      let changes = core.changes(of: author.to)
      try changes.records.write(nil, inPlaceOf: try changes.stored(record, id: 1))
      let entity = author.to
      var key = KeyEncoder()
      try key.append(.string("A"))
      key.finishTuple()
      try core.writing.delete(Array(key.bytes), in: entity.indexes[0].tree)
    } _: { path in
      let report = try Verifier.verify(path: path)
      #expect(report.count(of: .linkDangling) == 1, "\(report.findings)")
    }
  }

  @Test func `damaged relationships are errors on access, and never traps`() throws {
    try damaged { core, links, _ in
      try core.writing.put([0x15, 1, 5], [], in: links.linksTo.tree)
    } _: { path in
      let store = try Store(at: path, entities: Library.entities)
      defer { store.close() }
      let book = Book.ID(rawValue: 1)
      let calls: [(borrowing Snapshot) throws -> Void] = [
        { _ = try $0.related(Book.shelves, of: book) },
        { _ = try $0.relatedCount(Book.shelves, of: book) },
        { _ = try $0.fetch(Book.all, including: Book.shelves) },
        { _ = try $0.count(Book.where { $0.shelves.count == 2 }) },
      ]
      for call in calls {
        let error = #expect(throws: StoreError.self) { try store.read { try call($0) } }
        #expect(error?.code == .damaged, "\(error?.message ?? "")")
      }
      let error = #expect(throws: StoreError.self) { try store.delete(book) }
      #expect(error?.code == .damaged)
      #expect(try store.count(Book.all) == 2)
    }
  }

  /// No record has the id 0, but a damaged file may contain a link with it.
  @Test func `links to or from a record 0 are errors on access`() throws {
    try damaged { core, links, _ in
      let from = try #require(links.linksFrom)
      try core.writing.put(key(0, 1), [], in: from.tree)
      try core.writing.put(key(1, 0), [], in: links.linksTo.tree)
    } _: { path in
      let report = try Verifier.verify(path: path)
      #expect(report.count(of: .entryKey) == 2, "\(report.findings)")
      try expectDamaged(
        path,
        [
          { try $0.delete(Book.ID(rawValue: 1)) }, { try $0.delete(Book.all) },
          { try $0.update(Book.all) { $0.pages = 7 } },
        ])
    }
    try damaged { core, _, author in
      let book = author.from
      let slot = try #require(book.layout.slotIndex(ofAttribute: 3))
      var record = Array(try #require(try core.record(1, of: book)))
      record._withMutableBytes { bytes in
        let position = Int(book.layout.slots[slot].position)
        bytes.storeBytes(of: 0, toByteOffset: position, as: UInt64.self)
        Checksum.seal(bytes, id: 1)
      }
      try core.writing.put(littleEndianBytes(UInt64(1)), record, in: book.records)
      try core.writing.delete(key(1, 1), in: author.linksTo.tree)
      try core.writing.put(key(0, 1), [], in: author.linksTo.tree)
    } _: { path in
      let report = try Verifier.verify(path: path)
      #expect(report.findings.contains { $0.rule == .typeID }, "\(report.findings)")
      try expectDamaged(
        path,
        [
          { try $0.delete(Book.ID(rawValue: 1)) }, { try $0.delete(Book.all) },
          { try $0.update(Book.all) { $0.pages = 7 } },
          { try $0.update(Book.all) { $0.author = Author.ID(rawValue: 1) } },
        ])
    }
  }

  /// Expects each call to throw an error for damage, and to change nothing in the file.
  private func expectDamaged(_ path: String, _ calls: [(Store) throws -> Void]) throws {
    let before = try Verifier.verify(path: path).findings
    let store = try Store(at: path, entities: Library.entities)
    for (position, call) in calls.enumerated() {
      let error = #expect(throws: StoreError.self, "\(position)") { try call(store) }
      #expect(error?.code == .damaged, "\(position): \(error?.message ?? "")")
    }
    store.close()
    #expect(try Verifier.verify(path: path).findings == before)
  }

  @Test func `a relationship with the number 0 is refused, because 0 means no relationship`() throws
  {
    try damaged { core, links, _ in
      let key = CatalogueKey.relationship(0)
      var description = links.description
      description.from.name = "others"
      description.to.name = nil
      try core.writing.put(
        key, Checksum.sealed(key: key, content: description.document.encoded()),
        in: core.store.trees.catalogue)
      for side in RelationshipSide.allCases {
        _ = try core.store.environment.tree(
          TreeName.links(relationship: 0, side: side).text, isCreated: true,
          hasIntegerKeys: false, in: core.writing)
      }
      try core.store.trees.raiseSchemaNumber(in: core.writing)
    } _: { path in
      let error = #expect(throws: StoreError.self) {
        _ = try Store(at: path, entities: Library.entities)
      }
      #expect(error?.code == .damaged, "\(error?.message ?? "")")
      #expect(error?.message.contains("the number of a relationship is 0") == true)
      let report = try Verifier.verify(path: path)
      let finding = try #require(report.findings.first { $0.rule == .catalogueKey })
      #expect(finding.detail.contains("the number of a relationship is 0"))
    }
  }

  /// A file may have thousands of relationships over one attribute.
  ///
  /// Comparing all pairs would take seconds.
  @Test func `many relationships are compared with the declared ones by their numbers`() throws {
    let stored = (1...UInt32(20_000)).map { number in
      RelationshipDescription(
        number: number, from: .init(entity: 1), to: .init(entity: 2), attribute: 1)
    }
    let time = try processorTime {
      let evolution = try RelationshipEvolution(stored, declared: [], entities: [])
      #expect(!evolution.isChanged && !evolution.concernsReaders)
    }
    #expect(time < .seconds(5), "\(time)")
  }

  @Test func `damaged orders are found, and are errors on access`() throws {
    let links: [UInt8] = LinkOrderKey.link(1, 2)
    let damages: [(WritingTransaction, Tree) throws -> Void] = [
      { try $0.delete(links, in: $1) },
      { try $0.put(links, littleEndianBytes(UInt64(7)), in: $1) },
      { try $0.put(LinkOrderKey.link(1, 9), littleEndianBytes(UInt64(7)), in: $1) },
      { try $0.put(LinkOrderKey.position(1, 7), littleEndianBytes(UInt64(2)), in: $1) },
      { try $0.put(LinkOrderKey.position(1, 7), [1, 2], in: $1) },
      { try $0.put(links + [0], littleEndianBytes(UInt64(7)), in: $1) },
    ]
    for (position, damage) in damages.enumerated() {
      try damaged { core, links, _ in
        try damage(core.writing, try #require(links.orderFrom))
      } _: { path in
        let report = try Verifier.verify(path: path)
        #expect(report.count(of: .linkOrder) > 0, "\(position): \(report.findings)")
        let store = try Store(at: path, entities: Library.entities)
        defer { store.close() }
        let shelf = Shelf.ID(rawValue: 1)
        guard position == 4 else { return }
        let error = #expect(throws: StoreError.self) {
          try store.read { _ = try $0.related(Shelf.books, of: shelf) }
        }
        #expect(error?.code == .damaged)
        #expect(throws: StoreError.self) {
          try store.write {
            _ = try $0.add(.init(rawValue: 2), to: Shelf.books, of: shelf, at: .first)
          }
        }
      }
    }
  }

  @Test func `damaged relationships of the catalogue are refused by their name`() throws {
    for change in Self.descriptions {
      try damaged { core, links, _ in
        var description = links.description
        change(&description)
        let key = CatalogueKey.relationship(description.number)
        try core.writing.put(
          key, Checksum.sealed(key: key, content: description.document.encoded()),
          in: core.store.trees.catalogue)
        try core.store.trees.raiseSchemaNumber(in: core.writing)
      } _: { path in
        let error = #expect(throws: StoreError.self) {
          _ = try Store(at: path, entities: Library.entities)
        }
        #expect(error?.code == .damaged, "\(error?.message ?? "")")
        let report = try Verifier.verify(path: path)
        #expect(report.count(of: .catalogue) == 1, "\(report.findings)")
      }
    }
  }

  private static let descriptions: [@Sendable (inout RelationshipDescription) -> Void] = [
    { $0.from.entity = EntityNumber(99) }, { $0.to.entity = EntityNumber(99) },
    { $0.attribute = 77 }, { $0.attribute = 1 },
  ]
}
