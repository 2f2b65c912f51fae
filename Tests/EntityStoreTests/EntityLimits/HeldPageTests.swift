import Foundation
import Testing

@testable import EntityStore

@Suite struct `The oldest records of a limited entity` {
  private static let entities: [any Entity.Type] = [Folder.self, Leaf.self, Pin.self]

  private func withFolders<R>(_ body: (Store) throws -> R) throws -> R {
    try withTemporaryStore(Self.entities, options: .withoutKeeper, body)
  }

  private func names(_ store: Store) throws -> [String] { try store.fetch(Folder.all).map(\.name) }

  @Test func `the oldest records stay if a delete rule denies it, and the next oldest go`() throws {
    try withFolders { store in
      let pins = try store.write { tx in
        try (0..<14).compactMap { number in
          let folder = try tx.insert(Folder("f\(number)")).id
          return number == 1 || number == 3 ? try tx.insert(Pin(folder: folder)).id : nil
        }
      }
      let report = try store.evict()
      #expect(report.evictedCounts == ["Folder": 4] && report.heldCounts == ["Folder": 2])
      #expect(report.batchCount == 1)
      let left = (0..<14).filter { ![0, 2, 4, 5].contains($0) }.map { "f\($0)" }
      #expect(try names(store) == left)
      // A write does not visit the folders again that pins hold.
      let visits = store.core.unevictableRecords.visitCount
      try store.write { _ = try $0.insert(Folder("a")) }
      try store.write { _ = try $0.insert(Folder("b")) }
      #expect(store.core.unevictableRecords.visitCount - visits < 8)
      #expect(try names(store) == left.filter { $0 != "f6" } + ["a", "b"])
      // When the pins are deleted, the limit removes the formerly held folders first.
      try store.write { tx in for pin in pins { _ = try tx.delete(pin) } }
      _ = try store.write { _ = try $0.insert(Folder("c")) }
      #expect(try store.evict().heldCount == 0)
      #expect(try !names(store).contains { $0 == "f1" })
    }
  }

  @Test func `records that must stay above the limit cost later writes nothing`() throws {
    try withFolders { store in
      try store.write { tx in
        for number in 0..<300 {
          let folder = try tx.insert(Folder("f\(number)")).id
          _ = try tx.insert(Pin(folder: folder))
        }
      }
      #expect(try store.evict().heldCounts == ["Folder": 300])
      let visits = store.core.unevictableRecords.visitCount
      for number in 0..<5 { try store.write { _ = try $0.insert(Pin(nil, note: number)) } }
      #expect(store.core.unevictableRecords.visitCount == visits)
      // All older folders are held, so a new folder is the only one that can be evicted.
      try store.write { _ = try $0.insert(Folder("new")) }
      #expect(try store.count(Folder.all) == 301)
      try store.write { _ = try $0.insert(Pin(nil, note: 9)) }
      #expect(try store.count(Folder.all) == 300)
      #expect(store.core.unevictableRecords.visitCount - visits < 4)
      // Another store of the same file does not know which folders are held, so it visits each one
      // once.
      let other = try Store(
        at: store.core.path, entities: Self.entities, options: .withoutKeeper)
      try other.write { _ = try $0.insert(Pin(nil, note: 10)) }
      #expect(other.core.unevictableRecords.visitCount >= 300)
      let looked = other.core.unevictableRecords.visitCount
      try other.write { _ = try $0.insert(Pin(nil, note: 11)) }
      #expect(other.core.unevictableRecords.visitCount == looked)
      other.close()
    }
  }

  @Test func `evicted records take along the records that delete rules remove`() throws {
    try withFolders { store in
      try store.write { tx in
        for number in 0..<12 {
          let folder = try tx.insert(Folder("f\(number)")).id
          for leaf in 0..<3 { _ = try tx.insert(Leaf("l\(number)-\(leaf)", in: folder)) }
        }
      }
      #expect(try store.evict().evictedCounts == ["Folder": 2])
      #expect(try store.count(Leaf.all) == 30)
    }
  }

  @Test func `records are evicted one by one if others of the entity may go with them`() throws {
    try withFolders { store in
      try store.write { tx in
        let first = try tx.insert(Folder("f0")).id
        for number in 1..<10 { _ = try tx.insert(Folder("f\(number)")) }
        _ = try tx.insert(Folder("inner", in: first))
        _ = try tx.insert(Folder("last"))
      }
      // Two folders are above the limit. Evicting the first also deletes the folder inside it.
      #expect(try store.evict().batchCount == 1)
      #expect(try names(store) == (1..<10).map { "f\($0)" } + ["last"])
    }
  }

  @Test func `damaged oldest records stay, and the limit holds for the other records`() throws {
    try withTemporaryStore(
      [Vault.self, Pledge.self], options: .withoutKeeper
    ) { store in
      // Removing the vault would break the rule of a pledge that refers to it.
      try store.write { tx in
        for number in 0..<9 {
          let vault = try tx.insert(Vault(name: "s\(number)")).id
          if number == 0 { _ = try tx.insert(Pledge(vault: vault)) }
        }
      }
      let report = try store.evict()
      #expect(report.evictedCounts == ["Vault": 4] && report.heldCounts == ["Vault": 1])
      #expect(try store.fetch(Vault.all).map(\.name) == ["s0", "s5", "s6", "s7", "s8"])
    }
  }
}

/// A folder.
///
/// At most ten are kept, and a delete of a folder deletes the folders in it.
private struct Folder: Entity {
  var id = RecordID<Folder>()
  var name: String
  var parent: RecordID<Folder>?

  static let folders = ToMany<Folder, Folder>(inverse: \.parent, onDelete: .cascade)
  static let leaves = ToMany<Folder, Leaf>(inverse: \.folder, onDelete: .cascade)
  static let pins = ToMany<Folder, Pin>(inverse: \.folder, onDelete: .deny)

  static let schema = EntitySchema<Folder>(
    "Folder", attributes: [.init("name", \.name), .toOne("parent", \.parent)],
    relationships: [
      .init("folders", Folder.folders), .init("leaves", Folder.leaves), .init("pins", Folder.pins),
    ], limit: EntityLimit(count: 10))

  init(_ name: String, in parent: RecordID<Folder>? = nil) {
    self.name = name
    self.parent = parent
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(parent)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    parent = try reader.read()
  }
}

private struct Leaf: Entity {
  var id = RecordID<Leaf>()
  var text: String
  var folder: RecordID<Folder>?

  static let schema = EntitySchema<Leaf>(
    "Leaf", attributes: [.init("text", \.text), .toOne("folder", \.folder)])

  init(_ text: String, in folder: RecordID<Folder>) {
    self.text = text
    self.folder = folder
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(text)
    writer.write(folder)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    text = try reader.read()
    folder = try reader.read()
  }
}

/// A pin, which prevents the delete of its folder.
private struct Pin: Entity {
  var id = RecordID<Pin>()
  var folder: RecordID<Folder>?
  var note: Int

  static let schema = EntitySchema<Pin>(
    "Pin", attributes: [.toOne("folder", \.folder), .init("note", \.note)])

  init(_ folder: RecordID<Folder>? = nil, note: Int) {
    self.folder = folder
    self.note = note
  }

  init(folder: RecordID<Folder>) { self.init(folder, note: 0) }

  func encode(into writer: inout RecordWriter) {
    writer.write(folder)
    writer.write(note)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    folder = try reader.read()
    note = try reader.read()
  }
}

/// A vault that a pledge needs by its own rule.
///
/// At most five vaults are kept.
private struct Vault: Entity {
  var id = RecordID<Vault>()
  var name: String

  static let pledges = ToMany<Vault, Pledge>(inverse: \.vault)

  static let schema = EntitySchema<Vault>(
    "Vault", attributes: [.init("name", \.name)],
    relationships: [.init("pledges", Vault.pledges)], limit: EntityLimit(count: 5))

  init(name: String) { self.name = name }

  func encode(into writer: inout RecordWriter) { writer.write(name) }

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

private struct Pledge: Entity {
  var id = RecordID<Pledge>()
  var vault: RecordID<Vault>?

  struct Attributes: Sendable {
    var id: Attribute<Pledge, RecordID<Pledge>> { .recordID }
    var vault: Attribute<Pledge, RecordID<Vault>?> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Pledge>(
    "Pledge", attributes: [.toOne("vault", \.vault)],
    rules: [RecordRule("kept") { $0.vault != nil }])

  init(vault: RecordID<Vault>) { self.vault = vault }

  func encode(into writer: inout RecordWriter) { writer.write(vault) }

  init(from reader: inout RecordReader) throws(StoreError) { vault = try reader.read() }
}
