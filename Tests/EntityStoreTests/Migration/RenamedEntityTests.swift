import Testing

@testable import EntityStore

/// A new type may be a renamed entity of the file, or only resemble one.
@Suite struct `A new entity that resembles one of the file` {
  private func person(_ name: String, dropping count: Int = 0) throws -> DeclaredEntity {
    let all = [
      ("name", String._storage), ("email", String?._storage), ("age", Int._storage),
      ("city", String?._storage),
    ]
    return try DeclaredEntity(
      name: name, attributes: all.dropLast(count).map { .init(name: $0.0, storage: $0.1) },
      indexes: [])
  }

  private func opening(
    _ path: String, _ declared: [DeclaredEntity], isSeparate: Bool = false
  ) throws -> [String] {
    var options = StoreOptions()
    options.addsResemblingEntities = isSeparate
    let core = try StoreCore(path: path, declared: declared, options: options)
    defer { core.close() }
    return core.schema.entities.map(\.name)
  }

  private func makePeople(_ path: String, isEmpty: Bool = false) throws {
    let store = try Store(at: path, entities: [PersonV1.self])
    defer { store.close() }
    if isEmpty { return }
    try store.write { try $0.insert(PersonV1(name: "Ada", email: nil, age: 36)) }
  }

  @Test(arguments: [0, 1])
  func `a new entity that resembles a stored one is refused with a question`(dropped: Int) throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let error = try storeError(.incompatibleSchema) {
        try opening(path, [try person("Human", dropping: dropped)])
      }
      #expect(error.entity == "Human")
      #expect(error.message.contains(#".rename(entity: "Person", to: "Human")"#))
      #expect(error.message.contains("addsResemblingEntities"))
      #expect(try opening(path, []) == ["Person"])
    }
  }

  @Test func `a new entity that resembles a stored one is made once if the program requests it`()
    throws
  {
    try withTemporaryPath { path in
      try makePeople(path)
      let human = try person("Human", dropping: 1)
      #expect(try opening(path, [human], isSeparate: true) == ["Person", "Human"])
      #expect(try opening(path, [human]) == ["Person", "Human"])
    }
  }

  @Test func `a new entity is made if the similar one is declared, empty or different`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      let unlike = try DeclaredEntity(
        name: "Ship",
        attributes: [
          .init(name: "name", storage: String._storage), .init(name: "mass", storage: Int._storage),
        ], indexes: [])
      #expect(try opening(path, [unlike]) == ["Person", "Ship"])
      let both = [try person("Person", dropping: 1), try person("Human", dropping: 1)]
      #expect(try opening(path, both) == ["Person", "Ship", "Human"])
    }
    try withTemporaryPath { path in
      try makePeople(path, isEmpty: true)
      #expect(try opening(path, [try person("Human", dropping: 1)]) == ["Person", "Human"])
    }
  }

  @Test func `a stage that renames a stored entity makes the new one of its records`() throws {
    try withTemporaryPath { path in
      let made = try Store(at: path, entities: [Film.self])
      try made.write { try $0.insert(Film(title: "a", episode: 1, code: nil, released: nil)) }
      made.close()
      // An earlier version of the program gave the entity another name.
      let core = try StoreCore(path: path, options: StoreOptions())
      try core.environment.write { transaction in
        try MigrationRun(core, transaction, nil).rename(entity: "Film", to: "Movie")
        try core.trees.raiseSchemaNumber(in: transaction)
      }
      core.close()
      _ = try storeError(.incompatibleSchema) { try Store(at: path, entities: [Film.self]) }
      let changes = try Store.schemaChanges(at: path, opening: [Film.self])
      #expect(changes.map(\.cost) == [.refused] && changes.first?.text.contains("Movie") == true)
      let stage = MigrationStage(to: 1, .rename(entity: "Movie", to: "Film"))
      let store = try Store(at: path, entities: [Film.self], migrating: [stage])
      defer { store.close() }
      #expect(try store.read { try $0.count(Film.all) } == 1)
    }
  }

  @Test func `an entity that was made too early can be removed as its error describes`() throws {
    try withTemporaryPath { path in
      try makePeople(path)
      #expect(
        try opening(path, [try person("Human", dropping: 1)], isSeparate: true).last == "Human")
      let rename = MigrationStep.rename(entity: "Person", to: "Human")
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [], migrating: [MigrationStage(to: 1, rename)])
      }
      #expect(error.message.contains(#".rename(entity: "Human", to: "OldHuman")"#))
      let stage = MigrationStage(to: 1, .rename(entity: "Human", to: "OldHuman"), rename)
      try Store(at: path, entities: [], migrating: [stage]).close()
      #expect(try Set(opening(path, [])) == ["Human", "OldHuman"])
    }
  }
}
