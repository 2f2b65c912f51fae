#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the articles on entities, JSON values and performance, and of the module's page.

  // The types of attributes are usually at the top of a file.

  enum License: String, IndexableValue {
    case mit, apache, other
  }

  struct Author: Codable, Hashable, Sendable {
    var name: String
    var email: String?
  }

  enum EntitiesArticle {
    @Entity
    struct Pod {
      #Unique<Pod>([\.name, \.version])
      #Index<Pod>([\.license, \.updatedAt], [\.stars])

      var name: String
      var version: String
      var license: License = .mit
      var stars: Int = 0
      var homepage: URL?
      var platforms: [String: String] = [:]
      var author: Author?
      var updatedAt: Date
      @Transient var isSelected = false
    }

    @Entity
    struct Review {
      var title: String
      @Attribute(constraints: [.range(0...5)]) var stars: Int = 0
      @Attribute(constraints: [.length(1...200), .pattern("[a-z-]+")]) var slug: String
      @Attribute(initial: Date.distantPast) var writtenAt: Date = .now
    }

    static func open() throws -> Store {
      let store = try Store(at: "pods.lodestore", entities: [Pod.self, Review.self])

      return store
    }

    static func find(in store: Store) throws -> Bool {
      let stored = try store.insert(Pod(name: "AFNetworking", version: "4.0.1", updatedAt: .now))
      let byID = try store.fetch(stored.id)
      let byKey = try store.fetch(Pod.key(name: "AFNetworking", version: "4.0.1"))
      let byIndex = try store.read { snapshot in
        try snapshot.fetch(Pod.index(\.name, \.version), keys: [("AFNetworking", "4.0.1")])
      }

      return byID?.id == stored.id && byKey?.id == stored.id && byIndex.first??.id == stored.id
    }
  }

  enum JSONArticle {
    @Entity
    struct Library {
      #Unique<Library>([\.name])
      #Index<Library>([\.keywords])

      var name: String
      var authors: JSONValue?  // a text, a list or an object in the wild
      var keywords: JSONValue = .array([])
    }

    static func values() throws -> Int? {
      let authors: JSONValue = ["Ann Bee": "ann@example.org", "count": 2]
      let parsed = try JSONValue(
        parsing: #"{"git": "https://example.org", "tags": ["1.0", "1.1"]}"#)
      print(authors["count"]?.intValue ?? 0)  // 2
      print(parsed[path: "tags.0"]?.stringValue ?? "")  // 1.0
      print(parsed)  // {"git":"https://example.org","tags":["1.0","1.1"]}

      return authors["count"]?.intValue
    }

    static func queries() throws -> [Query<Library>] {
      let byAnn = Library.where { $0.authors["name"] == "Ann" }
      let recent = Library.where { $0.authors["count"] >= 2 }
      let swift = Library.where { $0.keywords.contains("swift") }  // by the index of elements
      let sorted = Library.all.sorted { [$0.authors["name"].ascending] }
      let same = try Library.where(format: "authors.name == 'Ann' AND 'swift' IN keywords")

      return [byAnn, recent, swift, sorted, same]
    }
  }

  enum PerformanceArticle {
    @Entity
    struct Pod {
      #Index<Pod>([\.license, \.updatedAt])

      var license: String
      var updatedAt: Date
    }

    static func explain(_ store: Store) throws {
      let newest = Pod.where { $0.license == "MIT" }.sorted(by: \.updatedAt.descending).limit(50)
      try store.read { snapshot in
        print(try snapshot.explain(newest, analyzing: true))
      }
    }
  }

  enum ModulePage {
    @Entity struct Film {
      var title: String
      var year: Int
    }

    static func run(_ path: String) throws -> [Film] {
      let store = try Store(at: path, entities: [Film.self])
      try store.write { tx in
        try tx.insert(Film(title: "Alien", year: 1979))
      }
      let early = try store.fetch(Film.where { $0.year < 1990 }.sorted(by: \.year))

      return early
    }
  }

  @Suite struct `The articles on entities and values` {
    @Test func `the queries of the articles find the stated records`() throws {
      let store = try Store.inMemory(
        entities: [EntitiesArticle.Pod.self, EntitiesArticle.Review.self])
      #expect(try EntitiesArticle.find(in: store))
    }

    @Test func `the queries of the articles find values inside of JSON`() throws {
      #expect(try JSONArticle.values() == 2)
      let store = try Store.inMemory(entities: [JSONArticle.Library.self])
      try store.insert(
        JSONArticle.Library(name: "L", authors: ["name": "Ann", "count": 2], keywords: ["swift"]))
      for query in try JSONArticle.queries() { #expect(try store.count(query) == 1) }
    }

    @Test func `the articles explain a plan`() throws {
      let store = try Store.inMemory(entities: [PerformanceArticle.Pod.self])
      try store.insert(
        (0..<20_000).map {
          PerformanceArticle.Pod(
            license: $0 % 2 == 0 ? "MIT" : "GPL", updatedAt: Date(timeIntervalSince1970: Double($0))
          )
        })
      try PerformanceArticle.explain(store)
    }
  }
#endif
