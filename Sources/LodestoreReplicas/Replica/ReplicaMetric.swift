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
  /// The meaning of the value, in one line for people.
  public let help: String

  init(_ name: String, _ kind: Kind, _ value: Double, _ help: String) {
    self.name = "lodestore.replica.\(name)"
    self.kind = kind
    self.value = value
    self.help = help
  }

  init(_ name: String, _ kind: Kind, _ value: some BinaryInteger, _ help: String) {
    self.init(name, kind, Double(value), help)
  }

  /// The metrics as text in the format of Prometheus, each with its help and its type.
  public static func prometheusText(_ metrics: [ReplicaMetric]) -> String {
    metrics.map { metric in
      let name = metric.name.replacing(".", with: "_") + (metric.kind == .counter ? "_total" : "")
      let isWhole = metric.value.rounded() == metric.value && abs(metric.value) < 1e15
      let value = isWhole ? "\(Int64(metric.value))" : "\(metric.value)"
      return "# HELP \(name) \(metric.help)\n# TYPE \(name) \(metric.kind.rawValue)\n"
        + "\(name) \(value)\n"
    }.joined()
  }
}

extension ReplicaTraffic {
  /// The metrics of the requests of a part, `writer` or `follower`.
  func metrics(of part: String) -> [ReplicaMetric] {
    [
      ReplicaMetric(
        "\(part).requests.read", .counter, reads, "Requests that read, list or look up objects."),
      ReplicaMetric("\(part).requests.write", .counter, writes, "Requests that write objects."),
      ReplicaMetric(
        "\(part).requests.delete", .counter, deletions, "Requests that delete objects."),
      ReplicaMetric(
        "\(part).requests.failed", .counter, failures,
        "Requests that failed, without refused conditions and absent objects."),
      ReplicaMetric(
        "\(part).received.bytes", .counter, bytesReceived, "Bytes of objects that were received."),
      ReplicaMetric("\(part).sent.bytes", .counter, bytesSent, "Bytes of objects that were sent."),
    ]
  }
}

extension ReplicaWriterStatus {
  /// The lag, the bytes and the requests as metrics.
  public var metrics: [ReplicaMetric] {
    [
      ReplicaMetric(
        "writer.lag.seconds", .gauge, lag.inSeconds,
        "Age of the oldest commit that the storage does not have."),
      ReplicaMetric(
        "writer.lag.writes", .gauge, lagInWrites, "Writes that the storage does not have."),
      ReplicaMetric("writer.lag.bytes", .gauge, lagInBytes, "Bytes that are being sent."),
      ReplicaMetric("writer.slot", .gauge, slot, "Last slot of the log."),
      ReplicaMetric("writer.epoch", .gauge, epoch, "Epoch of the last slot."),
      ReplicaMetric(
        "writer.log.bytes", .gauge, logBytesSinceBase, "Size of the log since the newest base."),
      ReplicaMetric(
        "writer.changes", .counter, changesSent, "Changed records and links that were sent."),
      ReplicaMetric(
        "writer.entry.bytes", .counter, entryBytesSent, "Bytes of the entries that were sent."),
      ReplicaMetric(
        "writer.failing", .gauge, lastFailure == nil ? 0 : 1,
        "1 while the last call to the storage has failed, otherwise 0."),
      ReplicaMetric(
        "writer.running", .gauge, end == nil ? 1 : 0, "0 after the writer has ended, otherwise 1."),
    ] + traffic.metrics(of: "writer")
  }
}

extension ReplicaFollowerStatus {
  /// The lag, the bytes and the requests as metrics.
  ///
  /// - Parameter date: The current date.
  public func metrics(at date: Date = Date()) -> [ReplicaMetric] {
    var metrics = [
      ReplicaMetric("follower.slot", .gauge, slot, "Last applied slot."),
      ReplicaMetric("follower.epoch", .gauge, epoch, "Epoch of the last applied slot."),
      ReplicaMetric(
        "follower.changes", .counter, changesApplied,
        "Changed records and links that were applied."),
      ReplicaMetric(
        "follower.replacements", .counter, replacements, "Bases that replaced the copy."),
      ReplicaMetric(
        "follower.failing", .gauge, lastFailure == nil ? 0 : 1,
        "1 while the last call to the storage has failed, otherwise 0."),
      ReplicaMetric(
        "follower.running", .gauge, end == nil ? 1 : 0,
        "0 after the follower has ended, otherwise 1."),
    ]
    if let lag = lag(at: date) {
      metrics.insert(
        ReplicaMetric(
          "follower.lag.seconds", .gauge, lag.inSeconds,
          "Age of the copy."), at: 0)
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
      ReplicaMetric(
        "standby.writing", .gauge, takeover == nil ? 0 : 1,
        "1 after the standby has taken over, otherwise 0."))
    if let timeUntilTakeover {
      metrics.append(
        ReplicaMetric(
          "standby.remaining.seconds", .gauge, timeUntilTakeover.inSeconds,
          "Time after which the standby takes over."))
    }
    return metrics + traffic.metrics(of: "standby")
  }
}
