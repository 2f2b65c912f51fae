import BenchmarkFigures
import CCallgrind
import Foundation

/// Counts instructions when `tools/bench --instructions` runs the program under valgrind's
/// callgrind.
///
/// Other load on the machine does not change the count.
struct Callgrind {
  /// The path of callgrind's output files without the number at its end.
  private let prefix: String
  private let counter = Counter()

  /// The number of output files so far.
  ///
  /// Callgrind numbers the files, and writes one file at the end of each count.
  private final class Counter {
    var files = 0
  }

  /// - Throws: `BenchmarkError` if the program does not run under callgrind.
  init() throws {
    let environment = ProcessInfo.processInfo.environment
    guard callgrind_is_running() != 0, let prefix = environment["LODESTORE_CALLGRIND_FILES"] else {
      throw BenchmarkError(
        "cannot count instructions: this does not run under callgrind; use tools/bench")
    }
    self.prefix = prefix
  }

  func begin() { callgrind_begin() }

  /// The instructions since ``begin()``.
  func end(_ name: String) throws -> Double {
    callgrind_end(name)
    counter.files += 1
    let path = "\(prefix).\(counter.files)"
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let total = lines.last { $0.hasPrefix("totals: ") || $0.hasPrefix("summary: ") }
    guard let total, let count = total.split(separator: " ").last.flatMap({ Double($0) }) else {
      throw BenchmarkError("cannot read what callgrind counted: \(path) has no total")
    }
    return count
  }
}
