import EntityStore
import LodestoreFormat

/// The model's copy of a record.
struct ModelRow: Equatable, Codable, Sendable {
  var key: String
  var number: Int
  var group: String?
  var note: String?
  /// An attribute that only some versions of the entity declare; records older than the attribute
  /// have 7.
  var extra = ModelRow.initialExtra

  static let initialExtra = 7

  // Compares as the store does: two texts are equal if their bytes are equal.
  //
  // Swift's own equality equates "é" with "e" and a combining accent.
  static func == (a: ModelRow, b: ModelRow) -> Bool { a.changedNames(from: b).isEmpty }

  /// The unique keys of the row.
  ///
  /// A key with null is left out, because nulls do not collide.
  var uniqueKeys: [ModelKey] {
    [.key(key)] + (group.map { [.groupNumber($0, number)] } ?? [])
  }
}

enum ModelKey: Hashable {
  case key(String)
  case groupNumber(String, Int)
}

/// A row of a model, in the form that can be compared with the changes of sinks.
protocol ModelledRow: Equatable {
  /// Makes a row of a record's values by the names of attributes.
  init(_ values: [String: Value])

  /// The names of the attributes whose values differ in the two rows.
  func changedNames(from other: Self) -> Set<String>
}

extension ModelRow: ModelledRow {
  init(_ values: [String: Value]) {
    self.init(
      key: values.text("key") ?? "?", number: values.integer("number") ?? 0,
      group: values.text("group"), note: values.text("note"),
      extra: values.integer("extra") ?? ModelRow.initialExtra)
  }

  func changedNames(from other: ModelRow) -> Set<String> {
    var names: Set<String> = []
    if !hasSameBytes(key, other.key) { names.insert("key") }
    if number != other.number { names.insert("number") }
    if !hasSameBytes(group, other.group) { names.insert("group") }
    if !hasSameBytes(note, other.note) { names.insert("note") }
    if extra != other.extra { names.insert("extra") }
    return names
  }
}

func hasSameBytes(_ a: String?, _ b: String?) -> Bool {
  guard let a, let b else { return a == nil && b == nil }
  return a.utf8.elementsEqual(b.utf8)
}

extension [String: Value] {
  func text(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }

  func integer(_ name: String) -> Int? {
    if case .integer(let number)? = self[name] { Int(number) } else { nil }
  }

  func double(_ name: String) -> Double? {
    if case .double(let number)? = self[name] { number } else { nil }
  }
}
