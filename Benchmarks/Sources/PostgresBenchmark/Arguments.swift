#if Postgres
  import BenchmarkFigures

  /// The parts of a run.
  enum Part: String, CaseIterable {
    /// The copy of a table into a new store.
    case copying
    /// The changes of a table that a store applies.
    case applying
    /// The records of a store that a database receives.
    case pushing
  }

  struct Arguments {
    var parts = Set(Part.allCases)
    /// The connection string of a server, in which the benchmark may create tables.
    var connection = ""
    /// The program that makes the tables and their changes.
    var psql = "psql"
    var records = 1_000_000
    var rounds = 3
    /// The rows of a commit of the copy; `nil` for the default.
    var groupSize: Int?

    static let usage = """
      usage: tools/bench --postgres [--only=PART,…] [--records=N] [--rounds=N] [--group=N]

        --only=PART,…   copying, applying, pushing; all
        --records=N     the rows of the table; 1,000,000
        --rounds=N      the median of N copies; 3
        --group=N       the rows of each commit of a copy; the default of PostgresSource
      """

    init(_ arguments: [String]) throws {
      for argument in arguments where argument != "--postgres" {
        let words = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard words.count == 2 else { throw Self.unknown(argument) }
        func number() throws -> Int {
          guard let number = Int(words[1]), number > 0 else { throw Self.unknown(argument) }
          return number
        }
        switch words[0] {
        case "--only":
          parts = try Set(
            words[1].split(separator: ",").map { name in
              guard let part = Part(rawValue: String(name)) else { throw Self.unknown(argument) }
              return part
            })
        case "--connection": connection = words[1]
        case "--psql": psql = words[1]
        case "--records": records = try number()
        case "--rounds": rounds = try number()
        case "--group": groupSize = try number()
        default: throw Self.unknown(argument)
        }
      }
    }

    private static func unknown(_ argument: String) -> BenchmarkError {
      BenchmarkError("'\(argument)' is not known\n\(usage)")
    }
  }
#endif
