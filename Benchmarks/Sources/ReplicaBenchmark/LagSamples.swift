#if Replicas
  import BenchmarkFigures
  import LodestoreReplicas
  import Synchronization

  /// Samples of the commits that a store and its replica have.
  final class LagSamples: Sendable {
    private struct Sample {
      var time: ContinuousClock.Instant
      /// The last write of the store.
      var committed: UInt64
      /// The last write of the replica.
      var replicated: UInt64
    }

    private static let interval = Duration.milliseconds(5)
    private let samples = Mutex<[Sample]>([])

    /// Takes samples until the task is cancelled.
    func watch(_ writer: ReplicaWriter) async {
      while !Task.isCancelled {
        let time = ContinuousClock.now
        let status = writer.status
        let sample = Sample(
          time: time, committed: status.replicatedWrite + status.lagInWrites,
          replicated: status.replicatedWrite)
        samples.withLock { $0.append(sample) }
        try? await Task.sleep(for: Self.interval)
      }
    }

    /// The ages in seconds of the oldest commit that the replica did not have, in ascending order.
    ///
    /// The commit was made after the last sample without it, so an age is at most one interval too
    /// large.
    var ages: [Double] {
      samples.withLock { samples in
        var ages: [Double] = []
        var oldest = 0
        for sample in samples {
          while samples[oldest].committed <= sample.replicated, samples[oldest].time < sample.time {
            oldest += 1
          }
          let isCaughtUp = sample.committed <= sample.replicated
          let before = samples[max(0, oldest - 1)].time
          ages.append(isCaughtUp ? 0 : before.duration(to: sample.time).inSeconds)
        }
        return ages.sorted()
      }
    }
  }
#endif
