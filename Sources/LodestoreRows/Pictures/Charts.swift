/// Values as pictures.
package enum Charts {
  /// A labelled value of a chart.
  package struct Bar {
    package var label: String
    package var value: Double
    /// The value for people.
    package var text: String
    package var link: Drawing.Link?

    package init(label: String, value: Double, text: String, link: Drawing.Link? = nil) {
      self.label = label
      self.value = value
      self.text = text
      self.link = link
    }
  }

  private static let lineHeight = 22.0
  private static let labelWidth = 220.0
  private static let barWidth = 300.0

  /// A line with a bar for each value.
  package static func bars(_ bars: [Bar], title: String, summary: String) -> Drawing {
    let most = max(bars.map(\.value).max() ?? 0, .leastNormalMagnitude)
    var drawing = Drawing(
      title: title, summary: summary, width: labelWidth + barWidth + 120,
      height: Double(bars.count) * lineHeight + 8)
    for (position, bar) in bars.enumerated() {
      let y = Double(position) * lineHeight + 4
      let label = Drawing.cut(bar.label, to: labelWidth - 14)
      let length = max(bar.value / most * barWidth, 1)
      let shapes: [Drawing.Shape] = [
        .text(label, Drawing.Point(labelWidth - 8, y + 14), .heading, .end),
        .box(x: labelWidth, y: y + 2, width: length, height: lineHeight - 7, .bar),
        .text(bar.text, Drawing.Point(labelWidth + length + 8, y + 14), .faint),
      ]
      if let link = bar.link {
        drawing.shapes.append(.link(link, label: "\(bar.label): \(bar.text)", shapes))
      } else {
        drawing.shapes += shapes
      }
    }
    return drawing
  }

  /// A column for each value, side by side, with texts at both ends of the axis.
  package static func columns(
    _ values: [Int], from first: String, to last: String, title: String, summary: String
  ) -> Drawing {
    let (width, height) = (640.0, 150.0)
    let most = max(values.max() ?? 0, 1)
    let step = width / Double(max(values.count, 1))
    var drawing = Drawing(
      title: title, summary: summary, width: width, height: height + 44)
    for (position, value) in values.enumerated() where value > 0 {
      let length = max(Double(value) / Double(most) * height, 1)
      drawing.shapes.append(
        .box(
          x: Double(position) * step + 1, y: height - length + 16, width: step - 2, height: length,
          .bar))
    }
    drawing.shapes += [
      .line([Drawing.Point(0, height + 16), Drawing.Point(width, height + 16)], .axis),
      .text(NumberText.grouped(most), Drawing.Point(0, 12), .faint),
      .text(Drawing.cut(first, to: width / 2), Drawing.Point(0, height + 36), .faint),
      .text(Drawing.cut(last, to: width / 2), Drawing.Point(width, height + 36), .faint, .end),
    ]
    return drawing
  }

  /// A line through values at equal distances, with texts at both ends of the axis.
  package static func line(
    _ values: [Int], from first: String, to last: String, title: String, summary: String
  ) -> Drawing {
    let (width, height) = (640.0, 150.0)
    let most = max(values.max() ?? 0, 1)
    let step = width / Double(max(values.count - 1, 1))
    let points = values.enumerated().map { position, value in
      Drawing.Point(Double(position) * step, 16 + height - Double(value) / Double(most) * height)
    }
    return Drawing(
      title: title, summary: summary, width: width, height: height + 44,
      shapes: [
        .line([Drawing.Point(0, height + 16), Drawing.Point(width, height + 16)], .axis),
        .line(points, .strong),
        .text(NumberText.grouped(most), Drawing.Point(0, 12), .faint),
        .text(first, Drawing.Point(0, height + 36), .faint),
        .text(last, Drawing.Point(width, height + 36), .faint, .end),
      ])
  }
}
