import Foundation

/// The processor time of all threads of the process, in seconds.
package enum ProcessorTime {
  package static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

/// Runs a body, and prints its time and its rate.
@discardableResult
package func timed<R>(
  _ name: String, _ count: Int, _ body: () async throws -> R
) async rethrows -> R {
  let (start, processor) = (ContinuousClock.now, ProcessorTime.now)
  let result = try await body()
  printTime(name, count, start.duration(to: .now).inSeconds, ProcessorTime.now - processor)
  return result
}

/// Runs a body, and prints its time and its rate.
@discardableResult
package func timed<R>(_ name: String, _ count: Int, _ body: () throws -> R) rethrows -> R {
  let (start, processor) = (ContinuousClock.now, ProcessorTime.now)
  let result = try body()
  printTime(name, count, start.duration(to: .now).inSeconds, ProcessorTime.now - processor)
  return result
}

/// Prints the time in seconds of a work on a number of things, and its rate.
package func printTime(_ name: String, _ count: Int, _ wall: Double, _ processor: Double) {
  let title = name.padding(toLength: 40, withPad: " ", startingAt: 0)
  print(
    "  \(title)\(String(format: "%8.3f s, CPU %8.3f s", wall, processor)), "
      + "\(Int(Double(count) / wall).grouped) a second")
  // A pipe shows the line at once.
  fflush(nil)
}

/// The load of the machine in the last 1, 5 and 15 minutes.
package var loadAverage: String {
  var loads = [0.0, 0.0, 0.0]
  getloadavg(&loads, 3)
  return loads.map { String(format: "%.2f", $0) }.joined(separator: " ")
}
