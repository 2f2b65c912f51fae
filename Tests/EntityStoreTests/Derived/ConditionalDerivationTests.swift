import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import KVDumpCommands

@Suite struct `Attributes derived with a condition` {
  private static let entities: [any Entity.Type] = [Borough.self, Borrower.self, Borrowing.self]

  /// Compares all derived attributes with a plain loop over the records.
  private static func expectRight(_ store: Store) throws {
    try store.read { snapshot in
      let loans = try snapshot.fetch(Borrowing.all)
      let members = try snapshot.fetch(Borrower.all)
      for member in members {
        let open = loans.filter { $0.member == member.id && $0.isOpen }.map(\.pages)
        try #require(member.openLoans == open.count)
        try #require(member.openPages == open.reduce(0, +))
        try #require(member.longestOpen == open.max())
        let mean = open.isEmpty ? nil : Double(open.reduce(0, +)) / Double(open.count)
        try #require(member.meanOpen == mean)
        let ids = Set(try snapshot.relatedIDs(Borrower.favourites, of: member.id))
        let favourites = loans.filter { ids.contains($0.id) }
        try #require(member.openFavourites == favourites.count(where: \.isOpen))
        let thick = favourites.filter { $0.pages > 100 && $0.title != "b" }
        try #require(member.thickFavourites == thick.map(\.pages).reduce(0, +))
      }
      for branch in try snapshot.fetch(Borough.all) {
        try #require(
          branch.busy == members.count { $0.branch == branch.id && $0.openLoans > 1 })
      }
    }
  }

  @Test func `conditional derived attributes are right through random changes`() throws {
    let operations = SeededNumbers.environmentNumber("LODESTORE_DERIVED_OPERATIONS") ?? 500
    try withTemporaryStore(Self.entities) { store in
      let branches = try store.write { tx in
        try tx.insert([Borough("north"), Borough("south")]).ids
      }
      var numbers = SeededNumbers(salt: 90_142)
      for _ in 0..<operations {
        let seed = numbers
        try store.write { tx throws in
          // The closure may run again, so it starts from the saved numbers.
          numbers = seed
          for _ in 0...numbers.below(4) { try Self.change(&tx, &numbers, branches[0], branches[1]) }
        }
        try Self.expectRight(store)
      }
      try expectSound(store)
    }
  }

  private static func change(
    _ tx: inout WriteTransaction, _ numbers: inout SeededNumbers, _ north: Borough.ID,
    _ south: Borough.ID
  ) throws {
    let members = try tx.fetch(Borrower.all)
    let loans = try tx.fetch(Borrowing.all)
    let member = members.randomElement(using: &numbers)?.id
    let loan = loans.randomElement(using: &numbers)?.id
    let pages = [0, 50, 100, 101, 300][numbers.below(5)]
    let title = ["a", "b"][numbers.below(2)]
    switch numbers.below(11) {
    case 0: _ = try tx.insert(Borrower("m", branch: numbers.oneIn(2) ? north : south))
    case 1, 2:
      _ = try tx.insert(Borrowing(title, pages: pages, isOpen: !numbers.oneIn(3), member: member))
    case 3: if let loan { _ = try tx.modify(loan) { $0.isOpen.toggle() } }
    case 4:
      guard let loan else { return }
      _ = try tx.modify(loan) {
        $0.pages = pages
        $0.title = title
      }
    case 5: if let loan { _ = try tx.modify(loan) { $0.member = member } }
    case 6:
      guard let member else { return }
      let some = loans.shuffled(using: &numbers).prefix(4).map(\.id)
      try tx.set(Borrower.favourites, of: member, to: some)
    case 7: try tx.update(Borrowing.where { $0.pages == pages }) { $0.isOpen = false }
    case 8: if let loan { _ = try tx.delete(loan) }
    case 9: if let member { _ = try tx.modify(member) { $0.branch = south } }
    default:
      guard let member else { return }
      do {
        _ = try tx.delete(member)
      } catch {
        guard error.code == .deleteDenied else { throw error }
        #expect(loans.contains { $0.member == member && $0.isOpen })
      }
    }
  }

  @Test func `conditional derived attributes deny deletes before anything is written`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: Self.entities)
    let member = try store.write { tx throws in
      let member = try tx.insert(Borrower("m")).id
      try tx.insert([Borrowing("a", pages: 1, isOpen: false, member: member)])
      try tx.insert([Borrowing("b", pages: 1, isOpen: true, member: member)])
      return member
    }
    let error = try storeError(.deleteDenied) {
      try store.write { tx in _ = try tx.delete(member) }
    }
    #expect(error.message.contains("Borrowing 2 leads to it by 'member'"), "\(error)")
    #expect(error.message.contains("fulfils 'isOpen == TRUE'"), "\(error)")
    store.close()
    let dynamic = try Store(at: folder.storePath, entities: [])
    try dynamic.core.write { core in
      let members = try core.entity(named: "Borrower")
      #expect(throws: StoreError.self) { try core.delete(1, of: members) }
      #expect(throws: StoreError.self) { try core.deleteAll(of: members) }
      #expect(try core.delete(2, of: try core.entity(named: "Borrowing")))
      #expect(try core.delete(1, of: members))
      #expect(try core.count(of: try core.entity(named: "Borrowing")) == 0)
    }
    dynamic.close()
    try expectSound(folder.storePath)
  }

  @Test func `programs without the types keep or refuse conditional attributes`()
    throws
  {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: Self.entities)
    try store.write { tx throws in
      let member = try tx.insert(Borrower("m")).id
      try tx.insert(Borrowing("a", pages: 7, member: member))
    }
    store.close()
    let dynamic = try Store(at: folder.storePath, entities: [])
    try dynamic.core.write { core in
      _ = try core.delete(1, of: try core.entity(named: "Borrowing"))
    }
    let facts = try dynamic.core.read { core in core.schema.derived.compactMap(\.condition) }
    #expect(facts.contains("isOpen == TRUE"))
    try dynamic.core.write { core in
      var description = try core.entity(named: "Borrower").description
      for position in description.attributes.indices
      where description.attributes[position].derivation?.condition != nil {
        description.attributes[position].derivation?.condition = "isOpen LATER YES"
      }
      try core.store.trees.put(description, in: core.writing)
      try core.store.trees.raiseSchemaNumber(in: core.writing)
    }
    dynamic.close()
    let other = try Store(at: folder.storePath, entities: [])
    let error = try storeError(.badSchema) {
      try other.core.write { core in
        let loans = try core.entity(named: "Borrowing")
        let values = [Value.string("x"), .integer(1), .bool(true), .integer(1)]
        let changes = core.changes(of: loans)
        _ = try changes.insert(try changes.encode(values))
      }
    }
    #expect(error.message.contains("isOpen LATER YES"), "\(error)")
    other.close()
  }

  /// A program that cannot read a rule's condition must assume that the rule denies, so it deletes
  /// no record of the rule.
  @Test(arguments: ["isOpen LATER YES", "later:(pages) > 1", "returnedOn == NULL"])
  func `a delete is refused if the condition by which an attribute denies it is unknown`(
    condition: String
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.storePath, entities: Self.entities)
    try await store.write { tx in
      let member = try tx.insert(Borrower("m")).id
      try tx.insert(Borrowing("a", pages: 7, isOpen: false, member: member))
      try tx.insert(Borrower("without loans"))
    }
    try store.core.write { core in
      for relationship in core.schema.relationships {
        var description = relationship.description
        for side in RelationshipSide.allCases where description[side].denyCondition != nil {
          description[side].denyCondition = condition
        }
        try core.store.trees.put(description, in: core.writing)
      }
      try core.store.trees.raiseSchemaNumber(in: core.writing)
    }
    store.close()
    let dynamic = try Store(at: folder.storePath, entities: [])
    let deletes: [(WriteCore) throws -> Void] = [
      { core in _ = try core.delete(1, of: core.entity(named: "Borrower")) },
      { core in _ = try core.delete(2, of: core.entity(named: "Borrower")) },
      { core in _ = try core.deleteAll(of: core.entity(named: "Borrower")) },
    ]
    for delete in deletes {
      let error = try storeError(.badSchema) { try dynamic.core.write { try delete($0) } }
      #expect(error.message.contains("the condition '\(condition)' by which"), "\(error)")
    }
    try dynamic.core.write { core in
      let loans = try core.entity(named: "Borrowing")
      let members = try core.entity(named: "Borrower")
      #expect(try core.delete(1, of: loans))
      #expect(try core.count(of: members) == 2)
    }
    dynamic.close()
    let messages = MemorySink()
    let status = await KVDump.execute(
      ["delete", folder.storePath, "Borrower", "name == 'without loans'", "--yes"],
      on: Console(output: MemorySink(), errors: messages))
    #expect(status != .success)
    #expect(messages.text.contains("the condition '\(condition)' by which"), "\(messages.text)")
    let tool = try Store(at: folder.storePath, entities: [])
    defer { tool.close() }
    let count = try tool.core.read { core in try core.count(of: core.entity(named: "Borrower")) }
    #expect(count == 2)
  }

  @Test func `attributes are derived again when a condition is added, changed and removed`() throws
  {
    let folder = try TemporaryFolder()
    func counts<V: LenderVersion>(_: V.Type) throws -> [Int] {
      let store = try Store(at: folder.storePath, entities: [Lender<V>.self, LentPiece<V>.self])
      defer { store.close() }
      if try store.count(Lender<V>.all) == 0 {
        try store.write { tx throws in
          let lender = try tx.insert(Lender<V>()).id
          try tx.insert((1...5).map { LentPiece<V>(pages: $0, lender: lender) })
        }
      }
      return try store.fetch(Lender<V>.all).map(\.count)
    }
    #expect(try counts(Every.self) == [5])
    #expect(try counts(Long.self) == [2])
    #expect(try counts(Longer.self) == [1])
    #expect(try counts(Every.self) == [5])
    try expectSound(folder.storePath)
    for (version, reason) in [
      (Timed.self, "cannot be used"), (Unknown.self, "'chapters' is no attribute of LentPiece"),
    ] as [(any LenderVersion.Type, String)] {
      func open<V: LenderVersion>(_ version: V.Type) throws { _ = try counts(version) }
      let error = try storeError(.badSchema) { try open(version) }
      #expect(error.message.contains(reason), "\(error)")
    }
    #expect(try counts(Every.self) == [5])
  }
}

/// A version of the entity "Lender", as a program declares it at one time.
private protocol LenderVersion: Sendable {
  static var derivation: Derivation<Lender<Self>, Int> { get }
}

private struct Lender<V: LenderVersion>: Entity {
  var id = RecordID<Lender>()
  private(set) var count = 0

  static var lent: ToMany<Lender, LentPiece<V>> { LenderRelationships.of(V.self) }

  static var schema: EntitySchema<Lender> {
    EntitySchema(
      "Lender", attributes: [.derived("count", \.count, V.derivation)],
      relationships: [.init("lent", lent)])
  }

  init() {}

  init(from reader: inout RecordReader) throws(StoreError) {
    count = try reader.read()
    id = reader.id()
  }

  func encode(into _: inout RecordWriter) {}
}

private struct LentPiece<V: LenderVersion>: Entity {
  var id = RecordID<LentPiece>()
  var pages: Int
  var lender: RecordID<Lender<V>>?

  struct Attributes: Sendable {
    var pages: Attribute<LentPiece, Int> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<LentPiece> {
    EntitySchema("LentPiece", attributes: [.init("pages", \.pages), .toOne("lender", \.lender)])
  }

  init(pages: Int, lender: RecordID<Lender<V>>?) {
    self.pages = pages
    self.lender = lender
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    pages = try reader.read()
    lender = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(pages)
    writer.write(lender)
  }
}

/// The relationship of each version, made once, because a relationship's identity is its name.
private enum LenderRelationships {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var known: [ObjectIdentifier: any Sendable] = [:]

  static func of<V: LenderVersion>(_: V.Type) -> ToMany<Lender<V>, LentPiece<V>> {
    lock.withLock {
      let key = ObjectIdentifier(V.self)
      if let found = known[key] as? ToMany<Lender<V>, LentPiece<V>> { return found }
      let made = ToMany<Lender<V>, LentPiece<V>>(inverse: \.lender)
      known[key] = made
      return made
    }
  }
}

private enum Every: LenderVersion {
  static var derivation: Derivation<Lender<Every>, Int> { .count(Lender<Every>.lent) }
}

private enum Long: LenderVersion {
  static var derivation: Derivation<Lender<Long>, Int> {
    .count(Lender<Long>.lent) { $0.pages > 3 }
  }
}

private enum Longer: LenderVersion {
  static var derivation: Derivation<Lender<Longer>, Int> {
    .count(Lender<Longer>.lent) { $0.pages > 4 }
  }
}

/// A version whose derivation has another definition at each access, because it contains the
/// current time.
private enum Timed: LenderVersion {
  static var derivation: Derivation<Lender<Timed>, Int> {
    .count(Lender<Timed>.lent).restricted(to: { "CAST(pages, 'date') < now()" })
  }
}

private enum Unknown: LenderVersion {
  static var derivation: Derivation<Lender<Unknown>, Int> {
    .count(Lender<Unknown>.lent).restricted(to: { "chapters > 3" })
  }
}
