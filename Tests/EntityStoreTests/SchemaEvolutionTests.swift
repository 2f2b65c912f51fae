import Foundation
import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore

@Suite struct `Schema evolution` {
  /// A store with three people at `path`: two with an address, and the first and last of one name.
  private func makePeople(_ path: String, lastName: String = "Ada") throws {
    let store = try Store(at: path, entities: [PersonV1.self])
    try store.write { transaction in
      try transaction.insert(PersonV1(name: "Ada", email: "a@b.c", age: 36))
      try transaction.insert(PersonV1(name: "Bob", email: nil, age: 20))
      try transaction.insert(PersonV1(name: lastName, email: "d@e.f", age: 50))
    }
    store.close()
  }

  private func variants<Change: PersonChange>(
    _: Change.Type, at path: String
  ) throws -> [PersonVariant<Change>] {
    let store = try Store(at: path, entities: [PersonVariant<Change>.self])
    defer { store.close() }
    return try store.read { try $0.fetch(PersonVariant<Change>.all) }
  }

  private func refusal<Change: PersonChange>(
    _: Change.Type, at path: String
  ) throws -> StoreError {
    try storeError(.incompatibleSchema) {
      try Store(at: path, entities: [PersonVariant<Change>.self])
    }
  }

  private func recordBytes(_ path: String) throws -> [[UInt8]] {
    let core = try StoreCore(path: path, options: .readOnly)
    defer { core.close() }
    return try core.read { core in
      let entity = try core.entity(named: "Person")
      return try (1...3).compactMap { id in try core.record(id, of: entity).map { Array($0) } }
    }
  }

  @Test func `added attributes read as null or their initial value, without rewriting records`()
    throws
  {
    try withTemporaryPath { path in
      try makePeople(path)
      let before = try recordBytes(path)
      let store = try Store(at: path, entities: [PersonV2.self])
      let people = try store.read { try $0.fetch(PersonV2.all) }
      #expect(people.map(\.name) == ["Ada", "Bob", "Ada"] && people.map(\.age) == [36, 20, 50])
      #expect(people.map(\.level) == [3, 3, 3] && people.allSatisfy { $0.city == nil })
      // The new index holds the initial value of records that do not have it.
      #expect(try store.read { try $0.ids(PersonV2.byLevel, within: .init().from(3)).count } == 3)
      store.close()
      #expect(try recordBytes(path) == before)
    }
  }

  @Test func `records of older layouts are updated, unchanged if equal, and deleted`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let before = try recordBytes(path)
      let store = try Store(at: path, entities: [PersonV2.self])
      try store.write { transaction in
        var people = try transaction.fetch(PersonV2.all)
        #expect(try transaction.update(people[0]) == false)
        people[1].level = 4
        #expect(try transaction.update(people[1]) == true)
        try transaction.delete(people[2].id)
      }
      let found = try store.read { try $0.ids(PersonV2.byLevel).map(\.rawValue) }
      #expect(found == [1, 2])
      store.close()
      let after = try recordBytes(path)
      #expect(after.count == 2 && after[0] == before[0] && after[1] != before[1])
    }
  }

  @Test func `records of old and new layouts leave no entry when many are deleted`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let store = try Store(at: path, entities: [PersonV2.self])
      try store.write { transaction in
        try transaction.insert((0..<3).map { PersonV2(age: 60 + $0, level: $0, name: "Cyd") })
        #expect(try transaction.delete(PersonV2.where { $0.age.isIn(31...61) }) == 4)
      }
      let found = try store.read { try $0.ids(PersonV2.byLevel).map(\.rawValue) }
      #expect(found == [6, 2])
      store.close()
    }
  }

  @Test func `an older declaration keeps the attributes, and the newer one finds their values`()
    throws
  {
    try withTemporaryPath { path in
      try makePeople(path)
      for round in 0..<5 {
        let second = try Store(at: path, entities: [PersonV2.self])
        let levels = try second.read { try $0.fetch(PersonV2.all).map(\.level) }
        #expect(levels == [3, 3, 3] + (0..<round).flatMap { _ in [9, 3] })
        _ = try second.write { try $0.insert(PersonV2(age: 1, level: 9, name: "x")) }
        second.close()
        let first = try Store(at: path, entities: [PersonV1.self])
        _ = try first.write { try $0.insert(PersonV1(name: "y", age: 2)) }
        first.close()
        try expectSound(path)
      }
    }
  }

  @Test func `a required attribute without initial value is refused while there are records`()
    throws
  {
    try withTemporaryPath { path in
      try makePeople(path)
      let before = try recordBytes(path)
      let error = try refusal(Demanding.self, at: path)
      #expect(error.entity == "Person" && error.message.contains("'Person.height'"))
      #expect(error.message.contains("default value"))
      #expect(try recordBytes(path) == before)
      let store = try Store(at: path, entities: [PersonV1.self])
      #expect(try store.read { try $0.fetch(PersonV1.all).count } == 3)
      try store.write { try $0.delete(PersonV1.all) }
      store.close()
      #expect(try variants(Demanding.self, at: path).isEmpty)
    }
  }

  @Test func `a renamed attribute keeps its values`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      #expect(try variants(Renamed.self, at: path).map(\.extra) == [36, 20, 50])
      #expect(try variants(Renamed.self, at: path).map(\.extra) == [36, 20, 50])
    }
  }

  @Test func `a new attribute takes the former name of a renamed attribute`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      for _ in 0..<2 {
        let people = try variants(Displaced.self, at: path)
        #expect(people.map(\.name) == ["Ada", "Bob", "Ada"])
        #expect(people.map(\.extra) == [5, 5, 5])
      }
    }
  }

  @Test func `a required attribute becomes optional, and required again when no record is null`()
    throws
  {
    try withTemporaryPath { path in
      try makePeople(path)
      #expect(try variants(Relaxed.self, at: path).map(\.extra) == [36, 20, 50])
      let store = try Store(at: path, entities: [PersonVariant<Relaxed>.self])
      var person = try #require(
        try store.read { try $0.fetch(RecordID<PersonVariant<Relaxed>>(rawValue: 2)) })
      person.extra = nil
      try store.write { _ = try $0.update(person) }
      store.close()
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [PersonV1.self])
      }
      #expect(error.recordID == 2 && error.message.contains("'Person.age'"))
      let again = try Store(at: path, entities: [PersonVariant<Relaxed>.self])
      person.extra = 21
      try again.write { _ = try $0.update(person) }
      again.close()
      let last = try Store(at: path, entities: [PersonV1.self])
      #expect(try last.read { try $0.fetch(PersonV1.all).map(\.age) } == [36, 21, 50])
      last.close()
    }
  }

  @Test func `tightening over a null is refused, naming the record`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let error = try refusal(Tightened.self, at: path)
      #expect(error.recordID == 2 && error.message.contains("'Person.email'"))
      let store = try Store(at: path, entities: [PersonV1.self])
      try store.write { _ = try $0.delete(RecordID<PersonV1>(rawValue: 2)) }
      store.close()
      #expect(try variants(Tightened.self, at: path).map(\.email) == ["a@b.c", "d@e.f"])
    }
  }

  @Test func `another type is refused, naming both types`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let error = try refusal(Retyped.self, at: path)
      #expect(error.message.contains("'Person.email'"))
      #expect(error.message.contains("string") && error.message.contains("int64"))
    }
  }

  @Test func `an index becomes unique, or is refused naming both records`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let error = try refusal(UniqueName.self, at: path)
      #expect(error.index == "Person.name")
      #expect(error.message.contains("the records 1 and 3"))
      let store = try Store(at: path, entities: [PersonV1.self])
      #expect(try store.read { try $0.ids(PersonV1.index(\.name)).map(\.rawValue) } == [1, 3, 2])
      try store.write { _ = try $0.delete(RecordID<PersonV1>(rawValue: 1)) }
      store.close()
      #expect(try variants(UniqueName.self, at: path).map(\.name) == ["Bob", "Ada"])
      let unique = try Store(at: path, entities: [PersonVariant<UniqueName>.self])
      var copy = try #require(
        try unique.read { try $0.fetch(PersonVariant<UniqueName>.all).first })
      copy.id = .unassigned
      #expect(
        try storeError(.uniqueViolation) { try unique.write { _ = try $0.insert(copy) } }.recordID
          == 2)
      unique.close()
    }
  }

  @Test func `contradictory declarations are refused by name`() throws {
    let path = try TemporaryFolder()
    let twice = try storeError(.badSchema) {
      try Store(at: path.storePath, entities: [PersonV1.self, PersonV2.self])
    }
    #expect(twice.message.contains("'Person'"))
    let doubled = try storeError(.badSchema) {
      try Store(at: path.storePath, entities: [PersonVariant<Doubled>.self])
    }
    #expect(doubled.message.contains("'name'"))
  }

  @Test func `names of earlier attributes are refused if a declaration uses them twice`() throws {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    func refusal<Change: PersonChange>(_: Change.Type) throws -> String {
      let error = try storeError(.badSchema) {
        try Store(at: path, entities: [PersonVariant<Change>.self])
      }
      return error.message
    }
    for isStored in [false, true] {
      if isStored { try makePeople(path) }
      #expect(
        try refusal(OneOrigin.self)
          == "cannot use the schema of Person: attributes 'name' and 'mail' have the same "
          + "originalName 'title', and an attribute of the file becomes one of them; leave it out of "
          + "one of them")
      #expect(
        try refusal(GoneOrigin.self)
          == "cannot use the schema of Person: 'title' is the originalName of attribute 'name', and "
          + "named in 'removed'; take it out of one of them")
      #expect(
        try refusal(GoneRule.self)
          == "cannot use the schema of Person: attribute 'age' is named in 'removed', and the rule "
          + "'grown' names it: 'age > 17'; take it out of one of them")
    }
  }

  /// A condition on it would mean the record's id, and an export would have two such members.
  @Test func `an attribute cannot have the name of the id of a record`() throws {
    let error = try storeError(.badSchema) {
      try DeclaredEntity(
        name: "Person",
        attributes: [.init(name: "_id", storage: .init(type: .int64, isOptional: false))],
        indexes: [])
    }
    #expect(error.message.contains("the store uses this name for the id of a record"))
  }

  enum Doubled: PersonChange {
    typealias Email = String?
    typealias Extra = Int
    static let hasExtra = false
    static let schema = EntitySchema<PersonVariant<Doubled>>(
      "Person", attributes: [.init("name", \.name), .init("name", \.email)])
  }

  enum OneOrigin: PersonChange {
    typealias Email = String?
    typealias Extra = Int
    static let hasExtra = false
    static let schema = EntitySchema<PersonVariant<OneOrigin>>(
      "Person",
      attributes: [
        .init("name", \.name, originalName: "title"),
        .init("mail", \.email, originalName: "title"),
      ])
  }

  enum GoneOrigin: PersonChange {
    typealias Email = String?
    typealias Extra = Int
    static let hasExtra = false
    static let schema = EntitySchema<PersonVariant<GoneOrigin>>(
      "Person",
      attributes: [.init("name", \.name, originalName: "title"), .init("email", \.email)],
      removed: ["title"])
  }

  enum GoneRule: PersonChange {
    typealias Email = String?
    typealias Extra = Int
    static let hasExtra = false
    static let schema = EntitySchema<PersonVariant<GoneRule>>(
      "Person", attributes: [.init("name", \.name), .init("email", \.email)],
      rules: [RecordRule("grown", format: "age > 17")], removed: ["age"])
  }
}
