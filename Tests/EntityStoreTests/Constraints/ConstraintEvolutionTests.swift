import LMDB
import LodestoreFormat
import Testing

@testable import EntityStore

/// A program in which `age` is from 18 to 30 and `name` has at least three scalars.
private enum Limited: PersonChange {
  typealias Email = String?
  typealias Extra = Int
  static let hasExtra = true
  static let schema = EntitySchema<PersonVariant<Limited>>(
    "Person",
    attributes: [
      .init("name", \.name, constraints: [.length(3...)]), .init("email", \.email),
      .init("age", \.extra, constraints: [.range(18...30)]),
    ], indexes: [[\.name]])
}

/// A program in which `age` has another name and range, and `email` is new with a pattern.
private enum Widened: PersonChange {
  typealias Email = String?
  typealias Extra = Int
  static let hasExtra = true
  static let schema = EntitySchema<PersonVariant<Widened>>(
    "Person",
    attributes: [
      .init("name", \.name), .init("email", \.email, constraints: [.pattern(".+@.+")]),
      .init("years", \.extra, originalName: "age", constraints: [.range(...40)]),
    ], indexes: [[\.name]])
}

extension PersonVariant {
  fileprivate init(name: String, email: Change.Email, extra: Change.Extra) {
    self.name = name
    self.email = email
    self.extra = extra
  }
}

@Suite struct `Evolution of constraints` {
  /// Makes a store of three people, who are 36, 20 and 50 years old.
  private func makePeople(_ path: String) throws {
    let store = try Store(at: path, entities: [PersonV1.self])
    try store.write { tx in
      try tx.insert(PersonV1(name: "Ada", email: "a@b.c", age: 36))
      try tx.insert(PersonV1(name: "Bob", email: nil, age: 20))
      try tx.insert(PersonV1(name: "Al", email: "x", age: 50))
    }
    store.close()
  }

  private func facts(_ path: String) throws -> (layout: UInt16, records: [[UInt8]]) {
    let core = try StoreCore(path: path, options: .readOnly)
    defer { core.close() }
    return try core.read { core in
      let entity = try core.entity(named: "Person")
      return (
        entity.layout.number,
        try (1...4).compactMap { id in try core.record(id, of: entity).map { Array($0) } }
      )
    }
  }

  @Test func `added constraints touch no stored record and bind the next change of it`() throws {
    typealias Person = PersonVariant<Limited>
    try withTemporaryPath { path in
      try makePeople(path)
      let before = try facts(path)
      let store = try Store(at: path, entities: [Person.self])
      var people = try store.read { try $0.fetch(Person.all) }
      #expect(people.map(\.extra) == [36, 20, 50])
      // An update with equal values writes nothing, so the broken constraint does not refuse it.
      #expect(try store.write { try $0.update(people[0]) } == false)
      people[0].email = nil
      let age = try storeError(.invalidValue) {
        try store.write { (tx) throws in try tx.update(people[0]) }
      }
      #expect(age.attribute == "age" && age.recordID == 1)
      // The constraint also refuses an update by condition that changes another attribute.
      let byCondition = try storeError(.invalidValue) {
        try store.write { (tx) throws in
          try tx.update(Person.where { $0.name == "Ada" }) { $0.email = "e" }
        }
      }
      #expect(byCondition.attribute == "age")
      let name = try storeError(.invalidValue) {
        try store.write { (tx) throws in
          try tx.update(Person.where { $0.extra == 50 }) { $0.extra = 18 }
        }
      }
      #expect(name.attribute == "name" && name.recordID == 3)
      let after = try facts(path)
      #expect(after.layout == before.layout && after.records == before.records)
      people[0].extra = 30
      #expect(try store.write { try $0.update(people[0]) })
      store.close()
    }
  }

  @Test func `constraints are changed with a rename, and removed`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let before = try facts(path)
      for round in 0..<2 {
        let limited = try Store(at: path, entities: [PersonVariant<Limited>.self])
        let young = try storeError(.invalidValue) {
          try limited.write { (tx) throws in
            try tx.insert(PersonVariant<Limited>(name: "Cyd", email: "x", extra: 17))
          }
        }
        #expect(young.attribute == "age" && young.message.hasSuffix("must be at least 18"))
        limited.close()
        let widened = try Store(at: path, entities: [PersonVariant<Widened>.self])
        let old = try storeError(.invalidValue) {
          try widened.write { (tx) throws in
            try tx.insert(PersonVariant<Widened>(name: "C", email: nil, extra: 41))
          }
        }
        #expect(old.attribute == "years" && old.message.hasSuffix("must be at most 40"))
        widened.close()
        #expect(try facts(path).records == before.records, "round \(round)")
        // A third program has the old name of `age` and no constraint.
        let plain = try Store(at: path, entities: [PersonVariant<Unlimited>.self])
        try plain.write { tx in
          let id = try tx.insert(PersonVariant<Unlimited>(name: "", email: "", extra: -1)).id
          try tx.delete(id)
        }
        #expect(
          plain.core.schema.entity(named: "Person")?.description.attributes
            .allSatisfy { $0.constraints.isEmpty } == true)
        plain.close()
      }
    }
  }

  @Test func `a store that was open before keeps to constraints that another adds`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let old = try Store(at: path, entities: [PersonV1.self])
      try old.write { tx in _ = try tx.insert(PersonV1(name: "Eve", email: nil, age: 99)) }
      let new = try Store(at: path, entities: [PersonVariant<Limited>.self])
      let error = try storeError(.invalidValue) {
        try old.write { (tx) throws in
          try tx.insert(PersonV1(name: "Fay", email: nil, age: 99))
        }
      }
      #expect(error.attribute == "age")
      old.close()
      new.close()
    }
  }

  @Test func `a reader opens a file with other constraints than it declares`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let reader = try Store(
        at: path, entities: [PersonVariant<Limited>.self], options: .readOnly)
      #expect(try reader.read { try $0.fetch(PersonVariant<Limited>.all).count } == 3)
      reader.close()
    }
  }

  @Test func `a partial declaration keeps the constraints that it omits`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      try Store(at: path, entities: [PersonVariant<Limited>.self]).close()
      var email = AttributeConstraints()
      email.maxLength = 9
      let age = DeclaredEntity.Attribute(name: "age", storage: Int._storage)
      let declared = try DeclaredEntity(
        name: "Person",
        attributes: [
          age, .init(name: "email", storage: String?._storage, constraints: email),
        ], indexes: [], isPartial: true)
      let core = try StoreCore(path: path, declared: [declared], options: StoreOptions())
      let stored = try #require(core.schema.entity(named: "Person")).description
      core.close()
      #expect(stored.attribute(named: "name")?.constraints.minLength == 3)
      #expect(stored.attribute(named: "age")?.constraints.maximum == .integer(30))
      #expect(stored.attribute(named: "email")?.constraints == email)
    }
  }
}

/// A program in which `age` has its old name and no constraint.
private enum Unlimited: PersonChange {
  typealias Email = String?
  typealias Extra = Int
  static let hasExtra = true
  static let schema = EntitySchema<PersonVariant<Unlimited>>(
    "Person",
    attributes: [
      .init("name", \.name), .init("email", \.email),
      .init("age", \.extra, originalName: "years"),
    ], indexes: [[\.name]])
}
