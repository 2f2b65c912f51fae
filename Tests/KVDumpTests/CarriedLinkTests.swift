import EntityStore
import Foundation
import LodestoreBytes
import LodestoreFormat
import Testing

@testable import KVDumpCommands

/// Entities with relationships of every form: to one, many to many, and to itself.
private struct Team: Entity {
  var id = RecordID<Team>()
  var name: String

  static let players = ToMany<Team, Player>(ordered: true)

  init(_ name: String) { self.name = name }

  static let schema = EntitySchema<Team>(
    "Team", attributes: [.init("name", \.name)], unique: [[\.name]],
    relationships: [.init("players", players)])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Player: Entity {
  var id = RecordID<Player>()
  var number: Int
  var captain: Player.ID?

  static let teams = ToMany<Player, Team>(inverse: Team.players)
  static let led = ToMany<Player, Player>(inverse: \.captain)

  init(_ number: Int, captain: Player.ID? = nil) {
    self.number = number
    self.captain = captain
  }

  static let schema = EntitySchema<Player>(
    "Player", attributes: [.init("number", \.number), .toOne("captain", \.captain)],
    unique: [[\.number]], relationships: [.init("teams", teams), .init("led", led)])

  init(from reader: inout RecordReader) throws(StoreError) {
    number = try reader.read()
    captain = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(number)
    writer.write(captain)
  }
}

@Suite struct `Links carried by files` {
  private let entities: [any Entity.Type] = [Team.self, Player.self]

  /// The links of the store, as the keys of both records.
  private func links(_ path: String) throws -> [String] {
    let store = try Store(at: path, entities: entities)
    defer { store.close() }
    return try store.read { snapshot throws in
      var links: [String] = []
      for team in try snapshot.fetch(Team.all) {
        for player in try snapshot.related(Team.players, of: team.id) {
          links.append("\(team.name)>\(player.number)")
        }
      }
      for (player, captain) in try snapshot.fetch(Player.all, including: \.captain) {
        links.append("\(player.number)-\(captain.map { "\($0.number)" } ?? "none")")
      }
      return links.sorted()
    }
  }

  /// Three teams and thirty players, whose ids do not begin at 1.
  private func fill(_ path: String) throws {
    let store = try Store(at: path, entities: entities)
    try store.write { tx throws in
      // Deleted records use up ids, so that another store assigns other ids to its records.
      let gone = try tx.insert((100..<140).map { Player($0) }).ids
      try tx.delete(gone)
      let first = try tx.insert(Player(1))
      let players = try [first.id] + tx.insert((2...30).map { Player($0, captain: first.id) }).ids
      let teams = try tx.insert(["A", "B", "C"].map { Team($0) }).ids
      for (position, player) in players.enumerated() {
        try tx.add([player], to: Team.players, of: teams[position % 2])
        if position % 5 == 0 { try tx.add([player], to: Team.players, of: teams[2]) }
      }
      try tx.modify(first.id) { $0.captain = players[7] }
    }
    store.close()
  }

  @Test func `carried links survive in a store with other ids, and a second import changes none`()
    async throws
  {
    let folder = try StoreFolder()
    try fill(folder.store)
    let expected = try links(folder.store)
    let files = folder.path + "/files"
    let exported = await folder.run("export", "--all-entities", files, "--links")
    #expect(exported.status == .success, "\(exported.messages)")
    let line = try String(contentsOfFile: files + "/Player.jsonl", encoding: .utf8)
      .split(separator: "\n")[1]
    #expect(line == #"{"number":2,"captain":1}"#)

    let other = try StoreFolder()
    try Store(at: other.store, entities: entities).close()
    for (round, entity) in ["Team", "Player", "Team", "Player"].enumerated() {
      let file = "\(files)/\(entity).jsonl"
      let key = entity == "Team" ? "name" : "number"
      let outcome = await other.run("import", file, "--entity", entity, "--unique", key, "--links")
      #expect(outcome.status == .success, "\(outcome.messages) \(outcome.data)")
      // A team's links lead to players in the second file. The third run finds all of them, so it
      // updates nothing.
      if round == 3 { #expect(outcome.data.contains(#""updated":0"#), "\(outcome.data)") }
    }
    #expect(try links(other.store) == expected)
    let again = await other.run(
      "import", files + "/Team.jsonl", "--entity", "Team", "--unique", "name", "--links")
    #expect(again.data.contains(#""unchanged":3"#), "\(again.data)")
    #expect(try links(other.store) == expected)
    #expect(await other.isSound())
  }

  /// Links have no checksum, so damage to them is found only by comparing both sides.
  ///
  /// A regression test: a link that one side lacked was missing in the exported files, without a
  /// report.
  @Test(arguments: [
    ("the link from a team", "does not have the records that it leads to"),
    ("the link from a player", "its two sides have different links"),
    ("the record of a player", "which is not there"),
  ])
  func `carried links are damaged if one side lacks a link or its record`(
    lost: String, message: String
  ) async throws {
    let folder = try StoreFolder()
    try fill(folder.store)
    try FaultFile.commit(to: folder.store) { store throws in
      let from = TreeName.links(relationship: 1, side: .from)
      let to = TreeName.links(relationship: 1, side: .to)
      let first = try #require(store.pairs(from).first)
      switch lost {
      case "the link from a team": try store.remove(first.key, from)
      case "the link from a player": try store.remove(try #require(store.pairs(to).first).key, to)
      default:
        let player = first.key._withBytes { $0.bigEndianUInt64(at: first.key.count - 8) }
        _ = try store.transaction.delete(player, in: store.tree(.records(entity: 2)))
      }
    }
    let files = folder.path + "/files"
    let exported = await folder.run("export", "--all-entities", files, "--links")
    #expect(exported.status == .damagedData, "\(exported)")
    #expect(
      exported.messages.contains("relationship 'Team.players'")
        && exported.messages.contains(message), "\(exported.messages)")
    let one = await folder.run("export", "Team", folder.path + "/teams.jsonl", "--links")
    #expect(one.status == .damagedData, "\(one)")
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/teams.jsonl"))
  }

  /// A regression test: such a link was exported as null, which an import reads as no link.
  @Test func `links to a record without a key are refused`() async throws {
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Label.self, Parcel.self])
    try await store.write { tx in
      let labels = try tx.insert([Label("a"), Label(nil)]).ids
      try tx.insert([Parcel(labels[0]), Parcel(nil), Parcel(labels[1])])
    }
    store.close()
    let outcome = await folder.run("export", "Parcel", folder.path + "/parcels.jsonl", "--links")
    #expect(outcome.status != .success, "\(outcome)")
    #expect(
      outcome.messages.contains("Parcel 3") && outcome.messages.contains("Label 2 has no 'code'"),
      "\(outcome.messages)")
    let second = try Store(at: folder.store, entities: [Label.self, Parcel.self])
    try await second.modify(Label.ID(rawValue: 2)) { $0.code = "b" }
    second.close()
    let whole = await folder.run("export", "Parcel", "--links")
    #expect(whole.status == .success && whole.data.contains("b"), "\(whole)")
  }

  @Test func `an export names the links whose target entity has no key`() async throws {
    let folder = try StoreFolder()
    try Store(at: folder.store, entities: [Song.self, Tape.self]).close()
    let outcome = await folder.run("export", "Song", "--links")
    let subject = "Song.tape leads to Tape, which has no unique index over one attribute: "
    #expect(outcome.messages.contains(subject + "the file has the ids of this store"))
    let file = try folder.file("songs.json", #"[{"tape":null},{"tape":"x"}]"#)
    let read = await folder.importing([file, "--entity", "Song", "--insert-only", "--links"])
    #expect(
      read.messages.contains(subject + "'tape' of the records is the id of a record of this store"),
      "\(read.messages)")
    #expect(
      read.messages.contains("found a string; --type tape=id reads numbers in texts"),
      "\(read.messages)")
  }
}

private struct Tape: Entity {
  var id = RecordID<Tape>()
  var name: String

  static let schema = EntitySchema<Tape>("Tape", attributes: [.init("name", \.name)])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Song: Entity {
  var id = RecordID<Song>()
  var tape: Tape.ID?

  static let schema = EntitySchema<Song>("Song", attributes: [.toOne("tape", \.tape)])

  init(from reader: inout RecordReader) throws(StoreError) { tape = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(tape) }
}

/// A label, with a key that may be null.
private struct Label: Entity {
  var id = RecordID<Label>()
  var code: String?

  static let schema = EntitySchema<Label>(
    "Label", attributes: [.init("code", \.code)], unique: [[\.code]])

  init(_ code: String?) { self.code = code }

  init(from reader: inout RecordReader) throws(StoreError) { code = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(code) }
}

private struct Parcel: Entity {
  var id = RecordID<Parcel>()
  var label: Label.ID?

  static let schema = EntitySchema<Parcel>("Parcel", attributes: [.toOne("label", \.label)])

  init(_ label: Label.ID?) { self.label = label }

  init(from reader: inout RecordReader) throws(StoreError) { label = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(label) }
}
