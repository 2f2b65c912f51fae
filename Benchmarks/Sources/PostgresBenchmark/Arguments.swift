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
      for option in try BenchmarkOption.all(in: arguments, of: "--postgres", usage: Self.usage) {
        switch option.name {
        case "--only": parts = try option.parts()
        case "--connection": connection = option.value
        case "--psql": psql = option.value
        case "--records": records = try option.number()
        case "--rounds": rounds = try option.number()
        case "--group": groupSize = try option.number()
        default: throw option.refusal
        }
      }
    }
  }
#endif
