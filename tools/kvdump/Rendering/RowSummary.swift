/// The note about omitted rows.
enum RowSummary {
  /// The note, such as "20 of 11,028 records; --limit 0 for all"; `nil` if all rows were shown.
  ///
  /// `total` is `nil` if counting would require reading everything; then `hasMore` is whether the
  /// limit ended the output. `noun` is the plural.
  static func text(
    shown: Int, offset: Int = 0, total: Int?, hasMore: Bool = false, noun: String = "records"
  ) -> String? {
    let isWhole = total.map { shown >= $0 } ?? (!hasMore && offset == 0)
    guard !isWhole else { return nil }
    let isCut = total.map { offset + shown < $0 } ?? hasMore
    var text: String
    if offset > 0, shown > 0 {
      let first = NumberText.grouped(offset + 1)
      let last = NumberText.grouped(offset + shown)
      text = "\(noun) \(first) to \(last)" + (total.map { " of \(NumberText.grouped($0))" } ?? "")
    } else if let total {
      text = "\(NumberText.grouped(shown)) of \(NumberText.grouped(total)) \(noun)"
    } else {
      text = isCut ? "the first \(NumberText.grouped(shown)) \(noun)" : "no \(noun)"
    }
    if offset > 0, shown == 0 { text += " after the first \(NumberText.grouped(offset))" }
    return isCut ? text + "; --limit 0 for all" : text
  }
}
