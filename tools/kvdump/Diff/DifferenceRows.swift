import EntityStore
import LodestoreFormat

/// Differences as rows: one object for each difference for programs, one row for each changed
/// attribute for people.
struct DifferenceRows {
  private let console: Console
  private let isForPrograms: Bool
  private let isByKey: Bool
  private let limit: Int
  private let columns: [Column]

  init(_ console: Console, isByKey: Bool, limit: Int?) {
    self.console = console
    self.isByKey = isByKey
    self.limit = limit ?? .max
    isForPrograms = console.format.isJSON
    columns =
      isForPrograms
      ? [
        "change", "of", "entity", "record", "oldRecord", "subject", "name", "target", "old", "new",
      ]
      : ["change", "of", "entity", "record"] + (isByKey ? ["oldRecord"] : [])
        + ["name", "old", "new"]
  }

  /// The cells of a row by column name, for rows for programs and for rows for people.
  private typealias Row = [String: Cell]

  /// Writes all rows and returns whether there are none.
  func write(_ differences: DynamicDifferences) throws -> Bool {
    let rows = console.rows(of: columns)
    var count = 0
    for difference in differences.schema where count < limit {
      try write(Self.row(difference), to: rows)
      count += 1
    }
    if count < limit {
      try differences.forEach { difference in
        switch difference {
        case .record(let record): try write(record, to: rows)
        case .link(let link): try write(Self.row(link), to: rows)
        case .bucket(let bucket): try write(Self.row(bucket), to: rows)
        }
        count += 1
        return count < limit
      }
    }
    try rows.finish()
    return count == 0
  }

  private func write(_ row: Row, to rows: any RowWriter) throws {
    var row = row
    if !isForPrograms, let target = row["target"] {
      // For people, the target of a link is shown as the new or the old value.
      if row["change"] != .text(HistoryLinks.Kind.added.rawValue) { row["old"] = target }
      if row["change"] != .text(HistoryLinks.Kind.removed.rawValue) { row["new"] = target }
    }
    try rows.write(columns.map { row[$0.name] ?? .absent })
  }

  private func write(_ record: DynamicRecordDifference, to rows: any RowWriter) throws {
    var row: Row = [
      "change": .text(record.kind.rawValue), "of": .text("record"),
      "entity": .text(record.entity), "record": .unsigned(record.id),
    ]
    if isByKey, record.oldID != record.id { row["oldRecord"] = .unsigned(record.oldID) }
    let attributes = try record.attributes()
    if isForPrograms || record.kind != .updated || attributes.isEmpty {
      row["old"] = try Self.object(attributes.map { ($0.name, $0.old) })
      row["new"] = try Self.object(attributes.map { ($0.name, $0.new) })
      if record.kind == .updated {
        if isForPrograms { row["name"] = .array(attributes.map { .text($0.name) }) }
        if !isForPrograms { row["old"] = nil }
      }
      return try write(row, to: rows)
    }
    for attribute in attributes {
      row["name"] = .text(attribute.name)
      row["old"] = try attribute.old.map { try Cell($0) }
      row["new"] = try attribute.new.map { try Cell($0) }
      try write(row, to: rows)
    }
  }

  /// The known values as an object; absent if none is known.
  private static func object(_ values: [(name: String, value: Value?)]) throws -> Cell {
    let known = try values.compactMap { name, value in
      try value.map { (name, try Cell(exactly: $0)) }
    }
    return known.isEmpty ? .absent : .object(known)
  }

  private static func row(_ difference: SchemaDifference) -> Row {
    [
      "change": .text(difference.kind.rawValue), "of": .text("schema"),
      "entity": .text(difference.entity), "subject": .text(difference.subject.rawValue),
      "name": .text(difference.name), "old": difference.old.map(Cell.text) ?? .absent,
      "new": difference.new.map(Cell.text) ?? .absent,
    ]
  }

  private static func row(_ link: LinkDifference) -> Row {
    [
      "change": .text(link.kind.rawValue), "of": .text("link"), "entity": .text(link.entity),
      "record": .unsigned(link.recordID), "name": .text(link.relationship),
      "target": .unsigned(link.targetID),
    ]
  }

  private static func row(_ bucket: BucketDifference) -> Row {
    [
      "change": .text(bucket.kind.rawValue), "of": .text("bucket"),
      "subject": .text(bucket.bucket),
      "name": String(validating: bucket.key, as: UTF8.self).map(Cell.text) ?? .bytes(bucket.key),
      "old": bucket.old.map { .bytes(Array($0)) } ?? .absent,
      "new": bucket.new.map { .bytes(Array($0)) } ?? .absent,
    ]
  }
}

/// The number of differences of each entity.
enum DifferenceCounts {
  private enum Part: Int {
    case inserted, updated, deleted, links, schema

    init(_ kind: HistoryChange.Kind) {
      switch kind {
      case .inserted: self = .inserted
      case .deleted: self = .deleted
      default: self = .updated
      }
    }
  }

  /// Writes a row for each entity with a difference, and returns whether the stores are equal.
  static func write(_ differences: DynamicDifferences, on console: Console) throws -> Bool {
    var order: [String] = []
    var counts: [String: [Int]] = [:]
    func count(_ entity: String, _ part: Part) {
      if counts[entity] == nil { order.append(entity) }
      counts[entity, default: [0, 0, 0, 0, 0]][part.rawValue] += 1
    }
    for difference in differences.schema { count(difference.entity, .schema) }
    try differences.forEach { difference in
      switch difference {
      case .record(let record): count(record.entity, Part(record.kind))
      case .link(let link): count(link.entity, .links)
      case .bucket(let bucket): count("(buckets)", Part(bucket.kind))
      }
      return true
    }
    try console.write(
      order.map { [.text($0)] + (counts[$0] ?? []).map(Cell.count) },
      of: ["entity", "inserted", "updated", "deleted", "links", "schema"])
    return order.isEmpty
  }
}
