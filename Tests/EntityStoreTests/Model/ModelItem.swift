import EntityStore

/// What the model knows of a record.
struct ModelRow: Equatable {
  var key: String
  var number: Int
  var group: String?
  var note: String?
  /// Of the second version of the entity; 7 in records that are older.
  var extra = ModelRow.initialExtra

  static let initialExtra = 7

  // As the store has it: text is the same when its bytes are. Swift's own equality takes "é" for
  // "e" with a combining accent.
  static func == (a: ModelRow, b: ModelRow) -> Bool {
    (a.number, a.extra) == (b.number, b.extra) && a.key.utf8.elementsEqual(b.key.utf8)
      && a.group.map { Array($0.utf8) } == b.group.map { Array($0.utf8) }
      && a.note.map { Array($0.utf8) } == b.note.map { Array($0.utf8) }
  }

  /// The unique keys that the row occupies: nulls do not collide.
  var uniqueKeys: [ModelKey] {
    [.key(key)] + (group.map { [.groupNumber($0, number)] } ?? [])
  }
}

enum ModelKey: Hashable {
  case key(String)
  case groupNumber(String, Int)
}

/// Two versions of one stored entity, between which the model test goes back and forth.
protocol ModelItem: Entity {
  init(_ row: ModelRow)
  var row: ModelRow { get }
  static var hasExtra: Bool { get }
  static var byKey: EntityIndex<Self, String> { get }
  static var byGroupNumber: EntityIndex<Self, String?, Int> { get }
  static var byNote: EntityIndex<Self, String?> { get }
  static var byNumber: EntityIndex<Self, Int> { get }
  /// The attributes that patches take over: note, and where it is there extra.
  static var patched: [any PartialKeyPath<Self> & Sendable] { get }
}

struct FirstItem {
  var id = RecordID<FirstItem>()
  var row: ModelRow
}

extension FirstItem: ModelItem {
  init(_ row: ModelRow) {
    self.row = row
    self.row.extra = ModelRow.initialExtra
  }

  static let hasExtra = false
  static let byKey = FirstItem.index(\.row.key)
  static let byGroupNumber = FirstItem.index(\.row.group, \.row.number)
  static let byNote = FirstItem.index(\.row.note)
  static let byNumber = FirstItem.index(\.row.number)
  static var patched: [any PartialKeyPath<FirstItem> & Sendable] { [\.row.note] }

  static let schema = EntitySchema<FirstItem>(
    "Item",
    attributes: [
      .init("key", \.row.key), .init("number", \.row.number), .init("group", \.row.group),
      .init("note", \.row.note),
    ],
    unique: [[\.row.key], [\.row.group, \.row.number]], indexes: [[\.row.number], [\.row.note]],
    removed: ["extra"])

  func encode(into writer: inout RecordWriter) {
    writer.write(row.key)
    writer.write(row.number)
    writer.write(row.group)
    writer.write(row.note)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    let key: String = try reader.read()
    let number: Int = try reader.read()
    let group: String? = try reader.read()
    row = ModelRow(key: key, number: number, group: group, note: try reader.read())
  }
}

/// Another order, another attribute, and another index.
struct SecondItem {
  var id = RecordID<SecondItem>()
  var row: ModelRow
}

extension SecondItem: ModelItem {
  init(_ row: ModelRow) { self.row = row }

  static let hasExtra = true
  static let byKey = SecondItem.index(\.row.key)
  static let byGroupNumber = SecondItem.index(\.row.group, \.row.number)
  static let byNote = SecondItem.index(\.row.note)
  static let byNumber = SecondItem.index(\.row.number)
  static var patched: [any PartialKeyPath<SecondItem> & Sendable] { [\.row.note, \.row.extra] }

  static let schema = EntitySchema<SecondItem>(
    "Item",
    attributes: [
      .init("extra", \.row.extra, initial: ModelRow.initialExtra), .init("note", \.row.note),
      .init("key", \.row.key), .init("group", \.row.group), .init("number", \.row.number),
    ],
    unique: [[\.row.key], [\.row.group, \.row.number]],
    indexes: [[\.row.number], [\.row.note], [\.row.extra, \.row.key]])

  func encode(into writer: inout RecordWriter) {
    writer.write(row.extra)
    writer.write(row.note)
    writer.write(row.key)
    writer.write(row.group)
    writer.write(row.number)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    let extra: Int = try reader.read()
    let note: String? = try reader.read()
    let key: String = try reader.read()
    let group: String? = try reader.read()
    row = ModelRow(key: key, number: try reader.read(), group: group, note: note, extra: extra)
  }
}
