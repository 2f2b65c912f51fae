import BenchmarkFigures
import Foundation

/// The samples of all runs, with their medians.
struct Report {
  struct Row {
    let operation: Operation
    let side: String
    var samples: [Sample] = []
  }

  let amounts: Amounts
  let runs: Int
  let sides: [String]
  let checksums: (pods: UInt64, items: UInt64)
  private(set) var rows: [Row] = []

  init(_ workload: Workload, runs: Int, sides: [String]) {
    amounts = Amounts(records: workload.pods.count)
    self.runs = runs
    self.sides = sides
    checksums = workload.checksums
  }

  mutating func add(_ sample: Sample, _ operation: Operation, _ side: String) {
    let place = rows.firstIndex { $0.operation == operation && $0.side == side }
    if let place {
      rows[place].samples.append(sample)
    } else {
      rows.append(Row(operation: operation, side: side, samples: [sample]))
    }
  }

  /// The operations in the order in which they were measured.
  var operations: [Operation] {
    var seen: [Operation] = []
    for row in rows where !seen.contains(row.operation) { seen.append(row.operation) }
    return seen
  }

  func row(_ operation: Operation, _ side: String) -> Row? {
    rows.first { $0.operation == operation && $0.side == side }
  }

  /// Returns a value as a multiple of raw LMDB's value for the same operation.
  ///
  /// Returns `nil` if raw LMDB does not have the operation.
  func ratio(_ row: Row, _ value: (Row) -> Double) -> Double? {
    guard let limit = self.row(row.operation, limitName) else { return nil }
    let divisor = value(limit)
    return divisor > 0 ? value(row) / divisor : nil
  }
}

extension Report.Row {
  func median(_ value: (Sample) -> Double) -> Double {
    samples.map(value).median
  }

  /// The figure by which the sides of the operation are compared.
  var figure: Double {
    if samples.contains(where: { $0.instructions != nil }) {
      return median { $0.instructions ?? 0 }
    }
    switch operation.unit {
    case .processorTime: return processorTime
    case .wallTime: return wallTime
    case .bytes, .microseconds: return median { $0.figure ?? 0 }
    }
  }

  var processorTime: Double { median(\.processorTime) }
  var userTime: Double { median(\.userTime) }
  var wallTime: Double { median(\.wallTime) }
}
