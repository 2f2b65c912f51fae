import EntityStore

/// A film, identified by its episode.
///
/// The conformance is written by hand, so that the macro need not be built.
struct Film: Entity {
  var id = RecordID<Film>()
  var title: String
  var episode: Int
  var director: String
  var releasedAt: Date

  struct Attributes: Sendable {
    var id: Attribute<Film, RecordID<Film>> { .recordID }
    var title: Attribute<Film, String> { .init(0) }
    var episode: Attribute<Film, Int> { .init(1) }
    var director: Attribute<Film, String> { .init(2) }
    var releasedAt: Attribute<Film, Date> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Film>(
    "Film",
    attributes: [
      .init("title", \.title), .init("episode", \.episode), .init("director", \.director),
      .init("releasedAt", \.releasedAt),
    ],
    unique: [[\.episode]], indexes: [[\.releasedAt]])

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(episode)
    writer.write(director)
    writer.write(releasedAt)
  }
}

extension Film {
  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    episode = try reader.read()
    director = try reader.read()
    releasedAt = try reader.read()
  }
}

extension Film {
  init(_ film: FilmRecord) {
    self.init(
      title: film.title, episode: film.episode_id, director: film.director,
      releasedAt: film.release_date)
  }
}

/// A film as the service sends it, under the service's names.
struct FilmRecord: Decodable {
  var title: String
  var episode_id: Int
  var director: String
  var release_date: Date
}
