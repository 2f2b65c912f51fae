import EntityStore

// One stored entity, "Player", as programs declare it that know all of it or a part.

struct Player: Equatable {
  var id = RecordID<Player>()
  var name: String
  var score = 0
  var note: String?
  var level: UInt8? = 3
}

extension Player: Entity {
  static let byScore = Player.index(\.score)
  struct Attributes: Sendable {
    var id: Attribute<Player, RecordID<Player>> { .recordID }
    var name: Attribute<Player, String> { .init(0) }
    var score: Attribute<Player, Int> { .init(1) }
    var note: Attribute<Player, String?> { .init(2) }
    var level: Attribute<Player, UInt8?> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Player>(
    "Player",
    attributes: [
      .init("name", \.name), .init("score", \.score, initial: 0), .init("note", \.note),
      .init("level", \.level),
    ], unique: [[\.name]], indexes: [[\.score], [\.level, \.name]])
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(score)
    writer.write(note)
    writer.write(level)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    score = try reader.read()
    note = try reader.read()
    level = try reader.read()
  }
}

/// The first attribute alone.
struct PlayerName: Equatable {
  var id = RecordID<PlayerName>()
  var name: String
}

extension PlayerName: Entity {
  struct Attributes: Sendable {
    var id: Attribute<PlayerName, RecordID<PlayerName>> { .recordID }
    var name: Attribute<PlayerName, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PlayerName>(
    "Player", attributes: [.init("name", \.name)], unique: [[\.name]])
  func encode(into writer: inout RecordWriter) { writer.write(name) }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

/// Two attributes that are not adjacent, in another order, with a single index.
struct PlayerCard: Equatable {
  var id = RecordID<PlayerCard>()
  var note: String?
  var name: String
}

extension PlayerCard: Entity {
  struct Attributes: Sendable {
    var id: Attribute<PlayerCard, RecordID<PlayerCard>> { .recordID }
    var note: Attribute<PlayerCard, String?> { .init(0) }
    var name: Attribute<PlayerCard, String> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PlayerCard>(
    "Player", attributes: [.init("note", \.note), .init("name", \.name)], unique: [[\.name]])
  func encode(into writer: inout RecordWriter) {
    writer.write(note)
    writer.write(name)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    note = try reader.read()
    name = try reader.read()
  }
}

/// A declaration in which `score` is called `points`, without a declared renaming.
struct PlayerPoints: Equatable {
  var id = RecordID<PlayerPoints>()
  var name: String
  var points = 7
}

extension PlayerPoints: Entity {
  struct Attributes: Sendable {
    var id: Attribute<PlayerPoints, RecordID<PlayerPoints>> { .recordID }
    var name: Attribute<PlayerPoints, String> { .init(0) }
    var points: Attribute<PlayerPoints, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<PlayerPoints>(
    "Player", attributes: [.init("name", \.name), .init("points", \.points, initial: 7)],
    unique: [[\.name]])
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(points)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    points = try reader.read()
  }
}

/// A declaration with all attributes of ``Player`` and a required rank without a default.
struct RankedPlayer: Equatable {
  var id = RecordID<RankedPlayer>()
  var name: String
  var rank: Int
}

extension RankedPlayer: Entity {
  struct Attributes: Sendable {
    var id: Attribute<RankedPlayer, RecordID<RankedPlayer>> { .recordID }
    var name: Attribute<RankedPlayer, String> { .init(0) }
    var rank: Attribute<RankedPlayer, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<RankedPlayer>(
    "Player", attributes: [.init("name", \.name), .init("rank", \.rank)], unique: [[\.name]],
    indexes: [[\.rank]])
  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(rank)
  }
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    rank = try reader.read()
  }
}

/// A declaration of the attributes that a program removes.
protocol Removal: Sendable {
  static var names: [String] { get }
}

struct RemovingPlayer<Gone: Removal>: Entity {
  var id = RecordID<RemovingPlayer>()
  var name: String

  struct Attributes: Sendable {
    var id: Attribute<RemovingPlayer, RecordID<RemovingPlayer>> { .recordID }
    var name: Attribute<RemovingPlayer, String> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<RemovingPlayer> {
    EntitySchema(
      "Player", attributes: [.init("name", \.name)], unique: [[\.name]], removed: Gone.names)
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}
