#if Datasets
  import LodestoreReplicas

  // The Swift of the article "Measuring a replica". `ReadmeTests` checks that the article has
  // nothing else.

  enum MeasuringReplicasArticle {
    static func text(_ writer: ReplicaWriter) -> String {
      let text = ReplicaMetric.prometheusText(writer.status.metrics)

      return text
    }

    /// Passes the metrics of one writer, follower or standby on to a system of metrics.
    struct ReplicaMeter {
      var set: (_ name: String, _ value: Double) -> Void
      var add: (_ name: String, _ increase: Double) -> Void
      var totals: [String: Double] = [:]

      mutating func report(_ metrics: [ReplicaMetric]) {
        for metric in metrics where metric.kind == .gauge { set(metric.name, metric.value) }
        for metric in metrics where metric.kind == .counter {
          add(metric.name, metric.value - (totals[metric.name] ?? 0))
          totals[metric.name] = metric.value
        }
      }
    }

    static func report(_ writer: ReplicaWriter) async {
      var meter = ReplicaMeter(
        set: { name, value in print(name, value) },
        add: { name, increase in print(name, "+\(increase)") })
      while !Task.isCancelled {
        meter.report(writer.status.metrics)
        try? await Task.sleep(for: .seconds(10))
      }
    }
  }
#endif
