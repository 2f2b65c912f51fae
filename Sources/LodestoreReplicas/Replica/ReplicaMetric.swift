#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One measured value of a writer, a follower or a standby, for a system of metrics.
///
/// A program reads the values whenever its metrics are collected. Systems of metrics take the
/// increase of a counter, which the type in <doc:MeasuringReplicas> calculates.
///
///     for metric in writer.status.metrics { print(metric.name, metric.value) }
public struct ReplicaMetric: Sendable, Hashable {
  /// The kind of a metric.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable {
    /// A value that only rises while the writer or the follower is open.
    case counter
    /// A value that can rise and fall.
    case gauge
  }

  /// The name with its unit, as in `lodestore.replica.writer.lag.seconds`.
  public let name: String
  /// The kind of the metric.
  public let kind: Kind
  /// The present value.
  public let value: Double

  init(_ name: String, _ kind: Kind, _ value: Double) {
    self.name = "lodestore.replica.\(name)"
    self.kind = kind
    self.value = value
  }

  init(_ name: String, _ kind: Kind, _ value: some BinaryInteger) {
    self.init(name, kind, Double(value))
  }

  /// The metrics as text in the format of Prometheus.
  public static func prometheusText(_ metrics: [ReplicaMetric]) -> String {
    metrics.map { metric in
      let name = metric.name.replacing(".", with: "_") + (metric.kind == .counter ? "_total" : "")
      let isWhole = metric.value.rounded() == metric.value && abs(metric.value) < 1e15
      let value = isWhole ? "\(Int64(metric.value))" : "\(metric.value)"
      return "# TYPE \(name) \(metric.kind.rawValue)\n\(name) \(value)\n"
    }.joined()
  }
}

extension ReplicaTraffic {
  /// The metrics of the requests of a part, `writer` or `follower`.
  func metrics(of part: String) -> [ReplicaMetric] {
    [
      ReplicaMetric("\(part).requests.read", .counter, reads),
      ReplicaMetric("\(part).requests.write", .counter, writes),
      ReplicaMetric("\(part).requests.delete", .counter, deletions),
      ReplicaMetric("\(part).requests.failed", .counter, failures),
      ReplicaMetric("\(part).received.bytes", .counter, bytesReceived),
      ReplicaMetric("\(part).sent.bytes", .counter, bytesSent),
    ]
  }
}

extension ReplicaWriterStatus {
  /// The lag, the bytes and the requests as metrics.
  public var metrics: [ReplicaMetric] {
    [
      ReplicaMetric("writer.lag.seconds", .gauge, lag.inSeconds),
      ReplicaMetric("writer.lag.writes", .gauge, lagInWrites),
      ReplicaMetric("writer.lag.bytes", .gauge, lagInBytes),
      ReplicaMetric("writer.slot", .gauge, slot),
      ReplicaMetric("writer.epoch", .gauge, epoch),
      ReplicaMetric("writer.log.bytes", .gauge, logBytesSinceBase),
      ReplicaMetric("writer.changes", .counter, changesSent),
      ReplicaMetric("writer.entry.bytes", .counter, entryBytesSent),
      ReplicaMetric("writer.failing", .gauge, lastFailure == nil ? 0 : 1),
      ReplicaMetric("writer.running", .gauge, end == nil ? 1 : 0),
    ] + traffic.metrics(of: "writer")
  }
}

extension ReplicaFollowerStatus {
  /// The lag, the bytes and the requests as metrics.
  ///
  /// - Parameter date: The current date.
  public func metrics(at date: Date = Date()) -> [ReplicaMetric] {
    var metrics = [
      ReplicaMetric("follower.slot", .gauge, slot),
      ReplicaMetric("follower.epoch", .gauge, epoch),
      ReplicaMetric("follower.changes", .counter, changesApplied),
      ReplicaMetric("follower.replacements", .counter, replacements),
      ReplicaMetric("follower.failing", .gauge, lastFailure == nil ? 0 : 1),
      ReplicaMetric("follower.running", .gauge, end == nil ? 1 : 0),
    ]
    if let lag = lag(at: date) {
      metrics.insert(ReplicaMetric("follower.lag.seconds", .gauge, lag.inSeconds), at: 0)
    }
    return metrics + traffic.metrics(of: "follower")
  }
}

extension ReplicaStandbyStatus {
  /// The metrics of the follower, and those of the lease.
  ///
  /// - Parameter date: The current date.
  public func metrics(at date: Date = Date()) -> [ReplicaMetric] {
    var metrics = follower.metrics(at: date)
    metrics.append(
      ReplicaMetric("standby.writing", .gauge, takeover == nil ? 0 : 1))
    if let timeUntilTakeover {
      metrics.append(
        ReplicaMetric("standby.remaining.seconds", .gauge, timeUntilTakeover.inSeconds))
    }
    return metrics + traffic.metrics(of: "standby")
  }
}
