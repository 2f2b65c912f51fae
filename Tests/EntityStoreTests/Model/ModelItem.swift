import EntityStore

/// One stored entity in versions between which the model test goes back and forth.
struct ModelItem<Version: ModelVersion> {
  var id = RecordID<ModelItem>()
  var row: ModelRow

  init(_ row: ModelRow) {
    self.row = row
    if !Version.hasExtra { self.row.extra = ModelRow.initialExtra }
  }
}

protocol ModelVersion: Sendable {
  static var schema: EntitySchema<ModelItem<Self>> { get }
  static var hasExtra: Bool { get }
  /// Whether the version writes its values in another order than the attributes of the row.
  static var isReordered: Bool { get }
}

extension ModelVersion {
  static var isReordered: Bool { false }
}

extension ModelItem: Entity {
  struct Attributes: Sendable {
    var id: Attribute<ModelItem, RecordID<ModelItem>> { .recordID }
    let key = Attribute<ModelItem, String>(Version.isReordered ? 2 : 0)
    let number = Attribute<ModelItem, Int>(Version.isReordered ? 4 : 1)
    let group = Attribute<ModelItem, String?>(Version.isReordered ? 3 : 2)
    let note = Attribute<ModelItem, String?>(Version.isReordered ? 1 : 3)
    /// Only versions with this attribute use the property.
    var extra: Attribute<ModelItem, Int> { .init(0) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<ModelItem> { Version.schema }

  func encode(into writer: inout RecordWriter) {
    if Version.isReordered {
      writer.write(row.extra)
      writer.write(row.note)
      writer.write(row.key)
      writer.write(row.group)
      writer.write(row.number)
    } else {
      writer.write(row.key)
      writer.write(row.number)
      writer.write(row.group)
      writer.write(row.note)
    }
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    if Version.isReordered {
      let extra: Int = try reader.read()
      let note: String? = try reader.read()
      let key: String = try reader.read()
      let group: String? = try reader.read()
      row = ModelRow(key: key, number: try reader.read(), group: group, note: note, extra: extra)
    } else {
      let key: String = try reader.read()
      let number: Int = try reader.read()
      let group: String? = try reader.read()
      row = ModelRow(key: key, number: number, group: group, note: try reader.read())
    }
  }
}

extension ModelItem {
  static var byKey: EntityIndex<ModelItem, String> { index(\.key) }
  static var byGroupNumber: EntityIndex<ModelItem, String?, Int> {
    index(\.group, \.number)
  }
  static var byNote: EntityIndex<ModelItem, String?> { index(\.note) }
  static var byNumber: EntityIndex<ModelItem, Int> { index(\.number) }

  static func isNumbered(_ range: ClosedRange<Int>) -> Query<ModelItem> {
    self.where {
      $0.number >= range.lowerBound
      $0.number <= range.upperBound
    }
  }

  /// The attributes that the merge policy `patch` takes from an incoming row.
  static var patched: [any PartialKeyPath<ModelItem> & Sendable] {
    Version.hasExtra ? [\.row.note, \.row.extra] : [\.row.note]
  }

  static func update(_ change: ModelChange, _ updates: inout AttributeUpdates<ModelItem>) {
    switch change {
    case .number(let number): updates.number = number
    case .numberPlus(let amount): updates.number.add(amount)
    case .numberTimesPlus(let factor, let amount):
      updates.set(\.number, format: "number * %@ + %@", factor, amount)
    case .note(let note): updates.note = note
    case .group(let group): updates.group = group
    case .extra(let extra): updates.extra = extra
    }
  }
}

/// The change that a batch update makes in each row.
enum ModelChange {
  case number(Int), numberPlus(Int), numberTimesPlus(Int, Int)
  case note(String?), group(String?), extra(Int)

  func apply(to row: inout ModelRow) {
    switch self {
    case .number(let number): row.number = number
    case .numberPlus(let amount): row.number += amount
    case .numberTimesPlus(let factor, let amount): row.number = row.number * factor + amount
    case .note(let note): row.note = note
    case .group(let group): row.group = group
    case .extra(let extra): row.extra = extra
    }
  }
}

/// The first version; its undeclared attributes are removed from the file.
enum FirstVersion: ModelVersion {
  static let hasExtra = false
  static let schema = EntitySchema<ModelItem<FirstVersion>>(
    "Item",
    attributes: [
      .init("key", \.row.key), .init("number", \.row.number), .init("group", \.row.group),
      .init("note", \.row.note),
    ],
    unique: [[\.row.key], [\.row.group, \.row.number]], indexes: [[\.row.number], [\.row.note]],
    removed: ["extra"])
}

/// The version with another order of the attributes, another attribute, and another index.
enum SecondVersion: ModelVersion {
  static let hasExtra = true
  static let isReordered = true
  static let schema = EntitySchema<ModelItem<SecondVersion>>(
    "Item",
    attributes: [
      .init("extra", \.row.extra, initial: ModelRow.initialExtra), .init("note", \.row.note),
      .init("key", \.row.key), .init("group", \.row.group), .init("number", \.row.number),
    ],
    unique: [[\.row.key], [\.row.group, \.row.number]],
    indexes: [[\.row.number], [\.row.note], [\.row.extra, \.row.key]])
}

/// Declares a part of the second version, whose other attribute keeps its values.
enum PartVersion: ModelVersion {
  static let hasExtra = false
  static let schema = EntitySchema<ModelItem<PartVersion>>(
    "Item",
    attributes: [
      .init("key", \.row.key), .init("number", \.row.number), .init("group", \.row.group),
      .init("note", \.row.note),
    ],
    unique: [[\.row.key], [\.row.group, \.row.number]], indexes: [[\.row.number], [\.row.note]])
}
