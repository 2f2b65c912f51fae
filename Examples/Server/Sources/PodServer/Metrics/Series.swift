import Metrics
import Synchronization

/// The measured values of one metric with one set of labels.
protocol Series: AnyObject, Sendable {
  /// The name of the metric's type in Prometheus.
  static var kind: String { get }

  /// Returns the values as lines of text.
  func lines(_ name: String, _ labels: String) -> String
}

extension Series {
  fileprivate func line(_ name: String, _ labels: String, _ value: some CustomStringConvertible)
    -> String
  {
    labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }
}

/// A number that only rises.
final class CounterSeries: Series, CounterHandler {
  static let kind = "counter"
  private let value = Atomic<Int64>(0)

  func increment(by amount: Int64) { value.add(amount, ordering: .relaxed) }
  func reset() { value.store(0, ordering: .relaxed) }

  func lines(_ name: String, _ labels: String) -> String {
    line(name, labels, value.load(ordering: .relaxed))
  }
}

/// A number that can rise and fall.
final class GaugeSeries: Series, MeterHandler, RecorderHandler {
  static let kind = "gauge"
  private let value = Mutex(0.0)

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { self.value.withLock { $0 = value } }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
  func increment(by amount: Double) { value.withLock { $0 += amount } }
  func decrement(by amount: Double) { value.withLock { $0 -= amount } }

  func lines(_ name: String, _ labels: String) -> String {
    line(name, labels, value.withLock { $0 })
  }
}

/// Counts of values by size.
final class HistogramSeries: Series, TimerHandler, RecorderHandler {
  static let kind = "histogram"
  /// The upper bounds of the buckets, in seconds.
  private static let bounds = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  ]

  private struct State {
    var counts = [Int](repeating: 0, count: bounds.count + 1)
    var sum = 0.0
  }

  private let state = Mutex(State())

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    let bucket = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
    state.withLock { state in
      state.counts[bucket] += 1
      state.sum += value
    }
  }

  func lines(_ name: String, _ labels: String) -> String {
    let state = state.withLock { $0 }
    let head = labels.isEmpty ? "" : labels + ","
    var total = 0
    var text = ""
    for (bound, count) in zip(Self.bounds.map { "\($0)" } + ["+Inf"], state.counts) {
      total += count
      text += line(name + "_bucket", "\(head)le=\"\(bound)\"", total)
    }
    return text + line(name + "_sum", labels, state.sum) + line(name + "_count", labels, total)
  }
}
