import EntityStore
import LodestoreFormat

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Differences as rows: an object for each for programs, a row for each changed attribute for
/// people.
struct DifferenceRows {
  private let console: Console
  private let isForPrograms: Bool
  private let isByKey: Bool
  private let limit: Int

  init(_ console: Console, isByKey: Bool, limit: Int?) {
    self.console = console
    self.isByKey = isByKey
    self.limit = limit ?? .max
    isForPrograms = console.format.isJSON
  }

  private var columns: [Column] {
    if isForPrograms {
      return [
        "change", "of", "entity", "record", "oldRecord", "subject", "name", "target", "old", "new",
      ]
    }
    return ["change", "of", "entity", "record"] + (isByKey ? ["oldRecord"] : [])
      + ["name", "old", "new"]
  }

  /// Writes all rows; returns whether there are none.
  func write(_ differences: DynamicDifferences) throws -> Bool {
    let rows = console.rows(of: columns)
    var count = 0
    for difference in differences.schema where count < limit {
      try write(Row(difference), to: rows)
      count += 1
    }
    if count < limit {
      try differences.forEach { difference in
        switch difference {
        case .record(let record): try write(record, to: rows)
        case .link(let link): try write(Row(link), to: rows)
        case .bucket(let bucket): try write(Row(bucket), to: rows)
        }
        count += 1
        return count < limit
      }
    }
    try rows.finish()
    return count == 0
  }

  /// One row, with the cells of both forms.
  fileprivate struct Row {
    var change: String
    var of: String
    var entity = Cell.absent
    var record = Cell.absent
    var oldRecord = Cell.absent
    var subject = Cell.absent
    var name = Cell.absent
    var target = Cell.absent
    var old = Cell.absent
    var new = Cell.absent
  }

  private func write(_ row: Row, to rows: any RowWriter) throws {
    let start = [.text(row.change), .text(row.of), row.entity, row.record]
    if isForPrograms {
      return try rows.write(
        start + [row.oldRecord, row.subject, row.name, row.target, row.old, row.new])
    }
    // People see the target of a link as the new or the old value.
    var (old, new) = (row.old, row.new)
    if row.target != .absent {
      if row.change != HistoryLinks.Kind.added.rawValue { old = row.target }
      if row.change != HistoryLinks.Kind.removed.rawValue { new = row.target }
    }
    try rows.write(start + (isByKey ? [row.oldRecord] : []) + [row.name, old, new])
  }

  private func write(_ record: DynamicRecordDifference, to rows: any RowWriter) throws {
    var row = Row(change: record.kind.rawValue, of: "record")
    row.entity = .text(record.entity)
    row.record = .unsigned(record.id)
    if isByKey, record.oldID != record.id { row.oldRecord = .unsigned(record.oldID) }
    let attributes = try record.attributes()
    if isForPrograms || record.kind != .updated || attributes.isEmpty {
      row.old = try Self.object(attributes.map { ($0.name, $0.old) })
      row.new = try Self.object(attributes.map { ($0.name, $0.new) })
      if record.kind == .updated {
        if isForPrograms { row.name = .array(attributes.map { .text($0.name) }) }
        if !isForPrograms { row.old = .absent }
      }
      return try write(row, to: rows)
    }
    for attribute in attributes {
      row.name = .text(attribute.name)
      row.old = try attribute.old.map { try Cell($0) } ?? .absent
      row.new = try attribute.new.map { try Cell($0) } ?? .absent
      try write(row, to: rows)
    }
  }

  /// The known values as an object; absent where none is known.
  private static func object(_ values: [(name: String, value: Value?)]) throws -> Cell {
    let known = try values.compactMap { name, value in
      try value.map { (name, try Cell(exactly: $0)) }
    }
    return known.isEmpty ? .absent : .object(known)
  }
}

extension DifferenceRows.Row {
  fileprivate init(_ difference: SchemaDifference) {
    self.init(change: difference.kind.rawValue, of: "schema")
    entity = .text(difference.entity)
    subject = .text(difference.subject.rawValue)
    name = .text(difference.name)
    old = difference.old.map(Cell.text) ?? .absent
    new = difference.new.map(Cell.text) ?? .absent
  }

  fileprivate init(_ link: LinkDifference) {
    self.init(change: link.kind.rawValue, of: "link")
    entity = .text(link.entity)
    record = .unsigned(link.recordID)
    name = .text(link.relationship)
    target = .unsigned(link.targetID)
  }

  fileprivate init(_ bucket: BucketDifference) {
    self.init(change: bucket.kind.rawValue, of: "bucket")
    subject = .text(bucket.bucket)
    name = String(validating: bucket.key, as: UTF8.self).map(Cell.text) ?? .bytes(bucket.key)
    old = bucket.old.map { .bytes(Array($0)) } ?? .absent
    new = bucket.new.map { .bytes(Array($0)) } ?? .absent
  }
}

/// How many differences each entity has.
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

  /// Writes a row for each entity with a difference; returns whether the stores are equal.
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
