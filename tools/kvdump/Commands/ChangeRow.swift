import EntityStore
import LodestoreFormat

/// A changed record as a row of `history` and `watch`, with all that is known about the change.
struct ChangeRow {
  static let columns: [Column] = [
    "write", "time", "author", "change", "entity", "record", "attributes",
  ]

  var write: UInt64?
  var time: Date
  var author: String?
  var change: String
  var entity: String
  var record: UInt64
  var attributes: [String] = []

  var cells: [Cell] {
    [
      write.map(Cell.unsigned) ?? .null, HistoryDate.cell(time), author.map(Cell.text) ?? .null,
      .text(change), .text(entity), .unsigned(record), .text(attributes.joined(separator: ", ")),
    ]
  }

  var line: String {
    let time = KeyText.text(of: .date(self.time.timeIntervalSinceReferenceDate))
    let parts = [
      time, author ?? "", change, "\(entity) \(record)", attributes.joined(separator: ", "),
    ]
    return DisplayText.escaped(parts.filter { !$0.isEmpty }.joined(separator: "  "))
  }
}

extension ChangeRow {
  init(_ change: HistoryChange, of write: HistoryWrite, as kind: String) {
    self.init(
      write: write.id, time: write.time, author: write.author, change: kind,
      entity: change.entity, record: change.recordID, attributes: change.attributes)
  }
}
