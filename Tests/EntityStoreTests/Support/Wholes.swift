import EntityStore

/// Leads to another one of its kind, which is deleted with it.
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

/// Would make null what is required.
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

/// Leads to records that do not know of it.
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
