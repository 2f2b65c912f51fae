import BenchmarkFigures
import Foundation

/// A plot of values over numbers of records.
///
/// The axis of the numbers is logarithmic; the axis of the values is linear and starts at 0.
struct PlotPanel {
  struct Point {
    let records: Int
    let value: Double
  }

  struct Line {
    let name: String
    let colour: String
    let points: [Point]
  }

  static let width = 820.0
  static let height = 370.0
  private static let left = 86.0
  private static let right = width - 40
  /// The distance from the panel's top.
  private static let plotTop = 62.0
  private static let plotBottom = height - 56
  /// The minimum distance between two points whose labels are on the same side.
  private static let labelRoom = 32.0

  let title: String
  let unit: String
  /// The factor between the first value of a line and its dashed limit.
  ///
  /// Each line has a dashed line at its first value times this factor.
  let limit: Double
  let lines: [Line]

  func draw(into svg: inout SVG, top: Double) {
    svg.text(title, x: 24, y: top + 20, style: "font-weight:600")
    guard let axes = PlotAxes(lines, limit: limit) else {
      svg.text("nothing was measured", x: 24, y: top + 44, style: "fill:#555")
      return
    }
    func x(_ records: Int) -> Double {
      Self.left + axes.place(records) * (Self.right - Self.left)
    }
    func y(_ value: Double) -> Double {
      top + Self.plotBottom - value / axes.highest * (Self.plotBottom - Self.plotTop)
    }
    drawLegend(into: &svg, y: top + 44)
    for value in axes.values {
      svg.line(Self.left, y(value), Self.right, y(value), style: "stroke:#e3e3e3")
      svg.text(
        Int(value).grouped, x: Self.left - 8, y: y(value) + 4, style: "text-anchor:end")
    }
    for records in axes.records {
      svg.line(x(records), y(0), x(records), y(0) + 5, style: "stroke:#555")
      svg.text(
        PlotAxes.label(records), x: x(records), y: y(0) + 20, style: "text-anchor:middle")
    }
    svg.line(Self.left, y(0), Self.right, y(0), style: "stroke:#555")
    svg.text(
      "millions of records in the store (logarithmic)", x: (Self.left + Self.right) / 2,
      y: y(0) + 40,
      style: "text-anchor:middle;fill:#555")
    svg.text(
      unit, x: 24, y: (y(0) + y(axes.highest)) / 2, style: "text-anchor:middle;fill:#555",
      turned: true)
    for line in lines {
      if let first = line.points.first {
        svg.line(
          Self.left, y(limit * first.value), Self.right, y(limit * first.value),
          style: "stroke:\(line.colour);stroke-dasharray:6 5;stroke-opacity:0.7")
      }
      svg.path(
        line.points.map { (x($0.records), y($0.value)) }, style: "stroke:\(line.colour)")
    }
    for records in axes.records { drawLabels(into: &svg, of: records, x: x(records), y) }
    // The dots come last, so no label covers a dot.
    for line in lines {
      for point in line.points {
        svg.dot(x(point.records), y(point.value), style: "fill:\(line.colour)")
      }
    }
  }

  private func drawLegend(into svg: inout SVG, y: Double) {
    var x = Self.left
    for line in lines {
      svg.line(x, y - 4, x + 26, y - 4, style: "stroke:\(line.colour);stroke-width:2")
      svg.dot(x + 13, y - 4, style: "fill:\(line.colour)")
      svg.text(line.name, x: x + 33, y: y, style: "")
      x += 60 + 7.5 * Double(line.name.count)
    }
    svg.line(x, y - 4, x + 26, y - 4, style: "stroke:#555;stroke-dasharray:6 5")
    svg.text("\(limit.times) times its first value", x: x + 33, y: y, style: "")
  }

  /// Draws the values of all lines at one size.
  ///
  /// A value is above its point, or below it if another point is close above.
  private func drawLabels(
    into svg: inout SVG, of records: Int, x: Double, _ y: (Double) -> Double
  ) {
    let labels = lines.compactMap { line in
      line.points.first { $0.records == records }.map { (colour: line.colour, value: $0.value) }
    }.sorted { $0.value < $1.value }
    for (place, label) in labels.enumerated() {
      let point = y(label.value)
      let isCrowded =
        place + 1 < labels.count && point - y(labels[place + 1].value) < Self.labelRoom
      svg.text(
        Int(label.value.rounded()).grouped, x: x, y: point + (isCrowded ? 19 : -9),
        style: "text-anchor:middle;fill:\(label.colour);\(SVG.halo)")
    }
  }
}

/// The labels of the axes.
struct PlotAxes {
  /// The sizes at which at least one line has a point.
  let records: [Int]
  let values: [Double]
  private let logarithms: ClosedRange<Double>

  /// The value at the top of the axis.
  var highest: Double { values.last ?? 1 }

  /// Returns `nil` if no line has a point.
  init?(_ lines: [PlotPanel.Line], limit: Double) {
    records = Set(lines.flatMap(\.points).map(\.records)).sorted()
    guard let fewest = records.first, let most = records.last else { return nil }
    // The axis is a little longer than the range of the points.
    logarithms = log10(Double(fewest)) - 0.12...log10(Double(most)) + 0.12
    let limits = lines.compactMap(\.points.first).map { $0.value * limit }
    let highest = max(1, (lines.flatMap(\.points).map(\.value) + limits).max() ?? 1) * 1.06
    let power = pow(10, floor(log10(highest / 4)))
    let step = [1, 2, 5, 10].map { $0 * power }.first { highest / $0 <= 6 } ?? highest
    values = stride(from: 0, through: (highest / step).rounded(.up) * step, by: step).map { $0 }
  }

  /// The position of a size on the axis: 0 at the left end, 1 at the right end.
  func place(_ records: Int) -> Double {
    (log10(Double(records)) - logarithms.lowerBound)
      / (logarithms.upperBound - logarithms.lowerBound)
  }

  static func label(_ records: Int) -> String {
    String(format: "%g", Double(records) / 1e6)
  }
}
