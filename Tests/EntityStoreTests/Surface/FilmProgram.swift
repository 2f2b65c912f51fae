/// The entity of the programs that are compiled, written by hand as `@Entity` would write it.
enum FilmProgram {
  static let entity = #"""
    import EntityStore
    import Foundation
    enum Genre: String, Codable, Sendable { case drama, western }
    struct Address: Codable, Sendable, Equatable { var city: String; var zip: Int }
    struct Film: Entity {
      var id = RecordID<Film>()
      var title: String
      var episode: Int
      var director: String?
      var rating: Double?
      var genre: Genre
      var subgenre: Genre?
      var isSeen: Bool
      var released: Date
      var source: JSONValue
      var address: Address
      var tags: [String]
      struct Attributes: Sendable {
        var id: Attribute<Film, RecordID<Film>> { .recordID }
        var title: Attribute<Film, String> { .init(0) }
        var episode: Attribute<Film, Int> { .init(1) }
        var director: Attribute<Film, String?> { .init(2) }
        var rating: Attribute<Film, Double?> { .init(3) }
        var genre: Attribute<Film, Genre> { .init(4) }
        var subgenre: Attribute<Film, Genre?> { .init(5) }
        var isSeen: Attribute<Film, Bool> { .init(6) }
        var released: Attribute<Film, Date> { .init(7) }
        var source: Attribute<Film, JSONValue> { .init(8) }
        var address: Attribute<Film, Address> { .init(9) }
        var tags: Attribute<Film, [String]> { .init(10) }
      }
      static var attributes: Attributes { Attributes() }
      static func key(episode: Int) -> EntityKey<Film> { index(\.episode).key(episode) }
      static let schema = EntitySchema<Film>(
        "Film",
        attributes: [
          .init("title", \.title), .init("episode", \.episode), .init("director", \.director),
          .init("rating", \.rating), .init("genre", \.genre), .init("subgenre", \.subgenre),
          .init("isSeen", \.isSeen), .init("released", \.released), .init("source", \.source),
          .init("address", \.address), .init("tags", \.tags),
        ],
        unique: [[\.episode]], indexes: [[\.released]])
      func encode(into writer: inout RecordWriter) {}
      init(from reader: inout RecordReader) throws(StoreError) { fatalError() }
    }
    """#

  /// Ten conditions as they should be, behind a function that has the compiler load what it needs.
  static let tenConditions = #"""
    import EntityStore
    import Foundation
    func first() -> Query<Film> {
      Film.where {
        $0.rating > 3
        $0.genre == .drama
        $0.episode.isIn(1...3)
        !$0.isSeen
      }
    }
    func tenConditions(_ name: String?, _ day: Date) -> Query<Film> {
      Film.where {
        $0.rating > 3
        $0.genre == .drama
        $0.subgenre != nil
        if let name { $0.title == name }
        anyOf($0.rating < 9, $0.released > day, $0.isSeen)
        not($0.title.contains("x", .caseInsensitive))
        $0.episode.isIn(1...3)
        $0.source["country"] == "CH"
        $0.tags.contains("a")
        !$0.isSeen
      }
    }
    """#
}
