import BenchmarkFigures
import Foundation

/// The figures of one kind of record at each measured size.
struct ScaleCurve {
  struct Point {
    let records: Int
    let figures: [ScaleFigure: Double]

    init(records: Int, figures: [ScaleFigure: Double]) {
      self.records = records
      self.figures = figures
    }

    /// Makes a point of the medians of several measurements of one size.
    init(mediansOf points: [Point]) {
      records = points[0].records
      figures = points[0].figures.reduce(into: [:]) { medians, entry in
        medians[entry.key] = points.compactMap { $0.figures[entry.key] }.median
      }
    }
  }

  /// The largest allowed cost of a record or a read, as a multiple of its cost at the first size.
  static let limit = 2.0

  /// The name of the kind of records, in the plural.
  let kind: String
  /// The time for generating one record, in nanoseconds.
  let generator: (wall: Double, processor: Double)
  var points: [Point] = []
  /// The reasons for sizes that were left out.
  var skipped: [String] = []

  /// The figures that were measured for this kind of record.
  var figures: [ScaleFigure] {
    ScaleFigure.allCases.filter { figure in points.contains { $0.figures[figure] != nil } }
  }

  /// Returns a figure as a multiple of the figure at the first size; `nil` for the first size.
  func ratio(_ figure: ScaleFigure, _ point: Point) -> Double? {
    guard let first = points.first, first.records != point.records,
      let divisor = first.figures[figure], divisor > 0, let value = point.figures[figure]
    else { return nil }
    return value / divisor
  }

  /// The figures above their limit, each with its size, as text.
  var excesses: [String] {
    figures.filter(\.isLimited).flatMap { figure in
      points.compactMap { point in
        guard let ratio = ratio(figure, point), ratio > Self.limit else { return nil }
        return "\(figure.title) at \(point.records.grouped) \(kind): \(ratio.times)"
      }
    }
  }
}

extension Double {
  /// A ratio with two decimal digits.
  var times: String { String(format: "%.2f", self) }
}
