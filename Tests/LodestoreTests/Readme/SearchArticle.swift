#if Macros
  import Lodestore
  import Testing

  // The Swift of the article Search.

  enum SearchArticle {
    @Entity struct Pod {
      #Search<Pod>([\.name: 3, \.summary: 1])

      var name: String
      var summary: String?
      var license: String
    }

    /// An entity with two indexes, so that each search names one.
    @Entity struct Film {
      #Search<Film>([\.title])
      #Search<Film>([\.title, \.plot])

      var title: String
      var plot: String
    }

    struct Author: Codable, Hashable {
      var name: String
    }

    @Entity struct Package {
      var name: String
      var authors: [Author]

      static let searchIndexes = [
        SearchIndex<Package>(.init(\.name, weight: 3), .init(\.authors, "name"))
      ]
    }

    static var naming: Query<Pod> {
      let pods = Pod.where { $0.search("json", in: ["name", "summary"]) }
      return pods
    }

    static func marking(_ pod: Pod) {
      let highlighter = SearchHighlighter("json parser")
      let snippet = highlighter.snippet(of: pod.summary ?? "", length: 120)
      for range in snippet.ranges { print(snippet.text[range]) }
    }
  }

  @Suite struct `The article about searches` {
    typealias Pod = SearchArticle.Pod

    @Test func `the best match is first, and its words are marked`() throws {
      let store = try Store.inMemory(entities: [Pod.self])
      defer { store.close() }
      try store.insert([
        Pod(name: "Other", summary: "Reads a JSON text by a parser of its own", license: "MIT"),
        Pod(name: "JSONParser", summary: "Fast", license: "MIT"),
        Pod(name: "JSON Parser", summary: "Closed", license: "none"),
      ])
      let best = Pod.where {
        $0.search("json parser"); $0.license == "MIT"
      }
      .sortedByScore().limit(10)
      let found = try store.fetch(best)
      #expect(found.map(\.name) == ["JSONParser", "Other"])
      #expect(try store.fetch(SearchArticle.naming).count == 3)
      SearchArticle.marking(found[1])
      let highlighter = SearchHighlighter("json parser")
      let text = found[1].summary ?? ""
      let snippet = highlighter.snippet(of: text, length: 30)
      #expect(snippet.ranges.map { snippet.text[$0] } == ["JSON", "parser"])
      #expect(highlighter.ranges(in: found[0].name).map { found[0].name[$0] } == ["JSONParser"])
    }

    @Test func `a search in a condition names one of several indexes`() throws {
      typealias Film = SearchArticle.Film
      let store = try Store.inMemory(entities: [Film.self])
      defer { store.close() }
      try store.insert([
        Film(title: "A New Hope", plot: "A farmer"), Film(title: "Jedi", plot: "The last hope"),
      ])
      func titles(_ sources: [String]) throws -> [String] {
        try store.fetch(Film.where { $0.search("hope", in: sources) }).map(\.title)
      }
      #expect(try titles(["title"]) == ["A New Hope"])
      #expect(try titles(["title", "plot"]) == ["A New Hope", "Jedi"])
      let error = #expect(throws: StoreError.self) { try titles([]) }
      #expect(error?.code == .invalidQuery)
    }

    @Test func `texts at a path are searched, also in one attribute alone`() throws {
      typealias Package = SearchArticle.Package
      let store = try Store.inMemory(entities: [Package.self])
      defer { store.close() }
      try store.insert([
        Package(name: "Ann", authors: [.init(name: "Bob Ross")]),
        Package(name: "Tree", authors: [.init(name: "Ann Lee"), .init(name: "Bob")]),
      ])
      func names(_ condition: Condition<Package>) throws -> [String] {
        try store.fetch(Package.all.where(condition)).map(\.name)
      }
      #expect(try names(.search("ann")) == ["Ann", "Tree"])
      #expect(try names(Package.attributes.name.search("ann")) == ["Ann"])
      #expect(try names(.search("authors.name:ann")) == ["Tree"])
      // A phrase does not go on in the next text.
      #expect(try names(.search("\"lee bob\"")) == [])
      #expect(
        try store.searchSuggestions(for: "Tere", in: Package.self) == ["tree"])
    }
  }
#endif
