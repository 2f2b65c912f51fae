#if Macros
  import Lodestore
  import Testing

  /// A namespace whose entities use the types that are declared in it.
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

  /// The struct is internal, because a test module is no library, and public members in it are not
  /// more visible.
  struct Archive {
    fileprivate enum Shelf {
      /// A box in a room.
      @Entity public struct Box {
        #Unique<Box>([\.label])
        /// The text on the box.
        public var label: String
        /// The room of the box.
        @Relationship public var room: Room.ID?
      }
      /// A room with boxes.
      @Entity public struct Room {
        /// Its number.
        public var number: Int
        /// The boxes in the room.
        public static let boxes = ToMany<Room, Box>(inverse: \Box.room)
      }
    }
  }

  /// A namespace to which an extension adds an entity.
  public enum Catalogues {}

  public extension Catalogues {
    /// A card.
    @Entity struct Card {
      /// The text on the cover.
      public var title: String
    }
  }

  @Suite struct `Nested entities` {
    @Test func `a nested entity may be more accessible than the types around it`() throws {
      let store = try Store.inMemory(
        entities: [Archive.Shelf.Box.self, Archive.Shelf.Room.self, Catalogues.Card.self])
      defer { store.close() }
      let room = try store.insert(Archive.Shelf.Room(number: 1))
      try store.insert(Archive.Shelf.Box(label: "a", room: room.id))
      let boxes = try store.read { try $0.related(Archive.Shelf.Room.boxes, of: room.id) }
      #expect(boxes.map(\.label) == ["a"])
      #expect(try store.fetch(Archive.Shelf.Box.key(label: "a")) != nil)
      try store.insert(Catalogues.Card(title: "x"))
      #expect(try store.count(Catalogues.Card.where { $0.title == "x" }) == 1)
    }

    @Test func `a nested entity refers to types that are declared next to it`() throws {
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
