import Foundation
import LodestoreFormat
import Testing

@testable import EntityStore
@testable import LMDB

/// Each limit at its edge: a value within the limit works, the next one throws, and the transaction
/// continues.
@Suite struct LimitTests {
  private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  private static func entity(
    _ name: String, attributes: Int = 1, indexes: Int = 0
  ) throws -> DeclaredEntity {
    try DeclaredEntity(
      name: name,
      attributes: (0..<attributes).map { .init(name: "a\($0)", storage: Int._storage) },
      indexes: (0..<indexes).map { index in
        // The first indexes have one attribute. The other indexes have two, at a
        // growing distance.
        let (first, distance) = (index % attributes, index / attributes)
        let isSingle = distance == 0
        return .init(
          attributes: isSingle ? [first] : [first, (first + distance) % attributes],
          isUnique: false)
      })
  }

  private static func nested(_ depth: Int) -> JSONValue {
    (0..<depth).reduce(JSONValue.null) { inner, _ in .array([inner]) }
  }

  /// An action of a write with a size, the largest size that works, and the code beyond it.
  private struct Edge: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var limit: Int
    var code: StoreError.Code
    var body: @Sendable (inout WriteTransaction, Int) throws -> Void

    init(
      _ name: String, _ limit: Int, _ code: StoreError.Code,
      _ body: @escaping @Sendable (inout WriteTransaction, Int) throws -> Void
    ) {
      testDescription = name
      self.limit = limit
      self.code = code
      self.body = body
    }
  }

  private static func count(
    _ tx: inout WriteTransaction, _ format: String, _ arguments: any Sendable...
  ) throws {
    _ = try tx.count(Film.where(try Condition<Film>(format: format, arguments: arguments)))
  }

  private static let edges = [
    Edge("a record's bytes", 4_000, .unstorableValue) { tx, size in
      // A record takes 27 bytes besides the title: header 2, null bits 1, number 8, date 8, two
      // ends of 2, checksum 4.
      let title = text(size - 27)
      try tx.insert(Film(title: title, episode: 900, code: nil, released: nil))
      try tx.delete(Film.where { $0.episode == 900 })
    },
    Edge("nesting", 128, .unstorableValue) { tx, depth in
      try tx.insert(Pod(name: "p\(depth)", version: "1", authors: nested(depth)))
    },
    Edge("a bucket's name", 64, .unstorableValue) { tx, size in
      try tx.put(Data([1]), for: "k", in: text(size))
    },
    Edge("a bucket's key", 400, .unstorableValue) { tx, size in
      try tx.put(Data([1]), for: text(size), in: "b")
    },
    Edge("a consumer's name", 64, .invalidQuery) { tx, size in
      try tx.setHistoryToken(nil, ofConsumer: text(size))
    },
    Edge("a format string's bytes", 65_536, .invalidQuery) { tx, size in
      try count(&tx, "title == '" + text(size - 11) + "'")
    },
    Edge("a format string's nesting", 64, .invalidQuery) { tx, depth in
      try count(
        &tx,
        String(repeating: "(", count: depth) + "TRUEPREDICATE"
          + String(repeating: ")", count: depth)
      )
    },
    Edge("a condition's nesting", 500, .invalidQuery) { tx, depth in
      let leaf: Condition<Film> = Film.attributes.episode == 1
      let condition = (0..<depth).reduce(leaf) { inner, index in
        index % 2 == 0 ? allOf(inner, leaf) : anyOf(inner, leaf)
      }
      _ = try tx.count(Film.where(condition))
    },
    Edge("SUBQUERYs inside each other", 3, .invalidQuery) { tx, depth in
      let format = (0..<depth).reduce("$x\(depth - 1) == 1") { inner, level in
        let number = depth - 1 - level
        let collection = number == 0 ? "authors" : "$x\(number - 1)"
        return "SUBQUERY(\(collection), $x\(number), \(inner)).@count > 0"
      }
      _ = try tx.count(Pod.where(try Condition<Pod>(format: format)))
    },
    Edge("a pattern of LIKE", 1_000, .invalidQuery) { tx, size in
      try count(&tx, "title LIKE %@", text(size))
    },
    Edge("a regular expression", 4_096, .invalidQuery) { tx, size in
      try count(&tx, "title MATCHES %@", text(size))
    },
  ]

  @Test(arguments: edges)
  private func `a store accepts values at each limit, and refuses larger ones without harm`(
    edge: Edge
  ) throws {
    var options = StoreOptions()
    options.recordSizeLimitInBytes = 4_000
    try withTemporaryStore([Film.self, Pod.self], options: options) { store in
      try store.write { tx in
        try tx.insert(Film(title: "before", episode: 1, code: nil, released: nil))
        try edge.body(&tx, edge.limit)
        do {
          try edge.body(&tx, edge.limit + 1)
          Issue.record("\(edge.limit + 1) was taken")
        } catch let error as StoreError {
          #expect(error.code == edge.code, "\(error)")
        }
        try tx.insert(Film(title: "behind", episode: 2, code: nil, released: nil))
      }
      #expect(try store.read { try $0.fetch(Film.all).map(\.title) } == ["before", "behind"])
    }
  }

  // MARK: Schemas

  @Test func `the attributes, the indexes and the name of an entity are limited`() throws {
    _ = try Self.entity("E", attributes: DeclaredEntity.mostAttributes)
    _ = try Self.entity("E", attributes: 64, indexes: DeclaredEntity.mostIndexes)
    _ = try Self.entity(Self.text(EntityDescription.longestName))
    for (attributes, indexes, name) in [
      (DeclaredEntity.mostAttributes + 1, 0, "E"), (65, DeclaredEntity.mostIndexes + 1, "E"),
      (1, 0, Self.text(EntityDescription.longestName + 1)),
    ] {
      _ = try storeError(.badSchema) {
        try Self.entity(name, attributes: attributes, indexes: indexes)
      }
    }
  }

  @Test func `the length of an attribute's name is limited`() throws {
    for (size, isTaken) in [
      (EntityDescription.longestName, true), (EntityDescription.longestName + 1, false),
    ] {
      let make = {
        try DeclaredEntity(
          name: "E", attributes: [.init(name: Self.text(size), storage: Int._storage)], indexes: [])
      }
      if isTaken { _ = try make() } else { _ = try storeError(.badSchema) { try make() } }
    }
  }

  @Test func `entities and indexes of a file are limited, and another is refused as a whole`()
    throws
  {
    try withTemporaryPath { path in
      // The schema has 61 entities with 1 + 64 trees each, and one entity with 35 trees.
      var declared = try (0..<61).map {
        try Self.entity("E\($0)", attributes: 12, indexes: 64)
      }
      declared.append(try Self.entity("Last", attributes: 12, indexes: 34))
      var options = StoreOptions()
      options.addsResemblingEntities = true
      let core = try StoreCore(path: path, declared: declared, options: options)
      #expect(core.schema.entities.count == 62)
      core.close()
      for name in ["More", "Last"] {
        let one = try Self.entity(name, attributes: 12, indexes: name == "Last" ? 35 : 0)
        let error = try storeError(.incompatibleSchema) {
          try StoreCore(path: path, declared: [one], options: options)
        }
        #expect(error.message.contains("4001 trees") && error.entity == name, "\(error)")
      }
      let again = try StoreCore(path: path, declared: declared, options: options)
      #expect(again.schema.entities.count == 62)
      again.close()
    }
  }

  /// The arguments are the number of trees before, whether the links have an order, and whether the
  /// limit is exceeded.
  @Test(arguments: [
    (3_998, false, false), (3_999, false, true), (3_997, true, false), (3_998, true, true),
  ])
  func `links and orders count as trees of the file`(
    _ count: Int, _ isOrdered: Bool, _ isRefused: Bool
  ) throws {
    try withTemporaryPath { path in
      var options = StoreOptions()
      options.addsResemblingEntities = true
      var declared: [DeclaredEntity] = []
      var left = count
      while left > 0 {
        let indexes = min(64, left - 1)
        declared.append(try Self.entity("E\(declared.count)", attributes: 12, indexes: indexes))
        left -= 1 + indexes
      }
      try StoreCore(path: path, declared: declared, options: options).close()
      declared[0].relationships = [
        DeclaredRelationship(
          name: "others", target: "E0", kind: .toMany(inverse: .none), onDelete: .nullify,
          isOrdered: isOrdered)
      ]
      let linked = declared[0]
      if isRefused {
        let error = try storeError(.incompatibleSchema) {
          try StoreCore(path: path, declared: [linked], options: options)
        }
        #expect(error.message.contains("4001 trees") && error.entity == "E0", "\(error)")
      }
      let core = try StoreCore(
        path: path, declared: isRefused ? [] : [linked], options: options)
      #expect(core.schema.relationships.count == (isRefused ? 0 : 1))
      core.close()
    }
  }

  // MARK: Sizes

  @Test func `the size of a file is limited, and a write beyond it is rolled back`() throws {
    var options = StoreOptions()
    options.fileSizeLimitInBytes = 4 << 20
    try withTemporaryStore([Film.self], options: options) { store in
      try store.write { try $0.put(Data(count: 2 << 20), for: "small", in: "b") }
      let error = try storeError(.mapFull) {
        try store.write { try $0.put(Data(count: 4 << 20), for: "large", in: "b") }
      }
      #expect(error.message.contains("\(4 << 20)"), "\(error)")
      try store.write { try $0.put(Data(count: 1_000), for: "more", in: "b") }
      #expect(try store.read { try $0.data(for: "large", in: "b") } == nil)
      #expect(try store.read { try $0.data(for: "small", in: "b") }?.count == 2 << 20)
    }
  }

  // MARK: Lists

  @Test func `lists have no limit except memory`() throws {
    try withTemporaryStore([Film.self]) { store in
      try store.write {
        try $0.insert(Film(title: "a", episode: 70_000, code: nil, released: nil))
      }
      let many = Array(0..<100_000)
      let query = Film.where { $0.episode.isIn(many) }
      #expect(try store.read { try $0.count(query) } == 1)
      let format = try Film.where(format: "episode IN %@", many)
      #expect(try store.read { try $0.count(format) } == 1)
      let chain = anyOf((0..<30_000).map { Film.attributes.episode == $0 + 50_000 })
      let start = ContinuousClock.now
      #expect(try store.read { try $0.count(Film.where(chain)) } == 1)
      // Even a busy machine needs only seconds. A quadratic algorithm took minutes.
      #expect(ContinuousClock.now - start < .seconds(30))
    }
  }

  @Test func `all reader slots may be taken, and the next read reports the limit`() throws {
    try withTemporaryStore([Film.self]) { store in
      let environment = store.core.environment
      var reads = try (0..<1_000).map { _ in try environment.beginRead() }
      defer { for read in reads { environment.endRead(read) } }
      // Some reader slots belong to ended reads that the store keeps for reuse.
      var refusal: LMDBError?
      while refusal == nil, reads.count <= 1_024 {
        do throws(LMDBError) { reads.append(try environment.beginRead()) } catch { refusal = error }
      }
      #expect(reads.count <= 1_024)
      let found = refusal.map { StoreError($0) }
      #expect(found?.code == .busy, "\(String(describing: found))")
      for _ in 0..<2 { environment.endRead(reads.removeLast()) }
      #expect(try store.read { try $0.count(Film.all) } == 0)
    }
  }

  @Test func `the length of an import's name is limited`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      for (size, code) in [(64, nil), (65, StoreError.Code.importStopped)] {
        var options = ImportOptions()
        options.name = Self.text(size)
        let importer = Importer(
          into: store, Film.self, matching: .unique(\.episode), options: options)
        let pages = AsyncStream<Data> { $0.finish() }
        do {
          _ = try await importer.run(pages, as: FilmRecord.self) { record in
            Film(title: record.title, episode: record.episode_id, code: nil, released: nil)
          }
          #expect(code == nil)
        } catch let error as StoreError {
          #expect(error.code == code, "\(error)")
        }
      }
    }
  }
}
