import EntityStore

/// A record that refers to another record of its entity, and is deleted with it.
struct Ring: Equatable {
  var id = RecordID<Ring>()
  var next: Ring.ID?

  static let entities: [any Entity.Type] = [Ring.self]
}

extension Ring: Entity {
  static let schema = EntitySchema<Ring>(
    "Ring", attributes: [.toOne("next", \.next, onDelete: .cascade)])

  init(from reader: inout RecordReader) throws(StoreError) { next = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(next) }
}

struct Whole: Equatable {
  var id = RecordID<Whole>()
  var name: String

  static let parts = ToMany<Whole, Part>(inverse: \.whole, onDelete: .noAction)
}

extension Whole: Entity {
  static let schema = EntitySchema<Whole>(
    "Whole", attributes: [.init("name", \.name)], relationships: [.init("parts", parts)])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

struct Part: Equatable {
  var id = RecordID<Part>()
  var whole: Whole.ID?

  static let entities: [any Entity.Type] = [Whole.self, Part.self]
}

extension Part: Entity {
  static let schema = EntitySchema<Part>("Part", attributes: [.toOne("whole", \.whole)])

  init(from reader: inout RecordReader) throws(StoreError) { whole = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(whole) }
}

/// The delete rule would make a required reference null.
struct Strict: Equatable {
  var id = RecordID<Strict>()

  static let parts = ToMany<Strict, StrictPart>(inverse: \.whole, onDelete: .nullify)
}

extension Strict: Entity {
  static let schema = EntitySchema<Strict>(
    "Strict", attributes: [], relationships: [.init("parts", parts)])

  init(from _: inout RecordReader) throws(StoreError) {}

  func encode(into _: inout RecordWriter) {}
}

struct StrictPart: Equatable {
  var id = RecordID<StrictPart>()
  var whole: Strict.ID
}

extension StrictPart: Entity {
  static let schema = EntitySchema<StrictPart>("StrictPart", attributes: [.toOne("whole", \.whole)])

  init(from reader: inout RecordReader) throws(StoreError) { whole = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(whole) }
}

/// A record with references that have no inverse.
struct Lone: Equatable {
  var id = RecordID<Lone>()
  var optional: Whole.ID?
  var required: Whole.ID

  static let entities: [any Entity.Type] = [Lone.self, Whole.self, Part.self]
}

extension Lone: Entity {
  static let schema = EntitySchema<Lone>(
    "Lone", attributes: [.toOne("optional", \.optional), .toOne("required", \.required)])

  init(from reader: inout RecordReader) throws(StoreError) {
    optional = try reader.read()
    required = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(optional)
    writer.write(required)
  }
}

/// A reader.
///
/// The list of all loans cascades a delete, but open loans deny it.
struct Reader: Equatable {
  var id = RecordID<Reader>()
  var name: String

  static let entities: [any Entity.Type] = [Reader.self, Lent.self]
  static let loans = ToMany<Reader, Lent>(inverse: \.reader, onDelete: .cascade)
  static let open = ToMany<Reader, Lent>(onDelete: .deny)
}

extension Reader: Entity {
  static let schema = EntitySchema<Reader>(
    "Reader", attributes: [.init("name", \.name)],
    relationships: [.init("loans", loans), .init("open", open)])

  init(from reader: inout RecordReader) throws(StoreError) { name = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

struct Lent: Equatable {
  var id = RecordID<Lent>()
  var reader: Reader.ID?

  /// Links to earlier records of the same entity, which deny the delete of a linked record.
  static let before = ToMany<Lent, Lent>(onDelete: .deny)
}

extension Lent: Entity {
  static let schema = EntitySchema<Lent>(
    "Lent", attributes: [.toOne("reader", \.reader)], relationships: [.init("before", before)])

  init(from reader: inout RecordReader) throws(StoreError) { self.reader = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(reader) }
}
