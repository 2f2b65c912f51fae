import BenchmarkFigures
import Foundation

/// Prints the curves as tables, and writes them as a JSON file and a drawing.
///
/// A table has one line for each size. Each size is printed and written to the files when it has
/// been measured, because a run takes long and may be interrupted.
struct ScaleReport {
  private(set) var curves: [ScaleCurve] = []
  private let jsonPath: String?
  private let svgPath: String?

  init(json jsonPath: String?, svg svgPath: String?) {
    self.jsonPath = jsonPath
    self.svgPath = svgPath
  }

  func printHead() {
    print("stores as they grow: a fresh one a size, filled by one batch insert; \(Self.machine)")
    print("inserts without what generating the records takes; in brackets, times the first size")
    print("asked: at most \(ScaleCurve.limit.times) for inserts and gets\n")
  }

  func printFoot() {
    let excesses = curves.flatMap(\.excesses)
    let limit = "\(ScaleCurve.limit.times) times the first size"
    if !excesses.isEmpty {
      print("more than \(limit): \(excesses.joined(separator: "; "))")
    } else if curves.contains(where: { $0.points.count > 1 }) {
      print("no insert and no get takes more than \(limit)")
    }
    print("peak memory of the whole: \(AnonymousMemory.peakOfAll / 1_000_000) MB")
  }

  mutating func begin(_ curve: ScaleCurve) {
    curves.append(curve)
    show(
      String(
        format: "%@: generating one takes %.0f ns, %.0f ns of CPU", curve.kind,
        curve.generator.wall, curve.generator.processor))
  }

  mutating func add(_ point: ScaleCurve.Point) throws {
    let place = curves.count - 1
    curves[place].points.append(point)
    let curve = curves[place]
    if curve.points.count == 1 {
      show(line("records", curve) { $0.title })
    }
    show(line(point.records.grouped, curve) { cell($0, point, of: curve) })
    try writeFiles()
  }

  mutating func skip(_ text: String) throws {
    curves[curves.count - 1].skipped.append(text)
    show(text)
    try writeFiles()
  }

  func end() { show("") }

  static var machine: String {
    let process = ProcessInfo.processInfo
    let memory = Double(process.physicalMemory) / Double(1 << 30)
    return "\(process.activeProcessorCount) processors, " + String(format: "%.0f GiB", memory)
  }

  private func line(
    _ title: String, _ curve: ScaleCurve, _ cell: (ScaleFigure) -> String
  ) -> String {
    title.padded(before: 11) + curve.figures.map { cell($0).padded(before: 18) }.joined()
  }

  private func cell(
    _ figure: ScaleFigure, _ point: ScaleCurve.Point, of curve: ScaleCurve
  ) -> String {
    guard let value = point.figures[figure] else { return "–" }
    let ratio = curve.ratio(figure, point).map { " (\($0.times))" } ?? ""
    return figure.text(value) + ratio
  }

  private func show(_ line: String) {
    print(line)
    fflush(nil)
  }
}

// MARK: Files

extension ScaleReport {
  private struct Document: Encodable {
    struct Kind: Encodable {
      var kind: String
      /// Nanoseconds of generating one record; the figures of inserts do not include this time.
      var generatorWallTime: Double
      var generatorProcessorTime: Double
      var results: [Result]
      var skipped: [String]
    }

    struct Result: Encodable {
      var records: Int
      var figure: String
      var unit: String
      var value: Double
      /// The value as a multiple of the value at the first size.
      var ratio: Double?
    }

    var limit: Double
    var processors: Int
    var physicalMemory: UInt64
    var kinds: [Kind]
  }

  private func writeFiles() throws {
    if let jsonPath {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(document).write(to: URL(fileURLWithPath: jsonPath))
    }
    if let svgPath {
      let drawing = ScaleDrawing(curves, machine: Self.machine).text
      try Data(drawing.utf8).write(to: URL(fileURLWithPath: svgPath))
    }
  }

  private var document: Document {
    Document(
      limit: ScaleCurve.limit, processors: ProcessInfo.processInfo.activeProcessorCount,
      physicalMemory: ProcessInfo.processInfo.physicalMemory,
      kinds: curves.map { curve in
        Document.Kind(
          kind: curve.kind, generatorWallTime: curve.generator.wall,
          generatorProcessorTime: curve.generator.processor,
          results: curve.points.flatMap { results($0, of: curve) }, skipped: curve.skipped)
      })
  }

  private func results(
    _ point: ScaleCurve.Point, of curve: ScaleCurve
  ) -> [Document.Result] {
    curve.figures.compactMap { figure in
      guard let value = point.figures[figure] else { return nil }
      return Document.Result(
        records: point.records, figure: figure.rawValue, unit: figure.unit, value: value,
        ratio: curve.ratio(figure, point))
    }
  }
}
