/// A chart and its numbers.
struct Plot {
  enum Chart {
    case bars([Charts.Bar])
    /// Columns side by side, with a text at both ends of the axis.
    case columns([Int], from: String, to: String)
  }

  /// The usual numbers of bars, of columns of dates, and of writes.
  static let (barCount, columnCount, writeCount) = (20, 60, 200)

  var title: String
  /// The essence of the chart, in a sentence.
  var summary: String
  var chart: Chart
  var columns: [Column]
  var rows: [[Cell]]
  /// A note about values that the chart lacks.
  var note: String?

  /// The chart as a picture.
  var drawing: Drawing {
    switch chart {
    case .bars(let bars): Charts.bars(bars, title: title, summary: summary)
    case .columns(let values, let first, let last):
      Charts.columns(values, from: first, to: last, title: title, summary: summary)
    }
  }
}
