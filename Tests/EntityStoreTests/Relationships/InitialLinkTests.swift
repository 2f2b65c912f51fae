import EntityStore
import Foundation
import Testing

// Keepers and dogs, as a program declares them over the years.

private struct KeeperV1: Entity {
  var id = RecordID<KeeperV1>()
  var name: String

  static let schema = EntitySchema<KeeperV1>("Keeper", attributes: [.init("name", \.name)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension KeeperV1 {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

private struct DogV1: Entity {
  var id = RecordID<DogV1>()
  var name: String

  static let schema = EntitySchema<DogV1>("Dog", attributes: [.init("name", \.name)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension DogV1 {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

/// A later declaration with a keeper for each dog.
///
/// The initial value makes all stored dogs refer to the first keeper, without writing them.
private struct DogV2: Entity {
  var id = RecordID<DogV2>()
  var name: String
  var keeper: RecordID<KeeperV1>?

  static let schema = EntitySchema<DogV2>(
    "Dog",
    attributes: [.init("name", \.name), .init("keeper", \.keeper, initial: .init(rawValue: 1))])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(keeper)
  }
}

extension DogV2 {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    keeper = try reader.read()
  }
}

private struct KeeperV3: Entity {
  var id = RecordID<KeeperV3>()
  var name: String
  var dogCount = 0

  static let dogs = ToMany<KeeperV3, DogV3>(inverse: \.keeper, ordered: true)

  struct Attributes: Sendable {
    var id: Attribute<KeeperV3, RecordID<KeeperV3>> { .recordID }
    var name: Attribute<KeeperV3, String> { .init(0) }
    var dogCount: Attribute<KeeperV3, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<KeeperV3>(
    "Keeper",
    attributes: [.init("name", \.name), .derived("dogCount", \.dogCount, .count(dogs))],
    relationships: [.init("dogs", dogs)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension KeeperV3 {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    dogCount = try reader.read()
  }
}

private struct DogV3: Entity {
  var id = RecordID<DogV3>()
  var name: String
  var keeper: RecordID<KeeperV3>?

  struct Attributes: Sendable {
    var id: Attribute<DogV3, RecordID<DogV3>> { .recordID }
    var name: Attribute<DogV3, String> { .init(0) }
    var keeper: Attribute<DogV3, RecordID<KeeperV3>?> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<DogV3>(
    "Dog", attributes: [.init("name", \.name), .toOne("keeper", \.keeper)])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(keeper)
  }
}

extension DogV3 {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    keeper = try reader.read()
  }
}

/// An id attribute can have an initial value.
///
/// Records older than the attribute then refer to that record without being written.
@Suite struct `An initial value that leads to a record` {
  /// Makes two keepers, and ten dogs that refer to the first keeper by the initial value.
  private func withDogs(_ body: (Store) throws -> Void) throws {
    try withTemporaryPath { path throws in
      let first = try Store(at: path, entities: [KeeperV1.self, DogV1.self])
      try first.insert([KeeperV1(name: "A"), KeeperV1(name: "B")])
      try first.insert((0..<10).map { DogV1(name: "D\($0)") })
      first.close()
      try Store(at: path, entities: [KeeperV1.self, DogV2.self]).close()
      let store = try Store(at: path, entities: [KeeperV3.self, DogV3.self])
      defer { store.close() }
      try body(store)
    }
  }

  private func counts(_ store: Store) throws -> [Int] {
    try store.fetch(KeeperV3.all).map(\.dogCount)
  }

  @Test func `an initial link is read and queried as if each record stored it`() throws {
    try withDogs { store throws in
      let keeper = KeeperV3.ID(rawValue: 1)
      #expect(try counts(store) == [10, 0])
      try store.read { snapshot throws in
        #expect(try snapshot.relatedCount(KeeperV3.dogs, of: keeper) == 10)
        #expect(try snapshot.fetch(DogV3.ID(rawValue: 3))?.keeper == keeper)
        #expect(try snapshot.count(DogV3.where(format: "keeper.name == 'A'")) == 10)
        #expect(try snapshot.count(DogV3.where(format: "keeper.name == 'A' AND name == 'D4'")) == 1)
        #expect(try snapshot.count(DogV3.where(format: "keeper.name == 'B'")) == 0)
      }
    }
  }

  @Test func `changes of the dogs take back an initial link`() throws {
    try withDogs { store throws in
      try store.modify(DogV3.ID(rawValue: 3)) { $0.keeper = .init(rawValue: 2) }
      #expect(try counts(store) == [9, 1])
      try store.modify(DogV3.ID(rawValue: 4)) { $0.keeper = nil }
      #expect(try counts(store) == [8, 1])
      #expect(try store.delete(DogV3.ID(rawValue: 5)))
      #expect(try counts(store) == [7, 1])
      try store.write { try $0.delete(DogV3.where(format: "name IN {'D8', 'D9'}")) }
      #expect(try counts(store) == [5, 1])
      let dogs = try store.read { try $0.related(KeeperV3.dogs, of: .init(rawValue: 1)) }
      #expect(dogs.map(\.name) == ["D0", "D1", "D5", "D6", "D7"])
    }
  }

  @Test func `an initial link is null once its target is deleted`() throws {
    try withDogs { store throws in
      #expect(try store.delete(KeeperV3.ID(rawValue: 1)))
      #expect(try store.fetch(DogV3.all).map(\.keeper) == Array(repeating: nil, count: 10))
      #expect(try store.count(DogV3.where(format: "keeper == nil")) == 10)
    }
  }
}
