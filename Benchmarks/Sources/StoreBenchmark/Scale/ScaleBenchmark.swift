import BenchmarkFigures
import Foundation
import Lodestore

/// Measures how the store behaves as it grows.
///
/// Each size has a new store, filled by one batch insert. The records are generated during the
/// insert.
struct ScaleBenchmark {
  private static let million = 1_000_000
  /// The disk space that an insert may need, as a multiple of the expected file size.
  private static let roomFactor = 3.0
  /// The number of measurements of the first size, with which all other sizes are compared.
  private static let firstCount = 3

  private let directory: String
  private let arguments: Arguments
  private var report: ScaleReport

  static func run(_ arguments: Arguments, directory: String) throws {
    var benchmark = ScaleBenchmark(directory: directory, arguments: arguments)
    benchmark.report.printHead()
    try benchmark.measure(ToDo.self)
    try benchmark.measure(Pod.self)
    benchmark.report.printFoot()
  }

  private init(directory: String, arguments: Arguments) {
    self.directory = directory
    self.arguments = arguments
    report = ScaleReport(json: arguments.jsonPath, svg: arguments.svgPath)
  }

  private mutating func measure<Record: ScaleRecord>(_: Record.Type) throws {
    let sizes = sizes(of: Record.self)
    Progress.show("generating \(Record.plural)")
    let generator = Self.generatorCost(Record.self, min(Self.million, sizes[0]))
    Progress.clear()
    report.begin(ScaleCurve(kind: Record.plural, generator: generator))
    var bytesPerRecord = Record.expectedByteCount
    for (place, size) in sizes.enumerated() {
      let free = try StoreFile.freeRoom(in: directory)
      guard room(size, bytesPerRecord) <= Double(free) else {
        for size in sizes[place...] {
          try report.skip(
            "skipped: \(size.grouped) \(Record.plural) need some"
              + " \(gigabytes(room(size, bytesPerRecord))) in \(directory),"
              + " \(gigabytes(Double(free))) are free")
        }
        break
      }
      let points = try (0..<(place == 0 ? Self.firstCount : 1)).map { _ in
        try FreeMemory.touch(in: directory, byteCount: Int(Double(size) * bytesPerRecord))
        return try ScaleStore<Record>.measure(size, generator: generator, in: directory)
      }
      let point = ScaleCurve.Point(mediansOf: points)
      bytesPerRecord = point.figures[.fileSize] ?? bytesPerRecord
      try report.add(point)
    }
    report.end()
  }

  private func sizes<Record: ScaleRecord>(of _: Record.Type) -> [Int] {
    guard let limit = arguments.scaleLimit else { return Record.sizes }
    return limit < Self.million ? [limit] : Record.sizes.filter { $0 <= limit }
  }

  private func room(_ size: Int, _ bytesPerRecord: Double) -> Double {
    Self.roomFactor * Double(size) * bytesPerRecord
  }

  private func gigabytes(_ bytes: Double) -> String {
    String(format: bytes < 9.95e9 ? "%.1f GB" : "%.0f GB", bytes / 1e9)
  }

  /// Measures the time for generating one record, in nanoseconds: the median of three measurements.
  private static func generatorCost<Record: ScaleRecord>(
    _: Record.Type, _ count: Int
  ) -> (wall: Double, processor: Double) {
    let samples = (0..<3).map { _ in
      Sample.measure {
        var last: Record?
        for record in NumberedRecords<Record>(count: count) { last = record }
        // Without a use of the last record, the compiler would remove the loop.
        withExtendedLifetime(last) {}
      }
    }.sorted { $0.wallTime < $1.wallTime }
    let perRecord = 1e9 / Double(count)
    return (samples[1].wallTime * perRecord, samples[1].processorTime * perRecord)
  }
}
