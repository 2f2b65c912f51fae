import Foundation

/// The JSON form of the report.
extension Report {
  private struct Document: Encodable {
    struct Result: Encodable {
      var operation: String
      var title: String
      var side: String
      /// The unit of `figure`.
      var unit: String
      /// The median by which the sides are compared.
      ///
      /// ``ratio`` is this median divided by the median of raw LMDB.
      var figure: Double
      var ratio: Double?
      /// The processor time of each run, in seconds.
      var processorTimes: [Double]?
      var userTimes: [Double]?
      var wallTimes: [Double]?
    }

    var records: Int
    var runs: Int
    var podChecksum: String
    var itemChecksum: String
    var limit: String
    var processors: Int
    var peakMemory: Int
    var results: [Result]
  }

  func writeJSON(to path: String) throws {
    let document = Document(
      records: amounts.records, runs: runs, podChecksum: hex(checksums.pods),
      itemChecksum: hex(checksums.items), limit: limitName,
      processors: ProcessInfo.processInfo.activeProcessorCount,
      peakMemory: AnonymousMemory.peakOfAll, results: rows.map(result))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(document).write(to: URL(fileURLWithPath: path))
  }

  private func result(_ row: Row) -> Document.Result {
    let isCounted = row.samples.contains { $0.instructions != nil }
    let isTimed = row.samples.allSatisfy { $0.figure == nil } && !isCounted
    return Document.Result(
      operation: row.operation.rawValue, title: row.operation.title(amounts), side: row.side,
      unit: isCounted ? "instructions" : row.operation.unit.rawValue, figure: row.figure,
      ratio: ratio(row, \.figure),
      processorTimes: isTimed ? row.samples.map(\.processorTime) : nil,
      userTimes: isTimed ? row.samples.map(\.userTime) : nil,
      wallTimes: isTimed ? row.samples.map(\.wallTime) : nil)
  }
}
