import CRawLMDB
import EntityStore
import Foundation

/// Lodestore against raw LMDB in C on the same records, in one run: medians, and ratios.
///
///     swift run -c release --package-path Benchmarks [--traits SQLite] StoreBenchmark
///       [--quick] [--runs=N] [--only=TEXT] [--pages=FILE [--records=N]]
///
/// `--traits SQLite` measures SQLite too, and needs its headers (`libsqlite3-dev`); another build
/// than without. `--only` measures the operations whose names contain the text, such as `batch`;
/// every run begins with the inserts that they need. `--pages` imports a file of podspec pages, one
/// a line, repeated under other names to so many records, and does nothing else.
///
/// It ends with an error when two sides of an operation do not find or change as many records.
@main
struct StoreBenchmark {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let isQuick = arguments.contains("--quick")
    let count = isQuick ? 100_000 : 1_000_000
    let runs = arguments.first { $0.hasPrefix("--runs=") }.flatMap { Int($0.dropFirst(7)) } ?? 5
    let records =
      arguments.first { $0.hasPrefix("--records=") }.flatMap { Int($0.dropFirst(10)) } ?? 11_028
    let only = arguments.first { $0.hasPrefix("--only=") }.map { String($0.dropFirst(7)) }
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("lodestore-bench-\(ProcessInfo.processInfo.processIdentifier)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    if let pages = arguments.first(where: { $0.hasPrefix("--pages=") })?.dropFirst(8) {
      return try await PodspecImport.run(
        pages: String(pages), records: records, directory: directory, runs: runs, only: only)
    }
    let pods = Pod.generate(count)
    let workload = try Workload(pods: pods, directory: directory)
    print("\(count) pods, \(runs) runs, medians of CPU seconds (wall)\n")
    var table = Table()
    var counts = Counts()
    for _ in 0..<runs {
      for step in workload.steps {
        if step.operation.contains(only ?? step.operation) {
          table.add(step, try Sample.measure { try counts.check(step.body(), of: step) })
        } else if step.isPrepared {
          try counts.check(step.body(), of: step)
        }
      }
      for step in workload.rest { try counts.check(step.body(), of: step) }
    }
    table.print()
    let sizes = workload.sizes.map { "\($0.side) \($0.bytes / 1_000_000) MB" }
    print("\nfiles in the end: \(sizes.joined(separator: ", "))")
  }
}

/// Processor and wall time of one run.
struct Sample {
  var cpu: Double
  var wall: Double

  static func measure(_ body: () throws -> Void) rethrows -> Sample {
    let cpu = processorTime()
    let wall = ContinuousClock.now
    try body()
    let duration = ContinuousClock.now - wall
    return Sample(
      cpu: processorTime() - cpu,
      wall: Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18)
  }

  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

/// Medians by step, with the ratios to the raw sides of the same operation.
struct Table {
  private struct Row {
    var step: Step
    var samples: [Sample]

    func median(_ value: KeyPath<Sample, Double>) -> Double {
      samples.map { $0[keyPath: value] }.sorted()[samples.count / 2]
    }
  }

  private var rows: [Row] = []

  mutating func add(_ step: Step, _ sample: Sample) {
    let row = rows.firstIndex { $0.step.operation == step.operation && $0.step.side == step.side }
    if let row {
      rows[row].samples.append(sample)
    } else {
      rows.append(Row(step: step, samples: [sample]))
    }
  }

  func print() {
    for row in rows {
      let name = "\(row.step.operation): \(row.step.side)"
      var line = name.padding(toLength: 40, withPad: " ", startingAt: 0)
      line += String(format: "%8.3f (%6.3f)", row.median(\.cpu), row.median(\.wall))
      for other in rows where other.step.operation == row.step.operation && other.step.isRaw {
        if other.step.side == row.step.side || row.step.side.hasPrefix("raw LMDB") { continue }
        let ratio = row.median(\.cpu) / other.median(\.cpu)
        line += String(format: "   %5.2f × ", ratio) + other.step.side
      }
      Swift.print(line)
    }
  }
}
