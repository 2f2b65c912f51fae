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
    let id = Attribute<Player, RecordID<Player>>.recordID
    let name = Attribute<Player, String>(0)
    let score = Attribute<Player, Int>(1)
    let note = Attribute<Player, String?>(2)
    let level = Attribute<Player, UInt8?>(3)
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
    let id = Attribute<PlayerName, RecordID<PlayerName>>.recordID
    let name = Attribute<PlayerName, String>(0)
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
    let id = Attribute<PlayerCard, RecordID<PlayerCard>>.recordID
    let note = Attribute<PlayerCard, String?>(0)
    let name = Attribute<PlayerCard, String>(1)
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

/// `score` has become `points`, without a declared renaming.
struct PlayerPoints: Equatable {
  var id = RecordID<PlayerPoints>()
  var name: String
  var points = 7
}

extension PlayerPoints: Entity {
  struct Attributes: Sendable {
    let id = Attribute<PlayerPoints, RecordID<PlayerPoints>>.recordID
    let name = Attribute<PlayerPoints, String>(0)
    let points = Attribute<PlayerPoints, Int>(1)
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

/// All that ``Player`` has, with a rank that must be given.
struct RankedPlayer: Equatable {
  var id = RecordID<RankedPlayer>()
  var name: String
  var rank: Int
}

extension RankedPlayer: Entity {
  struct Attributes: Sendable {
    let id = Attribute<RankedPlayer, RecordID<RankedPlayer>>.recordID
    let name = Attribute<RankedPlayer, String>(0)
    let rank = Attribute<RankedPlayer, Int>(1)
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

/// Declares what is to be removed.
protocol Removal: Sendable {
  static var names: [String] { get }
}

struct RemovingPlayer<Gone: Removal>: Entity {
  var id = RecordID<RemovingPlayer>()
  var name: String

  struct Attributes: Sendable {
    let id = Attribute<RemovingPlayer, RecordID<RemovingPlayer>>.recordID
    let name = Attribute<RemovingPlayer, String>(0)
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<RemovingPlayer> {
    EntitySchema(
      "Player", attributes: [.init("name", \.name)], unique: [[\.name]], removed: Gone.names)
  }
  func encode(into writer: inout RecordWriter) { writer.write(name) }
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}
