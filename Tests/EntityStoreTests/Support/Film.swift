import EntityStore
import Foundation

/// A film with two unique indexes, one of them over an attribute that can be null.
struct Film: Hashable {
  var id = RecordID<Film>()
  var title: String
  var episode: Int
  var code: String?
  var released: Date?
}

extension Film: Entity {
  struct Attributes: Sendable {
    let id = Attribute<Film, RecordID<Film>>.recordID
    let title = Attribute<Film, String>(0)
    let episode = Attribute<Film, Int>(1)
    let code = Attribute<Film, String?>(2)
    let released = Attribute<Film, Date?>(3)
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Film>(
    "Film",
    attributes: [
      .init("title", \.title), .init("episode", \.episode), .init("code", \.code),
      .init("released", \.released),
    ],
    unique: [[\.episode], [\.code]], indexes: [[\.title], [\.released]])

  static let byEpisode = Film.index(\.episode)
  static let byCode = Film.index(\.code)
  static let byTitle = Film.index(\.title)
  static let byReleased = Film.index(\.released)

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(episode)
    writer.write(code)
    writer.write(released)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    episode = try reader.read()
    code = try reader.read()
    released = try reader.read()
  }
}

/// A record of a page of films.
struct FilmRecord: Codable, Sendable {
  var title: String
  var episode_id: Int
  var code: String?
}
