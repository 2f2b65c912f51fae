import BenchmarkFigures
import Foundation

struct Arguments {
  private var givenRuns: Int?
  var isQuick = false
  var countsInstructions = false
  var listsOnly = false
  /// The names of the operations to run; with ``pages``, the way of importing.
  var only: [String] = []
  var sides: [String] = []
  var jsonPath: String?
  var svgPath: String?
  /// Whether to measure stores of growing size; ``scaleLimit`` is the largest number of records.
  var measuresScale = false
  var scaleLimit: Int?
  /// Whether to run the battery of queries; with ``isHeldOut``, the queries generated from ``seed``
  /// instead.
  var measuresQueries = false
  var isHeldOut = false
  /// Whether small reads are measured while long ones run.
  var measuresLatency = false
  var seed = 1
  var pages: String?
  var records: Int?

  static let usage = """
    usage: tools/bench [--quick] [--runs=N] [--only=NAME,…] [--sides=NAME,…] [--json FILE]
                       [--instructions] [--list] [--pages=FILE [--records=N]]
           tools/bench --queries [--held-out [--seed=N]] [--records=N] [--only=NUMBER,…]
           tools/bench --scale[=N] [--svg FILE] [--json FILE]
           tools/bench --latency [--records=N]
           tools/bench --replicas [...]; measures replicas, and has arguments of its own

      --quick         100,000 records instead of a million, and 3 runs: some two minutes
      --runs=N        medians of N runs; 5
      --only=NAME,…   these operations; all
      --sides=NAME,…  these sides; all that were built
      --json FILE     writes the figures to a file too
      --instructions  counts instructions with callgrind, at 100,000 records, once; of the queries too
      --list          lists operations and sides
      --records=N     so many records
      --pages=FILE    imports a file of podspec pages, one a line, repeated under other names to so
                      many records, and does nothing else; --only=members or --only=codable
      --scale[=N]     measures Lodestore as it grows, and does nothing else: 1 to 100 million to-do
                      items and 1 to 20 million pods, at most N; below a million, N of each
      --queries       runs the battery of queries beside SQLite, and does nothing else; prints those that
                      read more than twice what the best plan does or take 1.2 times the time
      --latency       measures reads of one record while up to 64 long fetches run, and does nothing else
      --held-out      random queries of the same kind instead, from --seed=N; 1
      --svg FILE      draws what --scale measures
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      func value() throws -> String {
        if parts.count == 2 { return parts[1] }
        guard let next = rest.popFirst() else { throw BenchmarkError("\(argument) lacks a value") }
        return next
      }
      func number() throws -> Int {
        let text = try value()
        guard let number = Int(text), number > 0 else {
          throw BenchmarkError("\(parts[0]) takes a number above 0, not '\(text)'")
        }
        return number
      }
      func names() throws -> [String] { try value().split(separator: ",").map(String.init) }
      switch parts.first {
      case "--quick": isQuick = true
      case "--instructions": countsInstructions = true
      case "--list": listsOnly = true
      case "--runs": givenRuns = try number()
      case "--records": records = try number()
      case "--only": only = try names()
      case "--sides": sides = try names()
      case "--json": jsonPath = try value()
      case "--svg": svgPath = try value()
      case "--scale":
        measuresScale = true
        if parts.count == 2 { scaleLimit = try number() }
      case "--queries": measuresQueries = true
      case "--latency": measuresLatency = true
      case "--held-out": isHeldOut = true
      case "--seed": seed = try number()
      case "--pages": pages = try value()
      default: throw BenchmarkError("'\(argument)' is not known\n\(Self.usage)")
      }
    }
    guard measuresQueries || !isHeldOut else {
      throw BenchmarkError("--held-out is a set of --queries, which were not asked for")
    }
    guard svgPath == nil || measuresScale else {
      throw BenchmarkError("--svg draws what --scale measures, which was not asked for")
    }
  }

  var runs: Int { givenRuns ?? (isQuick ? 3 : 5) }

  /// The number of pods, and of to-do items.
  var recordCount: Int { records ?? (isQuick || countsInstructions ? 100_000 : 1_000_000) }
}
