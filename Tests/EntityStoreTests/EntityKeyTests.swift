import Testing

@testable import EntityStore

@Suite struct `Keys of records` {
  @Test(arguments: [0, 1, 30, 59, 60, 61, 62, 63, 64, 65, 128, 470, 479, 480, 5000])
  func `a key of any length leads to its record`(count: Int) throws {
    try withTemporaryStore([Cell.self]) { store in
      let text = String(repeating: "é", count: count / 2) + (count.isMultiple(of: 2) ? "" : "x")
      try store.write { transaction in
        try transaction.insert(Cell(sheet: text + "z", row: 7))
        try transaction.insert(Cell(sheet: text, row: 8))
        try transaction.insert(Cell(sheet: text, row: 7, note: "found"))
        // The key is looked up in a transaction and in a snapshot.
        #expect(try transaction.fetch(Cell.bySheet.key(text, 7))?.note == "found")
      }
      #expect(try store.fetch(Cell.key(sheet: text, row: 7))?.note == "found")
      #expect(
        try store.read { try $0.fetch(Cell.bySheet, keys: [(text, 7), (text, 9)]) }[0]?.row == 7)
      #expect(try !store.read { try $0.exists(Cell.key(sheet: text, row: 9)) })
    }
  }

  @Test func `a key may have more values than there is room for`() throws {
    try withTemporaryStore([Cell.self]) { store in
      try store.insert((0..<9).map { Cell(sheet: "a", row: $0, column: $0 / 3, layer: $0 % 3) })
      let index = Cell.index(\.sheet, \.column, \.layer, \.row, \.note, \.id)
      _ = try storeError(.unknownIndex) {
        try store.fetch(index.key("a", 0, 0, 0, "", RecordID(rawValue: 1)))
      }
      for row in 0..<9 {
        let key = Cell.whole.key("a", row / 3, row % 3, row, "")
        #expect(try store.fetch(key)?.row == row)
        #expect(try store.fetch(Cell.whole.key("a", row / 3, row % 3, row, "b")) == nil)
      }
    }
  }

  @Test func `a key with null leads to the first of its records`() throws {
    try withTemporaryStore([Cell.self]) { store in
      try store.write { transaction in
        for row in [2, 1] {
          try transaction.insert(Cell(sheet: "a", row: row, layer: nil, note: "null"))
          try transaction.insert(Cell(sheet: "b", row: row, layer: row, note: "null"))
        }
      }
      #expect(try store.fetch(Cell.byLayer.key(nil, "null"))?.row == 2)
      #expect(try store.fetch(Cell.byLayer.key(1, "null"))?.sheet == "b")
      #expect(try store.fetch(Cell.byLayer.key(3, "null")) == nil)
    }
  }

  @Test(arguments: [4, 255, 65_534, 65_535, 65_536, 1 << 40])
  func `an attribute outside of the schema is in no index`(ordinal: Int) throws {
    try withTemporaryStore([Cell.self]) { store in
      try store.insert(Cell(sheet: "a", row: 1))
      let key = EntityKey<Cell>(_of: Cell.attributes.sheet, "a")._and(Attribute(ordinal), 1)
      _ = try storeError(.unknownIndex) { try store.fetch(key) }
    }
  }
}

/// A record with long keys, and with a key of many attributes.
private struct Cell {
  var id = RecordID<Cell>()
  var sheet: String
  var row: Int
  var column = 0
  var layer: Int? = 0
  var note = ""
}

extension Cell: Entity {
  static let bySheet = Cell.index(\.sheet, \.row)
  static let byLayer = Cell.index(\.layer, \.note)
  static let whole = Cell.index(\.sheet, \.column, \.layer, \.row, \.note)

  /// This function has the form that `@Entity` generates.
  static func key(sheet: String, row: Int) -> EntityKey<Cell> {
    EntityKey(_of: attributes.sheet, sheet)
      ._and(attributes.row, row)
  }

  struct Attributes: Sendable {
    var id: Attribute<Cell, RecordID<Cell>> { .recordID }
    var sheet: Attribute<Cell, String> { .init(0) }
    var row: Attribute<Cell, Int> { .init(1) }
    var column: Attribute<Cell, Int> { .init(2) }
    var layer: Attribute<Cell, Int?> { .init(3) }
    var note: Attribute<Cell, String> { .init(4) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<Cell>(
    "Cell",
    attributes: [
      .init("sheet", \.sheet), .init("row", \.row), .init("column", \.column),
      .init("layer", \.layer), .init("note", \.note),
    ],
    unique: [[\.sheet, \.row], [\.sheet, \.column, \.layer, \.row, \.note]],
    indexes: [[\.layer, \.note]])

  func encode(into writer: inout RecordWriter) {
    writer.write(sheet)
    writer.write(row)
    writer.write(column)
    writer.write(layer)
    writer.write(note)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    sheet = try reader.read()
    row = try reader.read()
    column = try reader.read()
    layer = try reader.read()
    note = try reader.read()
  }
}
