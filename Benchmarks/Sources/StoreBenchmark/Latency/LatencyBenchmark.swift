import BenchmarkFigures
import Foundation
import Lodestore
import Synchronization

/// Measures how long a small read takes while long fetches run.
struct LatencyBenchmark {
  private static let seconds = 5.0
  private static let fetchCounts = [0, 1, 4, 16, 64]

  private let store: Store
  private let names: [String]

  static func run(_ arguments: Arguments, directory: String) async throws {
    let store = try Store(at: "\(directory)/latency.lodestore", entities: [Pod.self])
    defer { store.close() }
    Progress.show("filling the store with \(arguments.recordCount.grouped) records")
    let pods = Pod.generate(arguments.recordCount)
    try await store.write { _ = try $0.insert(pods, returning: .counts) }
    Progress.clear()
    let benchmark = LatencyBenchmark(store: store, names: pods.prefix(1_000).map(\.name))
    print(
      "One record by its name, asked for every millisecond for \(Int(seconds)) s, beside fetches")
    print(
      "that look at \(arguments.recordCount.grouped) records; microseconds, and fetches that ended\n"
    )
    print("long fetches   reads      50 %      99 %    99.9 %       max  fetches")
    for count in fetchCounts { try await benchmark.measure(beside: count) }
  }

  private final class Fetches: Sendable {
    let count = Atomic<Int>(0)
    let areOver = Atomic<Bool>(false)
  }

  private func measure(beside fetchCount: Int) async throws {
    let fetches = Fetches()
    let store = store
    let micros = try await withThrowingTaskGroup(of: [Double].self) { group in
      for _ in 0..<fetchCount {
        group.addTask {
          while !fetches.areOver.load(ordering: .relaxed) {
            // The condition is checked on every record, and no record fulfils it. Releasing a
            // million found records would block Swift's threads and disturb the measurement.
            let found = try await store.fetch(Pod.where { $0.summary.contains("no such words") })
            guard found.isEmpty else { throw BenchmarkError("a fetch found \(found.count)") }
            fetches.count.add(1, ordering: .relaxed)
          }
          return []
        }
      }
      group.addTask {
        defer { fetches.areOver.store(true, ordering: .relaxed) }
        return try await reads()
      }
      return try await group.reduce(into: []) { $0 += $1 }.sorted()
    }
    let columns = [0.5, 0.99, 0.999, 1].map { String(format: "%9.0f", micros.part($0)) }
      .joined(separator: " ")
    print(
      String(format: "%12d %7d ", fetchCount, micros.count) + columns
        + String(format: " %8d", fetches.count.load(ordering: .relaxed)))
  }

  /// Measures each read, in microseconds.
  private func reads() async throws -> [Double] {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(Self.seconds)
    var micros: [Double] = []
    while clock.now < end {
      let name = names[micros.count % names.count]
      let start = clock.now
      let found = try await store.fetch(Pod.where { $0.name == name })
      let time = clock.now - start
      guard !found.isEmpty else { throw BenchmarkError("'\(name)' is not found") }
      micros.append(
        Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6)
      try await Task.sleep(for: .milliseconds(1))
    }
    return micros
  }
}
