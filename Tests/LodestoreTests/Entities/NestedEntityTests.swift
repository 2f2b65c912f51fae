#if Macros
  import Lodestore
  import Testing

  /// A namespace whose entities name what is declared beside them.
  enum Observatory {
    enum Kind: String { case giant, dwarf }

    struct Place: Codable, Hashable, Sendable {
      var latitude: Double
    }

    @Entity
    struct Star: Equatable {
      #Unique<Star>([\.name, \.kind])
      #Index<Star>([\.spare])

      var name: String
      var kind: Kind = Kind.dwarf
      var spare: Kind?
      var place: Place
      var seen: [Place] = []
      @Relationship var system: System.ID?
      private var secret: Kind = .giant
      static let history = HistoryPolicy<Star>.kept(images: true)

      init(_ name: String, _ kind: Kind = .dwarf, _ system: System.ID? = nil) {
        self.name = name
        self.kind = kind
        self.system = system
        place = Place(latitude: 1.5)
      }
    }

    @Entity
    struct System: Equatable {
      #Unique<System>([\.name])

      var name: String
      static let stars = ToMany<System, Star>(inverse: \.system)
    }
  }

  extension Observatory {
    @Entity fileprivate struct Night {
      fileprivate var places: [Place] = []
      fileprivate var best: Kind
    }
  }

  @Suite struct `Nested entities` {
    @Test func `name what is declared beside them`() throws {
      let store = try Store.inMemory(
        entities: [Observatory.Star.self, Observatory.System.self, Observatory.Night.self])
      defer { store.close() }
      let system = try store.insert(Observatory.System(name: "Sirius"))
      let star = try store.insert(Observatory.Star("B", .dwarf, system.id))
      try store.insert(Observatory.Star("A", .giant, system.id))
      #expect(try store.fetch(Observatory.Star.key(name: "B", kind: .dwarf)) == star)
      let dwarfs = Observatory.Star.where { $0.kind == .dwarf }
      #expect(try store.fetch(dwarfs) == [star])
      let stars = try store.read { try $0.related(Observatory.System.stars, of: system.id) }
      #expect(stars.map(\.name) == ["B", "A"])
      try store.insert(Observatory.Night(best: .giant))
      #expect(try store.fetch(Observatory.Night.where { $0.best == .giant }).count == 1)
    }
  }
#endif
