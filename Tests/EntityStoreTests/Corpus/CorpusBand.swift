import EntityStore
import Foundation

// Further entities of kept files of version 4: relationships of both forms, derived attributes and
// a rule. The declarations must stay as they are.

struct CorpusBand: Entity, Equatable {
  var id = RecordID<CorpusBand>()
  var name: String
  private(set) var sortName = ""
  private(set) var playerCount = 0
  private(set) var songSeconds = 0
  private(set) var longest: Int?

  static let players = ToMany<CorpusBand, CorpusPlayer>()
  static let songs = ToMany<CorpusBand, CorpusSong>(inverse: \.band, onDelete: .cascade)

  init(_ name: String) { self.name = name }

  static let schema = EntitySchema<CorpusBand>(
    "Band",
    attributes: [
      .init("name", \.name), .derived("sortName", \.sortName, .canonical(\.name)),
      .derived("playerCount", \.playerCount, .count(players)),
      .derived("songSeconds", \.songSeconds, .sum(songs, \.seconds)),
      .derived("longest", \.longest, .maximum(songs, \.seconds)),
    ],
    unique: [[\.sortName]], indexes: [[\.playerCount]],
    relationships: [.init("players", players), .init("songs", songs)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    sortName = try reader.read()
    playerCount = try reader.read()
    songSeconds = try reader.read()
    longest = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

struct CorpusPlayer: Entity, Equatable {
  var id = RecordID<CorpusPlayer>()
  var name: String

  static let bands = ToMany<CorpusPlayer, CorpusBand>(inverse: CorpusBand.players)

  init(_ name: String) { self.name = name }

  static let schema = EntitySchema<CorpusPlayer>(
    "Player", attributes: [.init("name", \.name)], relationships: [.init("bands", bands)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

struct CorpusSong: Entity, Equatable {
  var id = RecordID<CorpusSong>()
  var title: String
  var seconds: Int
  var band: CorpusBand.ID?
  private(set) var bandName: String?

  init(_ title: String, _ seconds: Int, _ band: CorpusBand.ID?) {
    self.title = title
    self.seconds = seconds
    self.band = band
  }

  static let schema = EntitySchema<CorpusSong>(
    "Song",
    attributes: [
      .init("title", \.title), .init("seconds", \.seconds), .toOne("band", \.band),
      .derived("bandName", \.bandName, .copy(\.band, \.name)),
    ],
    rules: [RecordRule("a song lasts", format: "seconds > 0")])

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    seconds = try reader.read()
    band = try reader.read()
    bandName = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(seconds)
    writer.write(band)
  }
}

enum CorpusMusic {
  static let entities: [any Entity.Type] = [CorpusBand.self, CorpusPlayer.self, CorpusSong.self]

  static func make(in transaction: inout WriteTransaction) throws {
    let bands = try transaction.insert([CorpusBand("Été"), CorpusBand("Ost")]).ids
    let players = try transaction.insert(["Ann", "Bob", "Cid"].map { CorpusPlayer($0) }).ids
    try transaction.add(players, to: CorpusBand.players, of: bands[0])
    try transaction.add([players[1]], to: CorpusBand.players, of: bands[1])
    try transaction.insert([
      CorpusSong("a", 100, bands[0]), CorpusSong("b", 250, bands[0]), CorpusSong("c", 60, nil),
    ])
  }
}
