import EntityStore
import Foundation
import Testing

// Owners and dogs, as a program declares them over the years.

private struct OwnerV1: Entity, Equatable {
  var id = RecordID<OwnerV1>()
  var name: String

  static let schema = EntitySchema<OwnerV1>("Owner", attributes: [.init("name", \.name)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension OwnerV1 {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

/// An entity whose attribute holds the id of a record, without a declared relationship.
private struct DogV1: Entity, Equatable {
  var id = RecordID<DogV1>()
  var name: String
  var owner: RecordID<OwnerV1>?

  static let schema = EntitySchema<DogV1>(
    "Dog", attributes: [.init("name", \.name), .init("owner", \.owner)])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(owner)
  }
}

extension DogV1 {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    owner = try reader.read()
  }
}

private struct OwnerV2: Entity, Equatable {
  var id = RecordID<OwnerV2>()
  var name: String

  static let dogs = ToMany<OwnerV2, DogV2>(inverse: \.owner, onDelete: .deny)
  static let friends = ToMany<OwnerV2, OwnerV2>()

  static let schema = EntitySchema<OwnerV2>(
    "Owner", attributes: [.init("name", \.name)],
    relationships: [.init("dogs", dogs), .init("friends", friends)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension OwnerV2 {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

private struct DogV2: Entity, Equatable {
  var id = RecordID<DogV2>()
  var name: String
  var owner: RecordID<OwnerV2>?

  static let schema = EntitySchema<DogV2>(
    "Dog", attributes: [.init("name", \.name), .toOne("owner", \.owner)])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(owner)
  }
}

extension DogV2 {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    owner = try reader.read()
  }
}

/// A version without the attribute for friends, with cascading deletes.
private struct OwnerV3: Entity, Equatable {
  var id = RecordID<OwnerV3>()
  var name: String

  static let dogs = ToMany<OwnerV3, DogV3>(inverse: \.owner, onDelete: .cascade)

  static let schema = EntitySchema<OwnerV3>(
    "Owner", attributes: [.init("name", \.name)], relationships: [.init("dogs", dogs)],
    removed: ["friends"])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension OwnerV3 {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

private struct DogV3: Entity, Equatable {
  var id = RecordID<DogV3>()
  var name: String
  var owner: RecordID<OwnerV3>?

  static let schema = EntitySchema<DogV3>(
    "Dog", attributes: [.init("name", \.name), .toOne("owner", \.owner)])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(owner)
  }
}

extension DogV3 {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    owner = try reader.read()
  }
}

@Suite struct `Relationships over the versions of a program` {
  private static let first: [any Entity.Type] = [OwnerV1.self, DogV1.self]
  private static let second: [any Entity.Type] = [OwnerV2.self, DogV2.self]
  private static let third: [any Entity.Type] = [OwnerV3.self, DogV3.self]

  @discardableResult
  private func opened<R>(
    _ path: String, _ entities: [any Entity.Type], _ body: (Store) throws -> R
  ) throws -> R {
    let store = try Store(at: path, entities: entities)
    defer { store.close() }
    return try body(store)
  }

  @Test func `relationships are added over existing ids, changed and removed`() throws {
    try withTemporaryPath { path throws in
      try opened(path, Self.first) { store throws in
        try store.write { tx throws in
          let owners = try tx.insert((0..<100).map { OwnerV1(name: "P\($0)") }).ids
          try tx.insert(
            (0..<1_000).map { DogV1(name: "D\($0)", owner: $0 % 3 == 0 ? nil : owners[$0 % 100]) })
        }
      }
      try opened(path, Self.second) { store throws in
        try store.write { tx throws in
          let ann = OwnerV2.ID(rawValue: 2)
          #expect(try tx.relatedCount(OwnerV2.dogs, of: ann) == 7)
          let error = #expect(throws: StoreError.self) { try tx.delete(ann) }
          #expect(error?.code == .deleteDenied)
          try tx.add([OwnerV2.ID(rawValue: 1), ann], to: OwnerV2.friends, of: ann)
        }
      }
      try expectSound(path)
      // A program without these declarations keeps the records and their values.
      try opened(path, Self.first) { store throws in
        let error = #expect(throws: StoreError.self) {
          try store.delete(OwnerV1.ID(rawValue: 2))
        }
        #expect(error?.code == .deleteDenied)
        let dangling = #expect(throws: StoreError.self) {
          try store.insert(DogV1(name: "x", owner: .init(rawValue: 5_000)))
        }
        #expect(dangling?.code == .missingTarget)
      }
      try expectSound(path)
      try opened(path, Self.third) { store throws in
        #expect(try store.delete(OwnerV3.ID(rawValue: 2)))
        #expect(try store.count(DogV3.all) == 993)
      }
      try expectSound(path)
      try opened(path, Self.second) { store throws in
        // A new relationship of an old name has no links.
        let friends = try store.read { try $0.relatedIDs(OwnerV2.friends, of: .init(rawValue: 1)) }
        #expect(friends == [])
      }
    }
  }

  @Test func `relationships over a dangling id are refused`() throws {
    try withTemporaryPath { path throws in
      try opened(path, Self.first) { store throws in
        try store.write { try $0.insert(DogV1(name: "stray", owner: .init(rawValue: 7))) }
      }
      let error = #expect(throws: StoreError.self) { try opened(path, Self.second) { _ in } }
      #expect(error?.code == .missingTarget)
      #expect(error?.message.contains("Dog 1") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("Owner 7") == true)
      #expect(try opened(path, Self.first) { try $0.count(DogV1.all) } == 1)
    }
  }

  @Test func `relationships need both entities`() throws {
    let error = #expect(throws: StoreError.self) {
      _ = try Store.inMemory(entities: [OwnerV2.self])
    }
    #expect(error?.code == .badSchema)
    #expect(error?.message.contains("Dog") == true, "\(error?.message ?? "")")
  }

  @Test func `read-only opening needs the relationships of the file`() throws {
    try withTemporaryPath { path throws in
      try opened(path, Self.first) { _ in }
      let error = #expect(throws: StoreError.self) {
        _ = try Store(at: path, entities: Self.second, options: .readOnly)
      }
      #expect(error?.code == .incompatibleSchema, "\(error?.message ?? "")")
      try opened(path, Self.second) { _ in }
      let store = try Store(at: path, entities: Self.second, options: .readOnly)
      #expect(try store.read { try $0.relatedIDs(OwnerV2.friends, of: .init(rawValue: 1)) } == [])
      store.close()
    }
  }

  @Test func `an open store sees the relationships of another store of the process`() throws {
    try withTemporaryPath { path throws in
      let old = try Store(at: path, entities: Self.first)
      let person = try old.insert(OwnerV1(name: "P"))
      let new = try Store(at: path, entities: Self.second)
      try old.insert(DogV1(name: "D", owner: person.id))
      #expect(
        try new.read { try $0.relatedCount(OwnerV2.dogs, of: .init(rawValue: 1)) } == 1)
      let error = #expect(throws: StoreError.self) { try old.delete(person) }
      #expect(error?.code == .deleteDenied)
      old.close()
      new.close()
    }
  }
}
