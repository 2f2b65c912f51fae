import BenchmarkFigures
import CRecords
import Foundation

/// One measurement of an operation: its times, its instructions or another figure.
struct Sample {
  /// The processor time of all threads, in seconds.
  ///
  /// ``wallTime`` is the elapsed time.
  var processorTime = 0.0
  /// The part of ``processorTime`` spent in the program itself; the rest was spent in the kernel.
  var userTime = 0.0
  var wallTime = 0.0
  var instructions: Double?
  /// The figure of an operation that does not measure a time.
  var figure: Double?

  static func measure(
    _ name: String, _ callgrind: Callgrind?, _ body: () async throws -> Check
  ) async throws -> (Sample, Check) {
    callgrind?.begin()
    let start = Start()
    let check = try await body()
    var sample = start.sample
    sample.instructions = try callgrind?.end(name)
    return (sample, check)
  }

  static func measure(_ body: () throws -> Void) rethrows -> Sample {
    let start = Start()
    try body()
    return start.sample
  }

  /// The readings of the clocks at the start of a measurement.
  private struct Start {
    private let processor = ProcessorTime.now
    private let user = raw_user_seconds()
    private let clock = ContinuousClock.now

    /// The time since the start.
    var sample: Sample {
      Sample(
        processorTime: ProcessorTime.now - processor, userTime: raw_user_seconds() - user,
        wallTime: seconds(since: clock))
    }
  }

  static func wallSeconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return seconds(since: start)
  }

  static func seconds(since start: ContinuousClock.Instant) -> Double {
    (ContinuousClock.now - start).inSeconds
  }
}
