import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LodestorePages
@testable import LodestoreVerifier

@Suite struct `Stages of a migration` {
  @Test func `stages bring a file to the newest model, and later openings have no work`() throws {
    try withTemporaryPath { path throws in
      try Movies.make(at: path, count: 1_000)
      let store = try Store(at: path, entities: Movies.new, migrating: Movies.stages)
      #expect(try Movies.expectNew(store, count: 1_000))
      #expect(try store.fetch(NewMovie.where { $0.episode == "77" }).map(\.name) == ["Name 77"])
      let plan = try store.read { try $0.explain(NewMovie.where { $0.episode == "77" }) }
      #expect(plan.description.contains("episode"))
      let links = try store.read { try $0.relatedCount(NewStudio.movies, of: .init(rawValue: 2)) }
      #expect(links == 500)
      let schema = store.core.schema.number
      store.close()
      try expectSound(path)
      let again = try Store(at: path, entities: Movies.new, migrating: Movies.stages)
      #expect(again.core.schema.number == schema)
      again.close()
      // The program also works without its stages, because the file already has all its
      // declarations.
      let plain = try Store(at: path, entities: Movies.new)
      #expect(try Movies.expectNew(plain, count: 1_000))
      plain.close()
    }
  }

  @Test func `stages run one by one, from the version of the file`() throws {
    try withTemporaryPath { path throws in
      try Movies.make(at: path, count: 20)
      let first = try Store(at: path, entities: [], migrating: [Movies.stages[0]])
      let film = try #require(first.core.schema.entity(named: "Film"))
      #expect(film.description.attribute(named: "released")?.type == .string)
      #expect(film.description.attribute(named: "episode")?.type == .string)
      first.close()
      try expectSound(path)
      let second = try Store(at: path, entities: Movies.new, migrating: Movies.stages)
      #expect(try Movies.expectNew(second, count: 20))
      second.close()
    }
  }

  @Test func `stages do not run in new files`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: Movies.new, migrating: Movies.stages)
      #expect(try store.count(NewMovie.all) == 0)
      let version = try store.core.environment.read {
        try store.core.trees.modelVersion(in: $0)
      }
      #expect(version == 2)
      store.close()
    }
  }

  @Test func `migrated files refuse older programs with a message, and stay unchanged`() throws {
    try withTemporaryPath { path throws in
      try Movies.make(at: path, count: 3)
      try Store(at: path, entities: Movies.new, migrating: Movies.stages).close()
      let error = try storeError(.incompatibleSchema) { try Store(at: path, entities: Movies.old) }
      #expect(error.message.contains("version 2") && error.message.contains("Movie"))
      // An older program may use an entity that the migration left unchanged.
      let studios = try Store(at: path, entities: [OldStudio.self])
      #expect(try studios.fetch(OldStudio.all).map(\.name) == ["S", "T"])
      try studios.insert(OldStudio("U"))
      studios.close()
      let options = StoreOptions.readOnly
      let reader = try Store(at: path, entities: [OldStudio.self], options: options)
      #expect(try reader.count(OldStudio.all) == 3)
      reader.close()
    }
  }

  @Test func `stages name the values that do not convert, and change nothing`() throws {
    struct Odd: Error {}
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: Movies.old)
      try store.insert((1...30).map { OldMovie($0 % 2 == 0 ? "\($0)" : "x\($0)", episode: $0) })
      store.close()
      let stage = MigrationStage(to: 1, .convert("name", of: "Movie", to: Int.self))
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [], migrating: [stage])
      }
      #expect(error.message.contains("records 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and perhaps more"))
      #expect(error.entity == "Movie" && error.attribute == "name" && error.recordID == 1)
      let thrown = MigrationStage(
        to: 1, .convert("name", of: "Movie") { (_: String) -> Int in throw Odd() })
      let cause = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [], migrating: [thrown])
      }
      #expect(cause.cause is Odd)
      let steps: [(MigrationStep, String)] = [
        (.convert("nam", of: "Movie", to: Int.self), "did you mean 'name'"),
        (.convert("name", of: "Movi", to: Int.self), "no entity 'Movi'"),
        (.convert("episode", of: "Movie") { (text: String) in text }, "is stored as int64"),
        (.convert("studio", of: "Movie", to: Int.self), "is a relationship"),
        (.remove("studio", of: "Movie"), "is a relationship"),
        (.require("name", of: "Movie", default: 3), "is stored as string"),
        (.rename(entity: "Movie", to: "Studio"), "'Studio' already"),
        (.rename("name", of: "Movie", to: "year"), "'year' twice"),
        (.add("name", to: "Movie", String?.self), "is there already"),
        (.add("length", to: "Movie", Int.self), "no initial value"),
        (.map("Movie") { $0["episode"] = "x" }, "is a required int64 and was given"),
        (.map("Movie") { $0["epsode"] = 3 }, "did you mean 'episode'"),
        (.map("Movie") { $0["episode"] = 1 }, "same value"),
        // Like a stage that sets an attribute, a stage that reads one must name an existing
        // attribute and its type.
        (
          .map("Movie") { $0["name"] = $0["nam"] ?? "" },
          "'nam' is no attribute of Movie; did you mean 'name'"
        ),
        (
          .map("Movie") { $0["name"] = $0["episode"] ?? "" },
          "'Movie.episode' is int64, and was read as string"
        ),
        (.map("Movie") { _ = $0[id: "name"] }, "'Movie.name' is string, and was read as the id"),
        (.map("Movie") { _ = $0[document: "name", as: [String].self] }, "was read as a document"),
        (
          .custom("read") { try $0.forEach("Movie") { _ = $0["nam", as: String.self] } },
          "did you mean 'name'"
        ),
        (
          .deduplicate("Movie", by: "director") { first, _ in
            first["nam"] == "x" ? .first : .second
          }, "did you mean 'name'"
        ),
        (.toMany("name", of: "Movie", as: "studios"), "is no relationship"),
        (.toMany("studio", of: "Movie", as: "nothing"), "leads to 'nothing'"),
        (.custom("fail") { _ in throw Odd() }, "step 'fail'"),
      ]
      for (step, text) in steps {
        let error = try storeError(.incompatibleSchema) {
          try Store(at: path, entities: [], migrating: [MigrationStage(to: 1, step)])
        }
        #expect(error.message.contains(text), "\(error.message)")
      }
      let after = try Store(at: path, entities: Movies.old)
      #expect(try after.fetch(OldMovie.all).map(\.episode) == Array(1...30))
      after.close()
    }
  }

  @Test func `stages delete duplicates, so that a unique index can be made`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: Movies.old)
      try store.insert(
        (0..<100).map { OldMovie("N\($0 % 10)", episode: $0, year: $0 == 55 ? 1 : nil) })
      store.close()
      let stage = MigrationStage(
        to: 1,
        .deduplicate("Movie", by: "name") { first, _ in
          first["year", as: Int.self] != nil ? .first : .second
        })
      let unique = try Store(at: path, entities: [UniqueMovie.self], migrating: [stage])
      let ids = try unique.fetch(UniqueMovie.all).map(\.id.rawValue)
      #expect(ids == [56] + (91...95).map { $0 } + (97...100).map { $0 })
      unique.close()
    }
  }

  @Test func `stages split an entity by steps of their own`() throws {
    try withTemporaryPath { path throws in
      let store = try Store(at: path, entities: Movies.old)
      try store.insert((0..<50).map { OldMovie("N", episode: $0, director: "D\($0 % 5)") })
      store.close()
      let stage = MigrationStage(
        to: 1, .create(entity: "Director"), .add("name", to: "Director", initial: ""),
        .add("madeBy", to: "Movie", RecordID<OldStudio>?.self),
        .custom("directors become an entity") { transaction in
          var known: [String: UInt64] = [:]
          try transaction.forEach("Movie") { movie in
            let name = movie["director", as: String.self] ?? ""
            if known[name] == nil {
              known[name] = try transaction.insert("Director") { $0["name"] = name }
            }
            try transaction.update("Movie", movie.id) { $0[id: "madeBy"] = known[name] }
          }
          if try transaction.count("Director") != 5 { throw CancellationError() }
        }, .remove("director", of: "Movie"))
      let split = try Store(at: path, entities: [], migrating: [stage])
      try split.core.read { core in
        let movie = try core.entity(named: "Movie")
        #expect(try core.count(of: core.entity(named: "Director")) == 5)
        let values = try #require(try core.record(7, of: movie)).map { $0 }
        #expect(!values.isEmpty && movie.description.attribute(named: "director") == nil)
      }
      split.close()
    }
  }

  @Test func `stages remove an entity with all links to its records`() throws {
    try withTemporaryPath { path throws in
      try Movies.make(at: path, count: 20)
      let stage = MigrationStage(to: 1, .remove(entity: "Studio"))
      let store = try Store(at: path, entities: [], migrating: [stage])
      let schema = store.core.schema
      #expect(schema.entity(named: "Studio") == nil && schema.relationships.isEmpty)
      let movie = try #require(schema.entity(named: "Movie"))
      #expect(movie.description.attribute(named: "studio") == nil)
      #expect(movie.description.indexes.count == 2)
      #expect(try store.core.read { try $0.count(of: movie) } == 20)
      store.close()
      try expectSound(path)
      // A later entity with the removed entity's name is a new entity with its own number.
      let again = try Store(at: path, entities: [OldStudio.self], migrating: [stage])
      #expect(try again.insert(OldStudio("new")).id.rawValue == 1)
      #expect(again.core.schema.entity(named: "Studio")?.number.rawValue == 3)
      again.close()
      try expectSound(path)
    }
  }

  @Test func `stages remove an entity of many links only once no attribute is derived from it`()
    throws
  {
    try withTemporaryPath { path throws in
      try Movies.make(at: path, count: 20)
      try Store(at: path, entities: Movies.new, migrating: Movies.stages).close()
      let stage = MigrationStage(to: 3, .remove(entity: "Film"))
      let error = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [], migrating: [stage])
      }
      #expect(error.message.contains(#".remove("movieCount", of: "Studio")"#), "\(error)")
      let unknown = MigrationStage(to: 3, .remove(entity: "Flim"))
      let none = try storeError(.incompatibleSchema) {
        try Store(at: path, entities: [], migrating: [unknown])
      }
      #expect(none.message.contains("no entity 'Flim'"))
      let both = MigrationStage(
        to: 3, .remove("movieCount", of: "Studio"), .remove(entity: "Film"))
      let store = try Store(at: path, entities: [OldStudio.self], migrating: [both])
      #expect(store.core.schema.relationships.isEmpty)
      #expect(try store.fetch(OldStudio.all).map(\.name) == ["S", "T"])
      store.close()
      try expectSound(path)
    }
  }

  @Test func `stages purge a history with writes of an entity that they remove`() throws {
    try withTemporaryPath { path throws in
      var options = StoreOptions()
      options.history = .images
      let store = try Store(at: path, entities: Movies.old, options: options)
      let studio = try store.insert(OldStudio("S"))
      try store.modify(studio.id) { $0.name = "T" }
      let movie = try store.insert(OldMovie("N", episode: 1))
      let token = try store.historyToken()
      store.close()
      let stage = MigrationStage(to: 1, .remove(entity: "Studio"))
      let left = try Store(at: path, entities: [], migrating: [stage], options: options)
      #expect(try left.history().isEmpty)
      #expect(try left.historyToken().number >= token.number)
      _ = try storeError(.expiredHistory) {
        try left.history(.after(HistoryToken(storeID: token.storeID, number: token.number - 1)))
      }
      left.close()
      try expectSound(path)
      #expect(movie.id.rawValue == 1)
    }
  }

  @Test func `stages report their progress, and leave no trace when they are cancelled`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.storePath
    try Movies.make(at: path, count: 10_000)
    let task = Task {
      try await Store.open(at: path, entities: Movies.new, migrating: Movies.stages) { progress in
        if (progress.fraction ?? 0) > 0.2 { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let old = try Store(at: path, entities: Movies.old)
    #expect(try await old.count(OldMovie.all) == 10_000)
    old.close()
    let seen = Fractions()
    let store = try await Store.open(
      at: path, entities: Movies.new, migrating: Movies.stages
    ) { seen.add($0.fraction ?? 0) }
    #expect(try Movies.expectNew(store, count: 10_000))
    store.close()
    let all = seen.all
    #expect(all.count > 20 && all == all.sorted() && all.last == 1, "\(all)")
    try expectSound(path)
  }

  @Test func `versions of stages must ascend`() throws {
    try withTemporaryPath { path throws in
      for versions in [[2, 1], [1, 1], [0]] {
        let stages = versions.map { MigrationStage(to: $0) }
        let error = try storeError(.badSchema) {
          try Store(at: path, entities: [], migrating: stages)
        }
        #expect(error.message.contains("stage"))
      }
      try Store(at: path, entities: [], migrating: []).close()
    }
  }
}

private final class Fractions: @unchecked Sendable {
  private let lock = NSLock()
  private var fractions: [Double] = []

  func add(_ fraction: Double) { lock.withLock { fractions.append(fraction) } }

  var all: [Double] { lock.withLock { fractions } }
}

private struct UniqueMovie: Entity {
  var id = RecordID<UniqueMovie>()
  var name: String

  static let schema = EntitySchema<UniqueMovie>(
    "Movie", attributes: [.init("name", \.name)], unique: [[\.name]])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}
