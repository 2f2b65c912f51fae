import EntityStore
import LodestoreFormat
import Testing

@Suite struct `A dynamic store` {
  private static func film() throws -> DeclaredEntity {
    try DeclaredEntity(
      name: "Film",
      attributes: [
        .init(name: "title", storage: AttributeStorage(type: .string)),
        .init(name: "year", storage: AttributeStorage(type: .int64)),
      ],
      indexes: [.init(attributes: [0], isUnique: true), .init(attributes: [1], isUnique: false)])
  }

  /// A page of three films, one of which it lists twice.
  private static let page = """
    [{"title": "Alien", "year": 1979}, {"title": "Brazil", "year": 1985},
     {"title": "Cube", "year": 1997}, {"title": "Alien", "year": 1979}]
    """

  private func withFilms(_ body: (DynamicStore) throws -> Void) async throws {
    let folder = try TemporaryFolder()
    let store = try DynamicStore(path: folder.storePath, options: StoreOptions())
    try store.declare([Self.film()])
    let records = try JSONDocument.parsing(Self.page.utf8).root.elements.map(JSONRecord.object)
    let importing = DynamicImport(
      into: "Film", of: store, key: ["title"], conflict: .replace, strategy: .upsert,
      options: ImportOptions())
    let pages = AsyncStream { continuation in
      continuation.yield(DynamicPage(records))
      continuation.finish()
    }
    let report = try await importing.run(pages) { _ in }
    #expect(report.inserted == 3)
    try body(store)
    store.close()
    try expectSound(folder.storePath)
  }

  private func titles(_ query: DynamicQuery, _ entity: DynamicEntity) throws -> [Value] {
    let title = try #require(entity.description.attribute(named: "title"))
    var titles: [Value] = []
    try query.forEach { record in
      titles.append(try record.reader(verifyingChecksum: true).value(of: title))
      return true
    }
    return titles
  }

  @Test func `a dynamic store reads records by id, index and query`() async throws {
    try await withFilms { store in
      #expect(store.entities.map(\.name) == ["Film"])
      try store.read { snapshot in
        let film = try #require(snapshot.entity(named: "Film"))
        #expect(snapshot.entity(named: "Filn") == nil)
        #expect(film.indexes.map(\.name) == ["Film.title", "Film.year"])
        #expect(try snapshot.count(of: film) == 3)
        #expect(try snapshot.record(2, of: film)?.id == 2)
        #expect(try snapshot.record(9, of: film) == nil)
        var ids: [UInt64] = []
        try snapshot.forEachID(
          of: film, in: film.indexes[1], from: [.integer(1980)], isReversed: true
        ) { id in
          ids.append(id)
          return true
        }
        let title = try #require(film.description.attribute(named: "title"))
        let walked = try ids.map { id in
          try snapshot.record(id, of: film)?.reader().value(of: title)
        }
        #expect(walked == [.string("Cube"), .string("Brazil")])
        let query = try snapshot.query(QueryRequest(format: "year > 1980"), of: film)
        #expect(try titles(query, film) == [.string("Brazil"), .string("Cube")])
        #expect(query.explanation().resultCount == nil && !query.explanation().steps.isEmpty)
        #expect(try query.analysis(isCounted: true).resultCount == 2)
        let year = try #require(ValuePath("year", of: film))
        let groups = try snapshot.query(.all, of: film).groups(by: [DynamicExpression(year)])
        #expect(groups.map(\.keys) == [[.integer(1979)], [.integer(1985)], [.integer(1997)]])
        #expect(groups.allSatisfy { $0.count == 1 })
        #expect(try snapshot.facts().requirement.lowestReader >= 1)
        #expect(try snapshot.importReports(of: "Film").map(\.records) == [4])
      }
    }
  }

  @Test func `a dynamic store changes records, and no record if the closure throws`() async throws {
    try await withFilms { store in
      let (updated, deleted) = try store.write { transaction in
        let film = try #require(transaction.snapshot.entity(named: "Film"))
        let later = try DynamicAssignment("year", expression: "year + 1")
        try transaction.snapshot.check(later, of: film)
        return (
          try transaction.update(.all, of: film, [later]),
          try transaction.delete(
            QueryRequest(equal: [("title", .string("Cube"))]), of: film)
        )
      }
      #expect(updated == 3 && deleted == 1)
      #expect(throws: CancellationError.self) {
        try store.write { transaction in
          let film = try #require(transaction.snapshot.entity(named: "Film"))
          _ = try transaction.delete(.all, of: film)
          throw CancellationError()
        }
      }
      try store.read { snapshot in
        let film = try #require(snapshot.entity(named: "Film"))
        let query = try snapshot.query(QueryRequest(format: "year == 1986"), of: film)
        #expect(try titles(query, film) == [.string("Brazil")])
        #expect(try snapshot.count(of: film) == 2)
      }
    }
  }

  @Test func `a dynamic store reports the fault of a format string, and passes errors on`()
    async throws
  {
    try await withFilms { store in
      try store.read { snapshot in
        let film = try #require(snapshot.entity(named: "Film"))
        let parsing = try #require(throws: StoreError.self) { try QueryRequest(format: "year >") }
        #expect(parsing.formatPosition?.line == 1)
        let binding = try #require(throws: StoreError.self) {
          try snapshot.query(QueryRequest(format: "yaer > 3"), of: film)
        }
        #expect(binding.formatPosition?.column == 1)
        #expect(throws: CancellationError.self) {
          try snapshot.query(.all, of: film).forEach { _ in throw CancellationError() }
        }
      }
    }
  }
}
