import EntityStore

/// What an import did: the report.
struct ImportTally: Sendable {
  /// A record that was not taken in.
  struct Reject: Sendable {
    let file: String
    let page: Int
    let record: Int
    let rejection: RecordRejection

    var cell: Cell {
      .json(
        JSONText.object([
          ("file", .text(file)), ("page", .integer(Int64(page))),
          ("record", .integer(Int64(record))), ("byteOffset", .integer(Int64(rejection.offset))),
          ("attribute", rejection.attribute.map(Cell.text) ?? .null),
          ("reason", .text(rejection.reason)),
        ]))
    }

    /// One line for people.
    var line: String {
      "\(file): page \(page) record \(record) (byte \(rejection.offset)): \(rejection.reason)"
    }
  }

  /// Rejects that are kept with their reasons; the others are counted.
  static let longestRejectList = 10_000

  var pages = 0
  var inserted = 0
  var updated = 0
  var unchanged = 0
  var ignored = 0
  var rejected = 0
  var rejects: [Reject] = []
  var unknownMembers: [String: Int] = [:]

  var records: Int { inserted + updated + unchanged + ignored + rejected }

  mutating func count(_ outcome: JSONPageMerge.Outcome, page: ImportPage, record: Int) {
    switch outcome {
    case .inserted: inserted += 1
    case .updated: updated += 1
    case .unchanged: unchanged += 1
    case .ignored: ignored += 1
    case .rejected(let rejection):
      rejected += 1
      if rejects.count < Self.longestRejectList {
        rejects.append(
          Reject(file: page.file, page: page.number, record: record, rejection: rejection))
      }
    }
  }

  /// Adds what a later page did.
  mutating func add(_ other: ImportTally) {
    pages += other.pages
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    ignored += other.ignored
    rejected += other.rejected
    rejects += other.rejects.prefix(Self.longestRejectList - rejects.count)
    unknownMembers.merge(other.unknownMembers, uniquingKeysWith: +)
  }

  /// The report's members; the rejects are left out for people, who get them as notes.
  func members(entity: String, seconds: Double, withRejects: Bool) -> [(Column, Cell)] {
    var members: [(Column, Cell)] = [
      (Column("entity"), .text(entity)), (Column("pages"), .count(pages)),
      (Column("records"), .count(records)), (Column("inserted"), .count(inserted)),
      (Column("updated"), .count(updated)), (Column("unchanged"), .count(unchanged)),
      (Column("ignored"), .count(ignored)), (Column("deleted"), .count(0)),
      (Column("rejected"), .count(rejected)),
      (Column("seconds"), .double((seconds * 1000).rounded() / 1000)),
    ]
    if withRejects {
      members.append((Column("rejects"), .json(JSONText.array(rejects.map(\.cell)))))
    }
    return members
  }
}
