/// A chart in block characters.
struct TerminalChart {
  /// The number of lines of columns.
  private static let height = 8
  private static let upperEighths = ["", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  private static let leftEighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

  let width: Int
  let style: Style

  /// The lines of the chart, its title first, in which no value can control the terminal.
  func lines(_ plot: Plot) -> [String] {
    let body =
      switch plot.chart {
      case .bars(let bars): self.bars(bars)
      case .columns(let values, let first, let last): columns(values, first, last)
      }
    let title = style.strong(DisplayText(plot.title, limit: width).text)
    return [title] + body + [style.faint(DisplayText.escaped(plot.summary))]
  }

  private func bars(_ bars: [Charts.Bar]) -> [String] {
    let labels = bars.map { DisplayText($0.label, limit: max(width / 3, 8)) }
    let texts = bars.map { DisplayText($0.text) }
    let labelWidth = labels.map(\.width).max() ?? 0
    let room = max(width - labelWidth - (texts.map(\.width).max() ?? 0) - 2, 4)
    let most = bars.map(\.value).max() ?? 0
    return zip(bars, zip(labels, texts)).map { bar, words in
      let eighths = Self.share(bar.value, of: most, in: room * 8)
      let blocks = String(repeating: "█", count: eighths / 8) + Self.leftEighths[eighths % 8]
      return words.0.padded(to: labelWidth, alignment: .trailing) + " " + style.chart(blocks) + " "
        + words.1.text
    }
  }

  private func columns(_ values: [Int], _ first: String, _ last: String) -> [String] {
    guard !values.isEmpty else { return [] }
    let values = Self.joined(values, most: max(width, 1))
    let step = max(min(width / values.count, 4), 1)
    let most = values.max() ?? 0
    let heights = values.map { Self.share(Double($0), of: Double(most), in: Self.height * 8) }
    var lines = [style.faint(NumberText.grouped(most))]
    for line in (0..<Self.height).reversed() {
      var text = heights.map { height in
        let block = Self.upperEighths[min(max(height - line * 8, 0), 8)]
        let blockWidth = step > 2 ? step - 1 : step
        return String(repeating: block.isEmpty ? " " : block, count: blockWidth)
          + String(repeating: " ", count: step - blockWidth)
      }.joined()
      while text.utf8.last == 0x20 { text.removeLast() }
      lines.append(style.chart(text))
    }
    let axis = values.count * step
    lines.append(style.faint(String(repeating: "─", count: axis)))
    let (start, end) = (DisplayText(first, limit: width / 2), DisplayText(last, limit: width / 2))
    if start.text == end.text { return lines + [start.text] }
    let gap = max(axis - start.width - end.width, 1)
    return lines + [start.text + String(repeating: " ", count: gap) + end.text]
  }

  /// Sums of neighbours, so that there are at most `most` values.
  private static func joined(_ values: [Int], most: Int) -> [Int] {
    let size = (values.count + most - 1) / most
    guard size > 1 else { return values }
    return stride(from: 0, to: values.count, by: size).map { start in
      values[start..<min(start + size, values.count)].reduce(0, +)
    }
  }

  /// The part of `room` for a value; at least 1 for a value above 0.
  private static func share(_ value: Double, of most: Double, in room: Int) -> Int {
    guard value > 0, most > 0 else { return 0 }
    return max(min(Int(value / most * Double(room)), room), 1)
  }
}
