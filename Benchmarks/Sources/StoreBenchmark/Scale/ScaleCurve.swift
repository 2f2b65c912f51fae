import Foundation

/// The figures of one kind of record at each size that was measured.
struct ScaleCurve {
  struct Point {
    let records: Int
    let figures: [ScaleFigure: Double]

    init(records: Int, figures: [ScaleFigure: Double]) {
      self.records = records
      self.figures = figures
    }

    /// Medians of the same size, measured more than once.
    init(mediansOf points: [Point]) {
      records = points[0].records
      figures = points[0].figures.reduce(into: [:]) { medians, entry in
        let values = points.compactMap { $0.figures[entry.key] }.sorted()
        medians[entry.key] = values[values.count / 2]
      }
    }
  }

  /// How many times that of the first size a record and a read may take.
  static let limit = 2.0

  /// The kind of the records, in the plural.
  let kind: String
  /// Generating a record, in nanoseconds.
  let generator: (wall: Double, processor: Double)
  var points: [Point] = []
  /// Why sizes were left out.
  var skipped: [String] = []

  /// The figures that this kind of record has.
  var figures: [ScaleFigure] {
    ScaleFigure.allCases.filter { figure in points.contains { $0.figures[figure] != nil } }
  }

  /// How many times that of the first size; nil for the first itself.
  func ratio(_ figure: ScaleFigure, _ point: Point) -> Double? {
    guard let first = points.first, first.records != point.records,
      let divisor = first.figures[figure], divisor > 0, let value = point.figures[figure]
    else { return nil }
    return value / divisor
  }

  /// The figures above their limit, with the size.
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
