import Foundation

/// What one query of the battery took on both sides.
struct QueryFigures {
  let number: Int
  let query: BatteryQuery
  let sql: String
  /// Entries and records that were read.
  let reads: BatteryReads
  let best: BestPlan
  /// Seconds of the processor.
  let own: Double
  /// Of that, what reading the text of the condition takes.
  let parsing: Double
  let other: Double
  let isSame: Bool
  let answerCount: Int

  /// What takes more times SQLite's time is off; some microseconds are allowed besides, for the
  /// clock.
  static let timeLimit = 1.2
  static let timeAllowance = 5e-6

  var isOffInReads: Bool { best.isExceeded(by: reads.count) }
  var isOffInTime: Bool { own > other * Self.timeLimit + Self.timeAllowance }

  /// How many times the reads of the best plan, and SQLite's time.
  var readFactor: Double { Double(reads.count) / Double(max(1, best.reads)) }
  var timeFactor: Double { own / max(other, 1e-9) }

  private func fixed(_ number: Double) -> String {
    String(format: number < 100 ? "%.1f" : "%.0f", number)
  }

  /// In lines: what was measured, the query, both plans.
  func text(otherPlan: String) -> String {
    let marks = [
      isSame ? nil : "DIFFERENT ANSWERS", isOffInReads ? "reads x\(fixed(readFactor))" : nil,
      isOffInTime ? "time x\(fixed(timeFactor))" : nil,
    ]
    let mark = marks.compactMap(\.self).joined(separator: ", ")
    let plan = reads.plan.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("read ") }
      .map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") }
    return """
      #\(number) \(mark.isEmpty ? "good" : mark): \(query)
          \(answerCount) found; \(reads.count) read, best \(best.reads) (\(best.way): \
      \(best.entries) entries, \(best.scanned) scanned, \(best.lookedUp) looked up); \
      \(Self.time(own)) with \(Self.time(parsing)) for the text, SQLite \(Self.time(other))
          \(plan.joined(separator: "; "))
          SQLite: \(otherPlan)
      """
  }

  private static func time(_ seconds: Double) -> String {
    seconds < 1e-3
      ? String(format: "%.1f us", seconds * 1e6) : String(format: "%.2f ms", seconds * 1e3)
  }
}

/// How long something takes the processor: the least of several runs of this thread.
enum ThreadTime {
  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// - Parameter patience: seconds after which no run is begun, beyond the second.
  static func least(patience: Double = 0.05, _ body: () throws -> Void) rethrows -> Double {
    try body()
    var least = Double.infinity
    var total = 0.0
    var runs = 0
    while runs < 2 || total < patience, runs < 100 {
      let start = now
      try body()
      let took = now - start
      least = min(least, took)
      total += took
      runs += 1
    }
    return least
  }
}
