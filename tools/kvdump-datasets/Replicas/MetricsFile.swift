import ArgumentParser
import Foundation
import KVDumpCommands
import LodestoreReplicas

/// The option of commands that write their metrics to a file.
struct MetricsOptions: ParsableArguments {
  @Option(
    help: .value(
      "Write lag, bytes and requests to this file every second, in the format of Prometheus.",
      "path"))
  var metrics: String?

  /// Replaces the file as a whole, so that a collector never reads a part of it.
  func write(_ metrics: @autoclosure () -> [ReplicaMetric]) throws {
    guard let path = self.metrics else { return }
    do {
      try Data(ReplicaMetric.prometheusText(metrics()).utf8)
        .write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw CommandFailure.metricsFile(path)
    }
  }
}

extension CommandFailure {
  fileprivate static func metricsFile(_ path: String) -> CommandFailure {
    CommandFailure(
      code: "metrics", message: "\(path): cannot write the metrics; check the folder and the disk",
      status: .cannotCreate, details: [Detail(name: "path", value: .text(path))])
  }
}
