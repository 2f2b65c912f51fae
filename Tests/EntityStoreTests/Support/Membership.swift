import EntityStore

/// A record that names others: of another entity, required and optional, and of its own.
struct Membership: Equatable {
  var id = RecordID<Membership>()
  var film: RecordID<Film>
  var pod: Pod.ID?
  var parent: Membership.ID?
  var role = ""
}

extension Membership: Entity {
  static let byFilm = Membership.index(\.film)
  static let byPod = Membership.index(\.pod)
  static let byBoth = Membership.index(\.film, \.role)

  struct Attributes: Sendable {
    let id = Attribute<Membership, RecordID<Membership>>.recordID
    let film = Attribute<Membership, RecordID<Film>>(0)
    let pod = Attribute<Membership, Pod.ID?>(1)
    let parent = Attribute<Membership, Membership.ID?>(2)
    let role = Attribute<Membership, String>(3)
  }

  static var attributes: Attributes { Attributes() }

  // The default of a property, as `@Entity` passes it on, is no initial value.
  static let schema = EntitySchema<Membership>(
    "Membership",
    attributes: [
      .init("film", \.film, initial: RecordID<Film>()), .init("pod", \.pod),
      .init("parent", \.parent), .init("role", \.role),
    ],
    unique: [[\.film, \.role]], indexes: [[\.film], [\.pod], [\.parent, \.film]])

  func encode(into writer: inout RecordWriter) {
    writer.write(film)
    writer.write(pod)
    writer.write(parent)
    writer.write(role)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    film = try reader.read()
    pod = try reader.read()
    parent = try reader.read()
    role = try reader.read()
  }
}
