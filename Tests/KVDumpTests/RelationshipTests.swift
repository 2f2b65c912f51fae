import EntityStore
import Testing

@testable import KVDumpCommands

private struct Owner: Entity {
  var id = RecordID<Owner>()
  var name: String

  static let dogs = ToMany<Owner, Dog>(inverse: \.owner, ordered: true, onDelete: .cascade)
  static let friends = ToMany<Owner, Owner>()

  static let schema = EntitySchema<Owner>(
    "Owner", attributes: [.init("name", \.name)], unique: [[\.name]],
    relationships: [.init("dogs", dogs), .init("friends", friends)])

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

extension Owner {
  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }
}

private struct Dog: Entity {
  var id = RecordID<Dog>()
  var name: String
  var owner: RecordID<Owner>?

  static let schema = EntitySchema<Dog>(
    "Dog", attributes: [.init("name", \.name), .toOne("owner", \.owner)])

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(owner)
  }
}

extension Dog {
  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    owner = try reader.read()
  }
}

/// A kennel with a count of its open bones, which deny its delete.
private struct Kennel: Entity {
  var id = RecordID<Kennel>()
  var name: String
  private(set) var openBones = 0

  static let bones = ToMany<Kennel, Bone>(
    inverse: \.kennel, onDelete: .cascade, deniesDeleteWhere: { $0.isOpen == true })

  static let schema = EntitySchema<Kennel>(
    "Kennel",
    attributes: [
      .init("name", \.name),
      .derived("openBones", \.openBones, .count(bones) { $0.isOpen == true }),
    ], unique: [[\.name]], relationships: [.init("bones", bones)])

  init(name: String) { self.name = name }

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    openBones = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

private struct Bone: Entity {
  var id = RecordID<Bone>()
  var isOpen: Bool
  var kennel: RecordID<Kennel>?

  struct Attributes: Sendable {
    var isOpen: Attribute<Bone, Bool> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Bone>(
    "Bone", attributes: [.init("isOpen", \.isOpen), .toOne("kennel", \.kennel)])

  init(isOpen: Bool, kennel: RecordID<Kennel>?) {
    self.isOpen = isOpen
    self.kennel = kennel
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    isOpen = try reader.read()
    kennel = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(isOpen)
    writer.write(kennel)
  }
}

@Suite struct `Relationships in kvdump` {
  private func kennels() throws -> StoreFolder {
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Kennel.self, Bone.self])
    try store.write { tx in
      let kennel = try tx.insert(Kennel(name: "k"))
      try tx.insert([
        Bone(isOpen: true, kennel: kennel.id), Bone(isOpen: false, kennel: kennel.id),
      ])
    }
    store.close()
    return folder
  }

  @Test func `schema shows relationships with conditions, delete obeys and verify checks them`()
    async throws
  {
    let folder = try kennels()
    let schema = await folder.run("schema", "--format", "table", "--color", "never")
    #expect(schema.messages.contains("on delete cascade, denied where isOpen == TRUE"))
    #expect(schema.messages.contains("openBones: derived, count over bones where isOpen == TRUE"))
    let denied = await folder.run("delete", "Kennel", "name == 'k'", "--yes")
    #expect(denied.status != .success)
    #expect(denied.messages.contains("fulfils 'isOpen == TRUE'"), "\(denied.messages)")
    let verified = await folder.run("verify")
    #expect(verified.status == .success, "\(verified.data)")
    #expect(!verified.messages.contains("not checked"), "\(verified.messages)")
    let update = await folder.run("update", "Bone", "isOpen == YES", "isOpen=false", "--yes")
    #expect(update.status == .success, "\(update.messages)")
    let count = await folder.run("query", "Kennel", "--format", "jsonl")
    #expect(count.data.contains("\"openBones\":0"), "\(count.data)")
    #expect(await folder.isSound())
    let deleted = await folder.run("delete", "Kennel", "name == 'k'", "--yes")
    #expect(deleted.status == .success, "\(deleted.messages)")
  }

  private func folder() throws -> StoreFolder {
    let folder = try StoreFolder()
    let store = try Store(at: folder.store, entities: [Owner.self, Dog.self])
    try store.write { tx in
      let ann = try tx.insert(Owner(name: "Ann"))
      let bob = try tx.insert(Owner(name: "Bob"))
      try tx.insert(Dog(name: "Rex", owner: ann.id))
      let ace = try tx.insert(Dog(name: "Ace", owner: ann.id))
      try tx.move(ace.id, in: Owner.dogs, of: ann.id, to: .first)
      try tx.insert(Dog(name: "Stray", owner: nil))
      try tx.add(bob.id, to: Owner.friends, of: ann.id)
    }
    store.close()
    return folder
  }

  @Test(arguments: [
    ("Dog", "owner.name,name", "Stray Ace Rex"), ("Dog", "-owner.name,-name", "Rex Ace Stray"),
    ("Dog", "owner.friends.@count,name", "Stray Ace Rex"), ("Owner", "dogs.@count", "Bob Ann"),
    ("Owner", "-dogs.@max.name", "Ann Bob"), ("Dog", "length:(name),name", "Ace Rex Stray"),
    ("Owner", "SUBQUERY(dogs, $d, $d.name BEGINSWITH 'R').@count,-name", "Bob Ann"),
  ])
  func `query orders records by related records`(entity: String, sort: String, names: String)
    async throws
  {
    let folder = try folder()
    let outcome = await folder.run(
      "query", entity, "--sort=\(sort)", "--fields", "name", "--format", "csv")
    #expect(outcome.status == .success, "\(outcome.messages)")
    let found = outcome.data.split(whereSeparator: \.isNewline).dropFirst()
    #expect(found.joined(separator: " ") == names)
    let pages = await folder.run(
      "query", entity, "--sort=\(sort)", "--limit", "1", "--page", "--format", "jsonl")
    #expect(pages.status == .success && pages.messages.contains("\"next\":\""), "\(pages.messages)")
  }

  @Test func `query groups by related records, and refuses orders by many records`() async throws {
    let folder = try folder()
    let groups = await folder.run("count", "Dog", "--by", "owner.name", "--format", "csv")
    let rows = groups.data.split(whereSeparator: \.isNewline)
    #expect(rows == ["owner.name,count", "Ann,2", ",1"], "\(groups.messages)")
    for (sort, part) in [("dogs.name", "any number of values"), ("dogs.nam", "'nam'")] {
      let outcome = await folder.run("query", "Owner", "--sort", sort)
      #expect(outcome.status == .usage && outcome.messages.contains(part), "\(outcome.messages)")
    }
  }

  @Test func `schema shows relationships as notes and as objects`() async throws {
    let folder = try folder()
    let outcome = await folder.run("schema", "--format", "table", "--color", "never")
    #expect(outcome.messages.contains("Dog.owner: to one or none Owner, back by 'dogs'"))
    #expect(
      outcome.messages.contains(
        "Owner.dogs: to many Dog, back by 'owner', on delete cascade, in order"))
    #expect(outcome.messages.contains("Owner.friends: to many Owner, on delete nullify"))
    let objects = await folder.run("schema", "Owner", "--format", "jsonl")
    #expect(
      objects.data.contains(
        #""name":"dogs","to":"Dog","many":true,"ordered":true,"inverse":"owner""#))
  }

  @Test func `schema draws relationships`() async throws {
    let folder = try folder()
    let text = await folder.run("schema", "--diagram", "text")
    #expect(text.data.contains("  owner ──> Owner? (dogs)\n"))
    #expect(text.data.contains("  dogs ─<> Dog (owner)\n"))
    let mermaid = await folder.run("schema", "--diagram", "mermaid")
    #expect(mermaid.data.hasPrefix("erDiagram\n"))
    #expect(mermaid.data.contains("  Owner |o--o{ Dog : dogs\n"))
    let dot = await folder.run("schema", "--diagram", "dot")
    #expect(dot.data.hasPrefix("digraph model {\n") && dot.data.hasSuffix("}\n"))
    #expect(dot.data.contains("Owner -> Dog [label=\"dogs\""))
    let svg = await folder.run("schema", "--diagram", "svg")
    #expect(svg.data.hasPrefix("<svg xmlns=") && svg.data.hasSuffix("</svg>\n"))
    #expect(svg.data.contains(">friends</text>") && svg.data.contains(">name: string</text>"))
  }

  @Test func `the command get follows relationships`() async throws {
    let folder = try folder()
    let dogs = await folder.run("get", "Owner", "name=Ann", "--related", "dogs", "--fields", "name")
    #expect(dogs.data == "{\"name\":\"Ace\"}\n{\"name\":\"Rex\"}\n")
    let owner = await folder.run("get", "Dog", "name=Rex", "--related", "owner", "--fields", "name")
    #expect(owner.data == "{\"name\":\"Ann\"}\n")
    let wrong = await folder.run("get", "Owner", "name=Ann", "--related", "dog")
    #expect(wrong.messages.contains("did you mean 'dogs'") || wrong.messages.contains("dogs"))
    #expect(wrong.status == .usage)
    let field = await folder.run("query", "Dog", "--fields", "name,owner.name")
    #expect(field.status == .usage)
    #expect(
      field.messages.contains("and so does 'kvdump get' by --related"), "\(field.messages)")
  }

  @Test func `query takes conditions on relationships, and delete obeys their rules`() async throws
  {
    let folder = try folder()
    let found = await folder.run("query", "Owner", "ANY dogs.name == 'Rex'", "--fields", "name")
    #expect(found.data == "{\"name\":\"Ann\"}\n")
    let gone = await folder.run("delete", "Owner", "name == 'Ann'", "--yes")
    #expect(gone.status == .success, "\(gone.messages)")
    #expect(await folder.run("count", "Dog").data.contains("1"))
    #expect(await folder.run("verify").status == .success)
  }
}
