/// The entity of the programs that are type checked.
enum CheckedFilm {
  static let source = """
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
      var sequel: RecordID<Film>?
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
        var sequel: Attribute<Film, RecordID<Film>?> { .init(11) }
      }
      static var attributes: Attributes { Attributes() }
      static func key(episode: Int) -> EntityKey<Film> { index(\\.episode).key(episode) }
      static let schema = EntitySchema<Film>(
        "Film",
        attributes: [
          .init("title", \\.title), .init("episode", \\.episode), .init("director", \\.director), .init("rating", \\.rating),
          .init("genre", \\.genre), .init("subgenre", \\.subgenre), .init("isSeen", \\.isSeen), .init("released", \\.released), .init("source", \\.source), .init("address", \\.address), .init("tags", \\.tags),
          .toOne("sequel", \\.sequel)
        ],
        unique: [[\\.episode]], indexes: [[\\.released]])
      func encode(into writer: inout RecordWriter) {}
      init(from reader: inout RecordReader) throws(StoreError) { fatalError() }
    }
    """

  /// Ten conditions of every kind, all of them right.
  static let tenConditions = """
    func tenConditions(_ titles: [String], _ name: String?) -> Query<Film> {
      Film.where {
        $0.episode == 1
        $0.title == "a"
        $0.rating > 3
        $0.genre == .drama
        $0.episode.isIn(1...3)
        $0.title.hasPrefix("x")
        if let name { $0.director == name }
        anyOf($0.released < Date(), $0.subgenre == nil)
        $0.isSeen
        !$0.title.isIn(titles)
      }
    }
    """

  /// Calls of a store that give groups, values and totals, with further operators.
  static let summaries = [
    "groups(Film.all, by: \\.genre).count == 1",
    "groups(Film.all, by: \\.genre, .average(\\.rating)) { ($0.values ?? 0) - 2 * ($0.values ?? 1) > 10 }"
      + ".map { $0.values ?? 0 } == [1]",
    "groups(Film.all, by: \\.released[.year], .minimum(\\.episode), .maximum(\\.episode), having: { "
      + "($0.values.1 ?? 0) - ($0.values.0 ?? 0) > 10 && $0.count > 3 }).map { $0.values.0 ?? 0 } == [1]",
    "groups(Film.all, by: \\.title, .sum(\\.episode), .sum(\\.rating), .count(\\.rating))"
      + ".map { Double($0.values.0 ?? 0) + ($0.values.1 ?? 0) * 2 + Double($0.values.2) } == [3]",
    "values(Film.all, \\.episode, \\.rating)"
      + ".map { Double($0.0) * ($0.1 ?? 0) - 3 * ($0.1 ?? 1) }.max() ?? 0 > 3",
    "values(Film.all, \\.episode, \\.title, \\.rating, distinct: true).map(\\.1) == [\"a\"]",
    "aggregate(Film.all, .sum(\\.episode)) ?? 0 > 3",
    "aggregate(Film.all, .sum(\\.episode), .maximum(\\.rating)).0 ?? 0 > 3",
  ]

  /// Chains of `&&` of Swift values with one wrong type each, in code without the store.
  static let faultyChains: [String] = {
    let terms = [
      "q.a == 4", "q.b + 3 * x > 2", "(q.d ?? 0) < 3", "q.c == 4", "q.e", "q.a != q.b",
      "x - 1 == 2", "q.b / 2 == 3", "q.d != nil", "-x < q.c", "q.c * 2 - 1 == x",
    ]
    let wrong = ["q.b / 2 == \"3\"", "x == 3.5", "q.e == 1", "q.c == \"c\"", "(q.a ?? 0) > \"1\""]
    return (0..<30).map { index in
      let count = 4 + index % 5
      let chain = (0..<count).map { terms[(index * 3 + $0 * 2) % terms.count] }
      return (chain + [wrong[index % wrong.count]]).joined(separator: " && ")
    }
  }()
}
