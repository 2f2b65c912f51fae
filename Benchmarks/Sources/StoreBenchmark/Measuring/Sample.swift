import CRecords
import Foundation

/// The cost of one run of an operation, or its figure.
struct Sample {
  /// Seconds of all processors, those of the clock; instructions where they are counted.
  var processorTime = 0.0
  /// The part of the processor time that the program itself took; the kernel took the rest.
  var userTime = 0.0
  var wallTime = 0.0
  var instructions: Double?
  /// A figure that is no time.
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

  /// The clocks when a measurement begins.
  private struct Start {
    private let processor = processorSeconds()
    private let user = raw_user_seconds()
    private let clock = ContinuousClock.now

    /// The time since the start.
    var sample: Sample {
      Sample(
        processorTime: processorSeconds() - processor, userTime: raw_user_seconds() - user,
        wallTime: seconds(since: clock))
    }
  }

  static func wallSeconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return seconds(since: start)
  }

  static func seconds(since start: ContinuousClock.Instant) -> Double {
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
