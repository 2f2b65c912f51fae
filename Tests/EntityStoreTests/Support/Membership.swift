import EntityStore

/// A record that holds ids of other records: required and optional ones, of other entities and of
/// its own.
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
    var id: Attribute<Membership, RecordID<Membership>> { .recordID }
    var film: Attribute<Membership, RecordID<Film>> { .init(0) }
    var pod: Attribute<Membership, Pod.ID?> { .init(1) }
    var parent: Attribute<Membership, Membership.ID?> { .init(2) }
    var role: Attribute<Membership, String> { .init(3) }
  }

  static var attributes: Attributes { Attributes() }

  // `@Entity` passes a property's default in this form. An unassigned id does not count as an
  // initial value.
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
