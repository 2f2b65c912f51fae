import EntityStore
import LodestoreEssentials
import LodestoreJSON
import Testing

@testable import KVDumpCommands
@testable import LodestoreInspector

// Whole Foundation: the removal of a folder is not in FoundationEssentials.
import Foundation

/// A team whose members stay without it, and whose projects do not.
struct Team: Entity {
  var id = RecordID<Team>()
  var name: String
  var seats: Int
  var motto: String?

  static let members = ToMany<Team, Member>(inverse: \.team, onDelete: .nullify)
  static let projects = ToMany<Team, Project>(inverse: \.team, onDelete: .cascade)

  static let schema = EntitySchema<Team>(
    "Team",
    attributes: [
      .init("name", \.name, constraints: [.length(1...20)]),
      .init("seats", \.seats, constraints: [.range(0...)]), .init("motto", \.motto),
    ], unique: [[\.name]],
    relationships: [.init("members", members), .init("projects", projects)],
    history: .kept(images: true))

  init(_ name: String, seats: Int, motto: String? = nil) {
    self.name = name
    self.seats = seats
    self.motto = motto
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    seats = try reader.read()
    motto = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(seats)
    writer.write(motto)
  }
}

struct Member: Entity {
  var id = RecordID<Member>()
  var name: String
  var team: RecordID<Team>?

  static let helps = ToMany<Member, Project>(inverse: Project.helpers)

  static let schema = EntitySchema<Member>(
    "Member", attributes: [.init("name", \.name), .toOne("team", \.team)],
    relationships: [.init("helps", helps)],
    history: .kept(images: true))

  init(_ name: String, team: RecordID<Team>?) {
    self.name = name
    self.team = team
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    team = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(team)
  }
}

struct Project: Entity {
  var id = RecordID<Project>()
  var title: String
  var team: RecordID<Team>

  static let helpers = ToMany<Project, Member>(ordered: true)

  static let schema = EntitySchema<Project>(
    "Project", attributes: [.init("title", \.title), .toOne("team", \.team)],
    relationships: [.init("helpers", helpers)],
    history: .kept(images: true))

  init(_ title: String, team: RecordID<Team>) {
    self.title = title
    self.team = team
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    title = try reader.read()
    team = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(title)
    writer.write(team)
  }
}

/// A store of two teams, and its pages with changes.
final class Teams {
  let store: Store
  let responder: Responder
  private let folder: String

  init() async throws {
    folder = FileManager.default.temporaryDirectory.path + "/inspector-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    store = try Store(
      at: folder + "/teams.lodestore", entities: [Team.self, Member.self, Project.self])
    try await store.write(author: "test") { tx in
      let red = try tx.insert(Team("Red", seats: 4, motto: "Go")).id
      _ = try tx.insert(Team("Blue", seats: 9))
      for name in ["Ada", "Bob", "Cyd"] { _ = try tx.insert(Member(name, team: red)) }
      for title in ["Tower", "Bridge"] { _ = try tx.insert(Project(title, team: red)) }
    }
    responder = Responder(
      maker: PageMaker(store: DynamicStore(store), path: store.path), allowsWrites: true)
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Expects no finding of `kvdump verify`.
  func verify() async {
    let errors = MemorySink()
    let status = await KVDump.execute(
      ["verify", store.path], on: Console(output: MemorySink(), errors: errors))
    #expect(status == .success, "\(errors.text)")
  }

  private func text(
    _ address: String, _ request: Request?, _ status: Int, _ location: SourceLocation
  ) throws -> String {
    let parsed = try #require(Address(address), sourceLocation: location)
    let response = responder.respond(to: parsed, request)
    let text = String(decoding: response.body.bytes, as: UTF8.self)
    #expect(
      response.status == status, "\(address): \(text.suffix(900))", sourceLocation: location)
    return text
  }

  func get(
    _ address: String, _ status: Int = 200, location: SourceLocation = #_sourceLocation
  ) throws -> String {
    try text(address, nil, status, location)
  }

  /// Sends a form, and returns the page.
  func post(
    _ address: String, _ items: [(String, String)] = [], _ status: Int = 200,
    location: SourceLocation = #_sourceLocation
  ) throws -> String {
    var request = Request(address, method: "POST")
    request.contentType = "application/x-www-form-urlencoded"
    request.body = Array(
      items.map { name, value in
        PercentText.encoded(name, keeping: []) + "=" + PercentText.encoded(value, keeping: [])
      }.joined(separator: "&").utf8)
    return try text(address, request, status, location)
  }

  /// Sends an object, and returns the page as JSON.
  func json(
    _ address: String, _ body: String = "{}", _ status: Int = 200,
    location: SourceLocation = #_sourceLocation
  ) throws -> JSONNode {
    var request = Request(address, method: "POST")
    request.contentType = "application/json"
    request.body = Array(body.utf8)
    return try JSONDocument.parsing(try text(address, request, status, location).utf8).root
  }

  /// Sends a change as JSON, and answers its question.
  func change(
    _ address: String, _ body: String = "{}", _ status: Int = 200,
    location: SourceLocation = #_sourceLocation
  ) throws -> JSONNode {
    let question = try json(address, body, location: location)
    let token = try #require(question["answer"]?["token"]?.string, sourceLocation: location)
    return try json("/-/change.json", "{\"token\":\"\(token)\"}", status, location: location)
  }
}
