import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

/// A version of the entity "Item", as a program declares it at one time.
private protocol ItemVersion: Sendable {
  static var attributes: [AttributeDefinition<Item<Self>>] { get }
  static var unique: [[any PartialKeyPath<Item<Self>> & Sendable]] { get }
  static var derives: Bool { get }
}

extension ItemVersion {
  static var unique: [[any PartialKeyPath<Item<Self>> & Sendable]] { [] }
  static var derives: Bool { true }
}

private struct Item<Version: ItemVersion>: Entity {
  var id = RecordID<Item>()
  var name: String
  var key = ""

  init(_ name: String) { self.name = name }

  static var schema: EntitySchema<Item> {
    EntitySchema(
      "Item", attributes: [.init("name", \.name)] + Version.attributes, unique: Version.unique)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    if !Version.attributes.isEmpty { key = try reader.read() }
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    if !Version.derives, !Version.attributes.isEmpty { writer.write(key) }
  }
}

private enum Plain: ItemVersion {
  static var attributes: [AttributeDefinition<Item<Plain>>] { [] }
}

private enum Lower: ItemVersion {
  static var attributes: [AttributeDefinition<Item<Lower>>] {
    [.derived("key", \.key, .lowercase(\.name))]
  }
  static var unique: [[any PartialKeyPath<Item<Lower>> & Sendable]] { [[\.key]] }
}

private enum Upper: ItemVersion {
  static var attributes: [AttributeDefinition<Item<Upper>>] {
    [.derived("key", \.key, .uppercase(\.name))]
  }
  static var unique: [[any PartialKeyPath<Item<Upper>> & Sendable]] { [[\.key]] }
}

private enum First: ItemVersion {
  static var attributes: [AttributeDefinition<Item<First>>] {
    [.derived("key", \.key, .function(version: 1) { String($0.name.prefix(1)) })]
  }
}

private enum Last: ItemVersion {
  static var attributes: [AttributeDefinition<Item<Last>>] {
    [.derived("key", \.key, .function(version: 2) { String($0.name.suffix(1)) })]
  }
}

private enum Given: ItemVersion {
  static var attributes: [AttributeDefinition<Item<Given>>] { [.init("key", \.key)] }
  static var derives: Bool { false }
}

@Suite struct `Evolution of derived attributes` {
  private func keys<Version: ItemVersion>(
    _ path: String, _: Version.Type, inserting names: String...
  ) throws -> [String] {
    let store = try Store(at: path, entities: [Item<Version>.self])
    defer { store.close() }
    try store.insert(names.map { Item<Version>($0) })
    return try store.fetch(Item<Version>.all).map(\.key)
  }

  @Test func `the history reports an evolution of derived attributes as a restart of the entity`()
    throws
  {
    try withTemporaryPath { path throws in
      let options = StoreOptions.history(.changes)
      var store = try Store(at: path, entities: [Item<First>.self], options: options)
      try store.insert(Item<First>("ab"))
      store.close()
      store = try Store(at: path, entities: [Item<First>.self], options: options)
      #expect(try store.history().map(\.restartedEntities) == [[]])
      store.close()
      store = try Store(at: path, entities: [Item<Last>.self], options: options)
      #expect(try store.history().map(\.restartedEntities) == [[], ["Item"]])
      #expect(try store.fetch(Item<Last>.all).map(\.key) == ["b"])
      store.close()
    }
  }

  @Test func `evolution computes new and changed definitions for all records`() throws {
    try withTemporaryPath { path throws in
      #expect(try keys(path, Plain.self, inserting: "Ab", "cD") == ["", ""])
      #expect(try keys(path, Lower.self, inserting: "EF") == ["ab", "cd", "ef"])
      try expectSound(path)
      #expect(try keys(path, Upper.self) == ["AB", "CD", "EF"])
      try expectSound(path)
      #expect(try keys(path, First.self) == ["A", "c", "E"])
      #expect(try keys(path, Last.self, inserting: "xyz") == ["b", "D", "F", "z"])
      try expectSound(path)
      // The attribute is not derived any more, so programs set it, and it keeps its values.
      let changes = try Store.schemaChanges(at: path, opening: [Item<Given>.self])
      #expect(
        changes.contains { $0.text.hasPrefix("'key' is no longer derived") && $0.cost == .free })
      #expect(try keys(path, Given.self, inserting: "q") == ["b", "D", "F", "z", ""])
      try expectSound(path)
      #expect(try keys(path, Upper.self) == ["AB", "CD", "EF", "XYZ", "Q"])
    }
  }

  @Test func `evolution of a unique attribute is refused if two records would have one value`()
    throws
  {
    try withTemporaryPath { path throws in
      _ = try keys(path, Plain.self, inserting: "a", "A")
      let error = try storeError(.incompatibleSchema) { try keys(path, Lower.self) }
      #expect(error.message.contains("Item.key"))
      #expect(try keys(path, Plain.self) == ["", ""])
    }
  }

  @Test func `writes of a program without a derived attribute are derived at the next opening`()
    throws
  {
    try withTemporaryPath { path throws in
      _ = try keys(path, Lower.self, inserting: "Ab")
      // A program that does not declare the attribute changes records, and the store still derives
      // it.
      let plain = try Store(at: path, entities: [Item<Plain>.self])
      try plain.insert(Item<Plain>("NEW"))
      try plain.write { tx in try tx.modify(Item<Plain>.ID(rawValue: 1)) { $0.name = "XY" } }
      plain.close()
      try expectSound(path)
      #expect(try keys(path, Lower.self) == ["xy", "new"])
    }
  }

  @Test func `a program without the function of an attribute may delete but not write records`()
    throws
  {
    try withTemporaryPath { path throws in
      _ = try keys(path, First.self, inserting: "Ab", "c")
      let plain = try Store(at: path, entities: [Item<Plain>.self])
      let calls: [(inout WriteTransaction) throws -> Void] = [
        { try $0.insert(Item<Plain>("x")) }, { try $0.insert([Item<Plain>("x")]) },
        { try $0.modify(Item<Plain>.ID(rawValue: 1)) { $0.name = "y" } },
      ]
      for call in calls {
        let error = try storeError(.incompatibleSchema) { try plain.write { try call(&$0) } }
        #expect(error.entity == "Item" && error.attribute == "key", "\(error)")
      }
      #expect(try plain.write { tx in try tx.delete(Item<Plain>.ID(rawValue: 1)) })
      plain.close()
      #expect(try keys(path, First.self) == ["c"])
    }
  }

  @Test func `a derived attribute raises no version that readers need`() throws {
    try withTemporaryPath { path throws in
      _ = try keys(path, Lower.self, inserting: "a")
      let store = try Store(at: path, entities: [Item<Lower>.self])
      let requirement = try store.core.read { core in
        try Catalogue.requirement(core.store.trees.header, in: core.transaction)
      }
      #expect(requirement.lowestReader == 1 && requirement.lowestWriter == 6)
      store.close()
    }
  }
}
