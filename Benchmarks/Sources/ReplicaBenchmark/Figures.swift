#if Replicas
  import Foundation

  extension Duration {
    var inSeconds: Double {
      Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
  }

  extension [Double] {
    var median: Double { sorted().part(0.5) }

    /// The value below which a share of the sorted values lies.
    func part(_ share: Double) -> Double {
      isEmpty ? 0 : self[Swift.min(count - 1, Int(Double(count) * share))]
    }
  }

  extension Int {
    /// The number with a comma before each three digits.
    var grouped: String {
      var digits = String(self)
      var place = digits.count - 3
      while place > 0 {
        digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
        place -= 3
      }
      return digits
    }
  }

  func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }
  func micros(_ seconds: Double) -> String { String(format: "%.1f us", seconds * 1e6) }
  func millis(_ seconds: Double) -> String { String(format: "%.0f ms", seconds * 1e3) }
  func megabytes(_ bytes: UInt64) -> String { String(format: "%.1f MB", Double(bytes) / 1e6) }

  /// The processor time of all threads of the process, in seconds.
  enum ProcessorTime {
    static var now: Double {
      var time = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
  }

  /// Runs a body, and prints its time and its rate.
  @discardableResult
  func timed<R>(_ name: String, _ count: Int, _ body: () async throws -> R) async rethrows -> R {
    let (start, processor) = (ContinuousClock.now, ProcessorTime.now)
    let result = try await body()
    printTime(name, count, start.duration(to: .now).inSeconds, ProcessorTime.now - processor)
    return result
  }

  @discardableResult
  func timed<R>(_ name: String, _ count: Int, _ body: () throws -> R) rethrows -> R {
    let (start, processor) = (ContinuousClock.now, ProcessorTime.now)
    let result = try body()
    printTime(name, count, start.duration(to: .now).inSeconds, ProcessorTime.now - processor)
    return result
  }

  private func printTime(_ name: String, _ count: Int, _ wall: Double, _ processor: Double) {
    let title = name.padding(toLength: 40, withPad: " ", startingAt: 0)
    print(
      "  \(title)\(String(format: "%8.3f s, CPU %8.3f s", wall, processor)), "
        + "\(Int(Double(count) / wall).grouped) a second")
    // A pipe shows the line at once.
    fflush(nil)
  }
#endif
