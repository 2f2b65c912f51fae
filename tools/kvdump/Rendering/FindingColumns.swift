import LodestorePages
import LodestoreVerifier

/// Findings and page counts as rows.
extension Finding {
  static let columns = [
    Column("code"), Column("rule"), Column("tree"), Column("subject"),
    Column("record", alignment: .trailing),
    Column("key", alignment: .leading), Column("detail"),
  ]

  var cells: [Cell] {
    [
      .text(code.rawValue), .text(rule.rawValue), tree.map(Cell.text) ?? .absent,
      subject.map(Cell.text) ?? .absent, record.map(Cell.unsigned) ?? .absent,
      key.map { .text(Self.hexadecimal($0)) } ?? .absent, .text(detail),
    ]
  }

  var json: String {
    JSONText.object(zip(Self.columns, cells).map { ($0.name, $1) }.filter { $0.1 != .absent })
  }
}

extension VerificationReport {
  /// The whole report as one JSON object on one line.
  func json(store: String) -> String {
    JSONText.object([
      ("store", .text(store)), ("sound", .bool(isSound)),
      ("trees", .json(JSONText.array(trees.map { .json($0.json) }))),
      ("entities", .json(JSONText.array(entities.map { .json($0.json) }))),
      ("findingCount", .count(findingCount)),
      ("findings", .json(JSONText.array(findings.map { .json($0.json) }))),
      ("notices", .json(JSONText.array(notices.map { .text($0) }))),
      ("pagesChecked", .bool(pages != nil)),
    ])
  }
}

extension VerificationReport.Tree {
  fileprivate var json: String {
    JSONText.object([
      ("tree", .text(name)), ("entries", .count(entryCount)),
      ("findings", .count(findingCount)),
    ])
  }
}

extension VerificationReport.Entity {
  fileprivate var json: String {
    JSONText.object([
      ("entity", .text(name)), ("records", .count(recordCount)),
      ("indexEntries", .count(indexEntryCount)), ("findings", .count(findingCount)),
    ])
  }
}
