import LodestorePages
import LodestoreVerifier

/// Findings and page counts as rows.
extension Finding {
  static let columns: [Column] = [
    "code", "rule", "tree", "subject", Column("record", alignment: .trailing),
    Column("key", alignment: .leading), "detail",
  ]

  var cells: [Cell] {
    [
      .text(code.rawValue), .text(rule.rawValue), tree.map(Cell.text) ?? .absent,
      subject.map(Cell.text) ?? .absent, record.map(Cell.unsigned) ?? .absent,
      key.map { .text(Self.hexadecimal($0)) } ?? .absent, .text(detail),
    ]
  }

  fileprivate var object: Cell { .object(zip(Self.columns, cells).map { ($0.name, $1) }) }
}

extension VerificationReport {
  /// The whole report as one JSON object on one line.
  func json(store: String) -> String {
    let trees = trees.map { tree in
      Cell.object([
        ("tree", .text(tree.name)), ("entries", .count(tree.entryCount)),
        ("findings", .count(tree.findingCount)),
      ])
    }
    let entities = entities.map { entity in
      Cell.object([
        ("entity", .text(entity.name)), ("records", .count(entity.recordCount)),
        ("indexEntries", .count(entity.indexEntryCount)),
        ("findings", .count(entity.findingCount)),
      ])
    }
    return CellJSON.object([
      ("store", .text(store)), ("sound", .bool(isSound)), ("trees", .array(trees)),
      ("entities", .array(entities)), ("findingCount", .count(findingCount)),
      ("findings", .array(findings.map(\.object))),
      ("notices", .array(notices.map { .text($0) })), ("pagesChecked", .bool(pages != nil)),
    ])
  }
}
