import EntityStore
import LodestoreFormat

/// The second entity of the model test: small, with a number that is in no index, so that batch
/// updates change it in place.
struct ModelTag {
  var id = RecordID<ModelTag>()
  var row: TagRow
}

struct TagRow: Equatable {
  var name: String
  var count = 0
  var weight: Double?
}

extension ModelTag: Entity {
  struct Attributes: Sendable {
    var id: Attribute<ModelTag, RecordID<ModelTag>> { .recordID }
    var name: Attribute<ModelTag, String> { .init(0) }
    var count: Attribute<ModelTag, Int> { .init(1) }
    var weight: Attribute<ModelTag, Double?> { .init(2) }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<ModelTag>(
    "Tag",
    attributes: [
      .init("name", \.row.name), .init("count", \.row.count), .init("weight", \.row.weight),
    ], unique: [[\.row.name]], indexes: [[\.row.weight]])

  func encode(into writer: inout RecordWriter) {
    writer.write(row.name)
    writer.write(row.count)
    writer.write(row.weight)
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    let name: String = try reader.read()
    let count: Int = try reader.read()
    row = TagRow(name: name, count: count, weight: try reader.read())
  }
}

extension TagRow: ModelledRow {
  init(_ values: [String: Value]) {
    self.init(
      name: values.text("name") ?? "?", count: values.integer("count") ?? 0,
      weight: values.double("weight"))
  }

  func changedNames(from other: TagRow) -> Set<String> {
    var names: Set<String> = []
    if name != other.name { names.insert("name") }
    if count != other.count { names.insert("count") }
    if weight != other.weight { names.insert("weight") }
    return names
  }
}

/// The tags as a dictionary; every insert replaces the tag of its name.
struct TagModel {
  private(set) var rows: [UInt64: TagRow] = [:]
  private(set) var nextID: UInt64 = 1

  /// Replaces the tags, and returns how many were inserted, updated and unchanged.
  mutating func replace(_ incoming: [TagRow]) -> [Int] {
    var counts = [0, 0, 0]
    // Records with one name come after all other records, one by one.
    let names = Dictionary(grouping: incoming, by: \.name)
    let apart = incoming.filter { (names[$0.name]?.count ?? 0) > 1 }
    for row in incoming.filter({ names[$0.name]?.count == 1 }) + apart {
      if let id = rows.first(where: { $0.value.name == row.name })?.key {
        counts[rows[id] == row ? 2 : 1] += 1
        rows[id] = row
      } else {
        rows[nextID] = row
        nextID += 1
        counts[0] += 1
      }
    }
    return counts
  }

  mutating func update(_ body: (inout TagRow) -> Void) -> Int {
    var count = 0
    for (id, row) in rows {
      var changed = row
      body(&changed)
      if changed == row { continue }
      rows[id] = changed
      count += 1
    }
    return count
  }

  mutating func delete(where isGone: (TagRow) -> Bool) -> Int {
    let gone = rows.filter { isGone($0.value) }
    for id in gone.keys { rows[id] = nil }
    return gone.count
  }
}
