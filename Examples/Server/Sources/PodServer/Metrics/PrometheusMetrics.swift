import Metrics
import Synchronization

/// A backend of swift-metrics that keeps counters, gauges and histograms, and writes them as text
/// in the format of Prometheus.
public final class PrometheusMetrics: MetricsFactory {
  /// The instance for the whole process, used after ``bootstrap()``.
  public static let shared = PrometheusMetrics()

  private static let isBootstrapped: Void = MetricsSystem.bootstrap(shared)

  private let families = Mutex<[String: Family]>([:])

  private struct Family {
    var kind: String
    var series: [String: any Series] = [:]
  }

  private init() {}

  /// Sets ``shared`` as the backend of the whole process; further calls do nothing.
  public static func bootstrap() { isBootstrapped }

  /// All metrics as text.
  var text: String {
    families.withLock { families in
      families.sorted { $0.key < $1.key }.map { name, family in
        "# TYPE \(name) \(family.kind)\n"
          + family.series.sorted { $0.key < $1.key }
          .map { labels, series in series.lines(name, labels) }.joined()
      }.joined()
    }
  }

  /// Returns the series of a name with labels, and makes it if it does not exist.
  private func series<S: Series>(
    _ label: String, _ dimensions: [(String, String)], suffix: String = "", _ make: () -> S
  ) -> S {
    let name = String(label.map { $0.isLetter || $0.isNumber ? $0 : "_" }) + suffix
    let labels = dimensions.map { key, value in
      "\(key.replacing(".", with: "_"))=\"\(value.escapedLabel)\""
    }.joined(separator: ",")
    return families.withLock { families in
      if let found = families[name]?.series[labels] as? S { return found }
      let made = make()
      families[name, default: Family(kind: S.kind)].series[labels] = made
      return made
    }
  }
}

// MARK: MetricsFactory

extension PrometheusMetrics {
  /// A counter.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, suffix: "_total") { CounterSeries() }
  }

  /// A gauge: a value that can rise and fall.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions) { GaugeSeries() }
  }

  /// A gauge of the last value, or a histogram of all values if `aggregate` is true.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    aggregate
      ? series(label, dimensions) { HistogramSeries() }
      : series(label, dimensions) { GaugeSeries() }
  }

  /// A histogram of seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, suffix: "_seconds") { HistogramSeries() }
  }

  /// Does nothing, because a counter must never start again at 0.
  public func destroyCounter(_: any CounterHandler) {}
  /// Does nothing; the series stays.
  public func destroyMeter(_: any MeterHandler) {}
  /// Does nothing; the series stays.
  public func destroyRecorder(_: any RecorderHandler) {}
  /// Does nothing; the series stays.
  public func destroyTimer(_: any TimerHandler) {}
}

extension String {
  /// The text with escapes, for the value of a label.
  fileprivate var escapedLabel: String {
    replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
