import EntityStore

/// Squads and their players, with links that an attribute holds and links of their own.
///
/// A unique key and a rule can refuse the links that the attribute holds. Players keep images,
/// squads keep no history.
struct Squad: Equatable {
  var id = RecordID<Squad>()
  var name: String
  private(set) var size = 0

  static let players = ToMany<Squad, SquadPlayer>(inverse: \.squad)
  static let fans = ToMany<Squad, SquadPlayer>()

  static func == (a: Squad, b: Squad) -> Bool { (a.id, a.name) == (b.id, b.name) }
}

struct SquadPlayer: Equatable {
  var id = RecordID<SquadPlayer>()
  var name: String
  var squad: Squad.ID?
  /// The number on the player's back; 0 for none.
  var number = 0
  private(set) var squadName: String?

  static let numberRule = "a number is of a squad"

  static func == (a: SquadPlayer, b: SquadPlayer) -> Bool {
    (a.id, a.name, a.squad, a.number) == (b.id, b.name, b.squad, b.number)
  }
}

extension Squad: Entity {
  struct Attributes: Sendable {
    var id: Attribute<Squad, Squad.ID> { .recordID }
    var name: Attribute<Squad, String> { .init(0) }
    var size: Attribute<Squad, Int> {
      get { .init(1) }
      set {}
    }
    var players: ToMany<Squad, SquadPlayer> { Squad.players }
    var fans: ToMany<Squad, SquadPlayer> { Squad.fans }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Squad>(
    "Squad",
    attributes: [.init("name", \.name), .derived("size", \.size, .count(players))],
    unique: [[\.name]], relationships: [.init("players", players), .init("fans", fans)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    size = try reader.read()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension SquadPlayer: Entity {
  struct Attributes: Sendable {
    var id: Attribute<SquadPlayer, SquadPlayer.ID> { .recordID }
    var name: Attribute<SquadPlayer, String> { .init(0) }
    var squad: Attribute<SquadPlayer, Squad.ID?> { .init(1) }
    var number: Attribute<SquadPlayer, Int> { .init(2) }
    var squadName: Attribute<SquadPlayer, String?> {
      get { .init(3) }
      set {}
    }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<SquadPlayer>(
    "SquadPlayer",
    attributes: [
      .init("name", \.name), .toOne("squad", \.squad), .init("number", \.number),
      .derived("squadName", \.squadName, .copy(\.squad, \.name)),
    ],
    unique: [[\.name], [\.squad, \.number]],
    rules: [RecordRule(numberRule) { anyOf($0.number == 0, $0.squad != nil) }],
    history: .kept(images: true))

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    squad = try reader.read()
    number = try reader.read()
    squadName = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(squad)
    writer.write(number)
  }
}
