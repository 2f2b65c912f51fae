import Foundation

/// The cost of one query of the battery on both sides.
struct QueryFigures {
  /// The unit of ``own``, ``parsing`` and ``other``.
  enum Unit {
    /// Seconds of processor time.
    case seconds
    case instructions

    var name: String { self == .seconds ? "CPU time" : "instructions" }

    /// An excess over SQLite's figure that is ignored, because the clock is not exact.
    fileprivate var allowance: Double { self == .seconds ? 5e-6 : 15_000 }

    func text(_ figure: Double) -> String {
      switch self {
      case .instructions: String(format: "%.1f K", figure / 1e3)
      case .seconds where figure < 1e-3: String(format: "%.1f us", figure * 1e6)
      case .seconds: String(format: "%.2f ms", figure * 1e3)
      }
    }
  }

  let unit: Unit
  let number: Int
  let query: BatteryQuery
  let sql: String
  /// The numbers of entries and records that the query read.
  let reads: BatteryReads
  let best: BestPlan
  let own: Double
  /// The part of ``own`` that parses the text of the condition.
  let parsing: Double
  let other: Double
  let isSame: Bool
  let answerCount: Int

  /// A query whose figure is above this multiple of SQLite's is marked as too slow.
  static let timeLimit = 1.2

  var isOffInReads: Bool { best.isExceeded(by: reads.count) }
  var isOffInTime: Bool { own > other * Self.timeLimit + unit.allowance }

  /// The reads as a multiple of the best plan's.
  ///
  /// ``timeFactor`` is the time as a multiple of SQLite's.
  var readFactor: Double { Double(reads.count) / Double(max(1, best.reads)) }
  var timeFactor: Double { own / max(other, 1e-9) }

  private func fixed(_ number: Double) -> String {
    String(format: number < 100 ? "%.1f" : "%.0f", number)
  }

  /// Returns the figures, the query and the plans of both sides as lines of text.
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
      \(unit.text(own)) with \(unit.text(parsing)) for the text, SQLite \(unit.text(other))
          \(plan.joined(separator: "; "))
          SQLite: \(otherPlan)
      """
  }
}

/// Measures the processor time of a closure on this thread: the minimum of several runs.
enum ThreadTime {
  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// - Parameter patience: The runs end when they have taken this many seconds; there are at least
  ///   two.
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
