/// A program that makes a store, and the notes of `kvdump generate` about its schema.
struct GeneratedModel {
  var source: String
  var notes: [String] = []

  static let all = [types, rules, relationships, inexpressible]

  private static func program(_ entities: String, _ body: String) -> String {
    """
    @main enum Program {
      static func main() throws {
        let store = try Store(at: CommandLine.arguments[1], entities: [\(entities)])
        defer { store.close() }
        try store.write { tx throws in
    \(body)
        }
      }
    }
    """
  }

  /// Attributes of every type, with default values.
  static let types = GeneratedModel(
    source: """
      import Foundation
      import Lodestore

      @Entity struct Specimen {
        enum Kind: String { case rock, mineral }
        enum Grade: UInt8 { case low = 1 }
        struct Place: Codable, Hashable {
          var latitude: Double
          var names: [String]
          var `default`: Int?
          var inner: Inner
          struct Inner: Codable, Hashable {
            var price: Float
            enum CodingKeys: String, CodingKey { case price = "price €" }
          }
        }

        var bool: Bool = true
        var int: Int = -5
        var int8: Int8 = 1
        var int16: Int16
        var int32: Int32
        var uint: UInt = 18_446_744_073_709_551_615
        var uint8: UInt8
        var uint16: UInt16
        var uint32: UInt32
        var float: Float = 0.1
        var double: Double = 1e300
        var infinite: Double = .infinity
        var string: String = "a \\"quote\\" \\\\ \\n \\u{202e} é 名"
        var data: Data = Data([1, 255])
        var date: Date = Date(timeIntervalSinceReferenceDate: 700_000_000.5)
        var uuid: UUID = Specimen.noOne
        var url: URL = Specimen.home
        var decimal: Decimal = Decimal(5)
        var exact: Decimal = Specimen.tenth
        var kind: Kind = .mineral
        var grade: Grade?
        var json: JSONValue = ["a": [1, 2.5, true, .null], "b": [:]]
        var place: Place = Place(
          latitude: 1, names: ["a"], default: .none, inner: Place.Inner(price: 2))
        var list: [Int] = [1, 2]
        var places: [Place] = []
        var table: [String: [Date?]]?
        var optionalText: String? = "b"
        var optionalJSON: JSONValue?
        var nothing: Int?

        static let noOne = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))
        static let home = URL(string: "https://example.org/a?b=c") ?? URL(filePath: "/")
        static let tenth = Decimal(string: "-12345678901234567890.123456789") ?? 0
      }

      \(program(
        "Specimen.self",
        "      try tx.insert(Specimen(int16: 1, int32: 2, uint8: 3, uint16: 4, uint32: 5))"))
      """)

  /// Keys, indexes, constraints, rules, derived values, history, expiry and a limit.
  static let rules = GeneratedModel(
    source: """
      import Foundation
      import Lodestore

      @Entity(name: "String") struct Text {
        #Unique<Text>([\\.name, \\.class], [\\.slug])
        #Index<Text>([\\.stars, \\.name], [\\.sortName], [\\.weekday], [\\.tags])
        #Expires<Text>([\\.until])
        #Limit<Text>(count: 100, bytes: 1_000_000, by: [\\.fetched])
        static let elementIndexes = [ElementIndex<Text>(\\.authors, "name")]
        static let history = HistoryPolicy<Text>.kept(preserving: \\.name, \\.stars, images: true)
        static let rules = [
          RecordRule<Text>("the \\"name\\" is not the class") { $0.name != $0.class },
          RecordRule<Text>("stars", format: "stars >= 0 OR slug == 'x'"),
        ]

        @Attribute(constraints: [.length(1...20), .pattern("[a-z\\\\d]+")]) var name: String
        var `class`: String = "none"
        @Attribute(name: "id") var number: Int = 4
        @Attribute(name: "schema", constraints: [.range(-5 ... -1)]) var plan: Int = -2
        @Attribute(constraints: [.range(0...)]) var stars: Int
        @Attribute(constraints: [.range(...0.5)]) var share: Double?
        var slug: String
        var until: Date?
        var fetched: Date
        var tags: [String]
        var authors: JSONValue
        @Derived(.canonical(\\Text.name)) private(set) var sortName: String = ""
        @Derived(.uppercase(\\Text.name)) private(set) var shout: String = ""
        @Derived(.insertedAt) private(set) var insertedAt: Date = .distantPast
        @Derived(.changedAt) private(set) var changedAt: Date = .distantPast
        @Derived(.member(\\Text.authors, "first", "name", as: String.self))
        private(set) var first: String?
        @Derived(.part(.weekday, of: \\Text.fetched)) private(set) var weekday: Int?
        @Derived(.start(of: .month, \\Text.fetched, in: .offset(hours: -5, minutes: -30)))
        private(set) var month: Date?
      }

      \(program(
        "Text.self",
        "      try tx.insert(Text(name: \"a1\", stars: 3, slug: \"s\", fetched: Date(timeIntervalSinceReferenceDate: 1), tags: [\"t\"], authors: .null))"
      ))
      """,
    notes: [
      "String.id is the property 'identifier'", "String.schema is the property 'schema_'",
      "String is the struct 'StringEntity'",
    ])

  /// Relationships of each kind, and values derived from related records.
  static let relationships = GeneratedModel(
    source: """
      import Foundation
      import Lodestore

      @Entity struct Club {
        #Unique<Club>([\\.name])
        var name: String
        static let members = ToMany<Club, Person>(ordered: true, onDelete: .deny)
        static let fans = ToMany<Club, Person>()
        @Derived(.count(Club.members)) private(set) var memberCount: Int = 0
        @Derived(.count(Club.members, where: "age > 18")) private(set) var adults: Int = 0
        @Derived(.sum(Club.members, \\Person.age)) private(set) var age: Int = 0
        @Derived(.average(Club.members, \\Person.age)) private(set) var meanAge: Double?
        @Derived(.maximum(Club.members, \\Person.name)) private(set) var last: String?
      }

      @Entity struct Person {
        var name: String
        var age: Int
        @Attribute(.unique) @Relationship(onDelete: .cascade) var picture: Picture.ID?
        @Relationship var boss: Person.ID?
        static let clubs = ToMany<Person, Club>(inverse: Club.members, ordered: true)
        static let notes = ToMany<Person, Note>(
          inverse: \\.person, onDelete: .cascade, deniesDeleteWhere: { $0.isOpen == true })
        static let staff = ToMany<Person, Person>(inverse: \\.boss, onDelete: .nullify)
        static let friends = ToMany<Person, Person>()
        static let friendsOf = ToMany<Person, Person>(inverse: Person.friends)
        @Derived(.copy(\\Person.boss, \\Person.name)) private(set) var bossName: String?
      }

      @Entity struct Note {
        var isOpen: Bool = false
        @Relationship var person: Person.ID
        var seen: RecordID<Note>?
        @Derived(.copy(\\Note.person, \\Person.name)) private(set) var author: String?
      }

      @Entity struct Picture {
        var title: String
        static let owner = ToMany<Picture, Person>(inverse: \\.picture)
      }

      \(program(
        "Club.self, Person.self, Note.self, Picture.self",
        """
              let picture = try tx.insert(Picture(title: "p"))
              let boss = try tx.insert(Person(name: "b", age: 50, picture: picture.id))
              let person = try tx.insert(Person(name: "a", age: 17, boss: boss.id))
              let club = try tx.insert(Club(name: "c"))
              try tx.add(person.id, to: Club.members, of: club.id)
              try tx.insert(Note(person: person.id))
        """))
      """)

  /// Parts that the source leaves out, and that opening a store keeps.
  static let inexpressible = GeneratedModel(
    source: """
      import Foundation
      import Lodestore

      struct Angle: Codable, Hashable, Sendable {
        var degrees: Double
        init(degrees: Double) { self.degrees = degrees }
        init(from decoder: any Decoder) throws {
          degrees = try decoder.singleValueContainer().decode(Double.self)
        }
        func encode(to encoder: any Encoder) throws {
          var container = encoder.singleValueContainer()
          try container.encode(degrees)
        }
      }

      @Entity struct Sky {
        #Index<Sky>([\\.label])
        var name: String
        var angle: Angle = Angle(degrees: 1)
        @Derived(.function(version: 3) { (sky: Sky) in "the \\(sky.name)" })
        private(set) var label: String = ""
      }

      \(program("Sky.self", "      try tx.insert(Sky(name: \"a\"))"))
      """,
    notes: [
      "Sky.angle is left out: its type Angle codes its values in its own way",
      "Sky.label is left out: it is derived by a function of a program, version 3",
      "Sky.label is left out: the index has an attribute that is left out",
    ])
}
