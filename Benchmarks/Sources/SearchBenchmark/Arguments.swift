#if Search
  import BenchmarkFigures

  struct Arguments {
    /// A file of texts, one a line.
    var texts = ""
    var records = 200_000
    var queries = 400
    /// The group whose queries run; `nil` for all.
    var only: String?

    static let usage = """
      usage: tools/bench --search --texts=FILE [--records=N] [--queries=N] [--only=NAME]

        --texts=FILE    texts, one a line; shorter files are read several times
        --records=N     the number of texts; 200,000
        --queries=N     the median of N queries of each kind; 400
        --only=NAME     words, condition, unordered, typing or updates; all
      """

    init(_ arguments: [String]) throws {
      for option in try BenchmarkOption.all(in: arguments, of: "--search", usage: Self.usage) {
        switch option.name {
        case "--texts": texts = option.value
        case "--records": records = try option.number()
        case "--queries": queries = try option.number()
        case "--only": only = option.value
        default: throw option.refusal
        }
      }
      if texts.isEmpty { throw BenchmarkError("no texts\n\(Self.usage)") }
    }
  }
#endif
