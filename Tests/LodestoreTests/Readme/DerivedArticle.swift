#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article DerivedAttributes.

  @Entity struct Album {
    #Index<Album>([\.sortTitle], [\.trackCount])
    var title: String
    static let tracks = ToMany<Album, Track>(inverse: \.album, onDelete: .cascade)
    @Derived(.canonical(\Album.title)) private(set) var sortTitle = ""
    @Derived(.count(Album.tracks)) private(set) var trackCount = 0
    @Derived(.sum(Album.tracks, \.seconds)) private(set) var seconds = 0
    @Derived(.changedAt) private(set) var changedAt: Date = .distantPast
  }

  @Entity struct Track {
    var title: String
    var seconds: Int
    @Relationship var album: Album.ID?
    @Derived(.copy(\Track.album, \.title)) private(set) var albumTitle: String?

    static let rules = [
      RecordRule<Track>("a track lasts some time") { $0.seconds > 0 }
    ]
  }

  @Entity struct Visit {
    #Index<Visit>([\.weekday], [\.month])
    var at: Date
    @Derived(.part(.weekday, of: \Visit.at)) private(set) var weekday: Int?
    @Derived(.start(of: .month, \Visit.at, in: .offset(hours: 1))) private(set) var month: Date?
  }

  @Entity struct Recording {
    var artist: String
    var title: String
    @Derived(
      .function(version: 1) { (recording: Recording) in "\(recording.artist): \(recording.title)" })
    private(set) var heading = ""
  }

  @Entity struct Package {
    #Unique<Package>([\.number])
    #Index<Package>([\.licenseType], [\.keywords])
    static let elementIndexes = [ElementIndex<Package>(\.authors, "name")]

    var properties: JSONValue
    var keywords: [String]
    var authors: JSONValue
    @Derived(.member(\Package.properties, "license", "type", as: String.self))
    private(set) var licenseType: String?
    @Derived(.member(\Package.properties, "id", as: Int.self)) private(set) var number: Int?
  }

  @Suite struct `The article on derived attributes` {
    private func insert(_ tracks: [Track], into store: Store) throws {
      do {
        try store.insert(tracks)
      } catch let error as StoreError where error.code == .invalidValue {
        for violation in error.violations { print(violation) }
      }
    }

    @Test func `the programs of the article on derived attributes run as described`() throws {
      let store = try Store.inMemory(entities: [Album.self, Track.self])
      let album = try store.insert(Album(title: "Émotion"))
      try insert([Track(title: "a", seconds: 0), Track(title: "b", seconds: 5)], into: store)
      #expect(try store.count(Track.all) == 0)
      try insert([100, 200].map { Track(title: "t", seconds: $0, album: album.id) }, into: store)
      let orderedAlbums = Album.where { $0.trackCount > 0 }.sorted(by: \.sortTitle)
      let stored = try #require(try store.first(orderedAlbums))
      #expect(stored.seconds == 300 && stored.sortTitle == "emotion")
      let hook = store.beforeChanges(of: Album.self) { change in
        if case .delete(let album) = change, album.trackCount > 0 {
          throw RuleViolation("an album with tracks stays", attribute: "trackCount")
        }
      }
      let error = #expect(throws: StoreError.self) { try store.delete(album.id) }
      #expect(error?.violations.count == 1)
      hook.cancel()
      #expect(try store.delete(album.id))
    }

    @Test func `queries find visits by the parts of their dates`() throws {
      let store = try Store.inMemory(entities: [Visit.self])
      // 2001-01-01 was a Monday; one visit each day of four weeks.
      let days = (0..<28).map { Date(timeIntervalSinceReferenceDate: Double($0) * 86_400) }
      try store.insert(days.map { Visit(at: $0) })
      let atWeekends = Visit.where { $0.at[.weekday] > 5 }  // counted by weekday alone
      #expect(try store.count(atWeekends) == 8)
      #expect(try store.read { try $0.explain(atWeekends, for: .count).index } == "Visit.weekday")
      let start = Date(timeIntervalSinceReferenceDate: -3_600)
      #expect(try store.fetch(Visit.all).allSatisfy { $0.month == start })
    }

    @Test func `a function derives an attribute`() throws {
      let store = try Store.inMemory(entities: [Recording.self])
      try store.insert(Recording(artist: "A", title: "b"))
      #expect(try store.fetch(Recording.all).map(\.heading) == ["A: b"])
    }

    @Test func `queries find packages by the content of documents`() throws {
      let store = try Store.inMemory(entities: [Package.self])
      let packages: [Package] = (0..<500).map { number in
        Package(
          properties: [
            "license": ["type": number % 50 == 0 ? "MIT" : "GPL"], "id": .integer(number),
          ],
          keywords: number == 7 ? ["swift", "store"] : ["c"],
          authors: number == 8 ? [["name": "Ann"]] : nil)
      }
      try store.insert(packages)
      let free = Package.where { $0.properties["license"]["type"] == "MIT" }  // by licenseType
      let swift = Package.where { $0.keywords.contains("swift") }  // by keywords
      let anns = try Package.where(format: "ANY authors.name == 'Ann'")  // by the index of authors
      for (query, index, count) in [
        (free, "licenseType", 10), (swift, "keywords[]", 1), (anns, "authors[].name", 1),
      ] {
        #expect(try store.count(query) == count)
        #expect(try store.read { try $0.explain(query).index } == "Package.\(index)")
      }
      let error = #expect(throws: StoreError.self) {
        try store.insert(Package(properties: ["id": 7], keywords: [], authors: nil))
      }
      #expect(error?.code == .uniqueViolation)
    }
  }
#endif
