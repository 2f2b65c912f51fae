import BenchmarkFigures
import Foundation

/// The report as tables for people: one line for each operation, one column for each side.
extension Report {
  func printHead() {
    print(
      "\(amounts.records.grouped) pods (checksum \(hex(checksums.pods))) and as many to-do items"
        + " (\(hex(checksums.items)))")
    print("medians of \(runs) \(runs == 1 ? "run" : "runs"); in brackets, times \(limitName)\n")
  }

  func printTables() {
    if rows.contains(where: { $0.samples.contains { $0.instructions != nil } }) {
      printTable("instructions", operations) {
        $0.figure
      } text: {
        Self.count($0)
      }
    } else {
      let timed = operations.filter { $0.unit == .processorTime || $0.unit == .wallTime }
      printTable("CPU time", timed.filter { $0.unit == .processorTime }) {
        $0.processorTime
      } text: {
        Self.seconds($0)
      }
      let changes = timed.filter { $0.unit == .processorTime && $0.changesFile }
      printTable("of it outside the kernel", changes) {
        $0.userTime
      } text: {
        Self.seconds($0)
      }
      printTable("wall time", timed) {
        $0.wallTime
      } text: {
        Self.seconds($0)
      }
      printTable("sizes", operations.filter { $0.unit == .bytes }) {
        $0.figure
      } text: {
        String(format: "%.1f MB", $0 / 1e6)
      }
      printTable("a call", operations.filter { $0.unit == .microseconds }) {
        $0.figure
      } text: {
        Self.seconds($0 / 1e6)
      }
      let gets = operations.filter { $0 == .gets || $0 == .getsBesideWriter }
      printTable("gets per second", gets) {
        Double(amounts.singleGets) / $0.wallTime
      } text: {
        Int($0).grouped
      }
    }
    print("peak memory of the whole: \(AnonymousMemory.peakOfAll / 1_000_000) MB")
  }

  private func printTable(
    _ title: String, _ operations: [Operation], _ value: (Row) -> Double,
    text: (Double) -> String
  ) {
    guard !operations.isEmpty else { return }
    let shown = sides.filter { side in operations.contains { row($0, side) != nil } }
    print(title.padded(to: 36) + shown.map { $0.padded(before: 17) }.joined())
    for operation in operations {
      var line = operation.title(amounts).padded(to: 36)
      for side in shown {
        line += (row(operation, side).map { cell($0, value, text) } ?? "–").padded(before: 17)
      }
      print(line)
    }
    print("")
  }

  private func cell(_ row: Row, _ value: (Row) -> Double, _ text: (Double) -> String) -> String {
    let figure = text(value(row))
    guard row.side != limitName, let ratio = ratio(row, value) else { return figure }
    return figure + String(format: ratio < 9.995 ? " (%.2f)" : " (%.0f)", ratio)
  }

  private static func seconds(_ seconds: Double) -> String {
    switch abs(seconds) {
    case 0.9995...: String(format: "%.2f s", seconds)
    case 0.0009995...: String(format: "%.1f ms", seconds * 1e3)
    default: String(format: "%.1f µs", seconds * 1e6)
    }
  }

  private static func count(_ count: Double) -> String { String(format: "%.1f M", count / 1e6) }
}

func hex(_ number: UInt64) -> String {
  let digits = String(number, radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}

extension String {
  func padded(to width: Int) -> String { self + spaces(width) }

  func padded(before width: Int) -> String { spaces(width) + self }

  private func spaces(_ width: Int) -> String {
    String(repeating: " ", count: max(0, width - count))
  }
}
