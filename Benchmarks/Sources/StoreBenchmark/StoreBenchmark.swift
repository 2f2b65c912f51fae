import CRawLMDB
import EntityStore
import Foundation

/// Lodestore against raw LMDB in C on the same records, in one run: medians, and ratios.
///
///     swift run -c release --package-path Benchmarks StoreBenchmark [--quick] [--runs=N]
///       [--only=TEXT] [--pages=FILE [--records=N]]
///
/// `--pages` imports a file of podspec pages, one a line, repeated under other names to so many
/// records, and does nothing else.
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
    for run in 0..<runs {
      for (name, body) in workload.operations where only == nil || name.contains(only ?? "") {
        table.add(name, try Sample.measure(body), isFirst: run == 0)
      }
    }
    table.print()
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

/// Medians by operation, with the ratio to the raw side of the same operation.
struct Table {
  private var order: [String] = []
  private var samples: [String: [Sample]] = [:]

  mutating func add(_ name: String, _ sample: Sample, isFirst: Bool) {
    if isFirst { order.append(name) }
    samples[name, default: []].append(sample)
  }

  private func median(_ name: String, _ value: KeyPath<Sample, Double>) -> Double? {
    guard let values = samples[name]?.map({ $0[keyPath: value] }).sorted() else { return nil }
    return values[values.count / 2]
  }

  func print() {
    for name in order {
      guard let cpu = median(name, \.cpu), let wall = median(name, \.wall) else { continue }
      var line = name.padding(toLength: 34, withPad: " ", startingAt: 0)
      line += String(format: "%8.3f (%6.3f)", cpu, wall)
      let operation = name.split(separator: ":")[0]
      for reference in order where reference != name && reference.hasPrefix("\(operation): raw") {
        guard !name.contains(": raw"), let base = median(reference, \.cpu) else { continue }
        line += String(
          format: "   %5.2f × %@", cpu / base, String(reference.split(separator: ":")[1]))
      }
      Swift.print(line)
    }
  }
}
