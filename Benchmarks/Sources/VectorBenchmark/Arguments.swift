#if Vectors
  import BenchmarkFigures

  struct Arguments {
    /// A file of NumPy with one vector of `float32` in each row.
    var file: String?
    var records: Int?
    var queries = 100
    var candidates = [125, 250, 500, 1_000, 2_000, 8_000, 16_000]

    static let usage = """
      usage: tools/bench --vectors [--vectors-file=FILE.npy] [--records=N] [--queries=N]
                         [--candidates=N,N…]

        --vectors-file=FILE.npy  vectors of float32, one a row; vectors of 384 dimensions around
                                 seeded centers
        --records=N              the number of vectors; those of the file but the queries, or
                                 1,000,000. Beyond the file each vector is one of the file and half
                                 of another
        --queries=N              the median of N queries, which are the last vectors; 100
        --candidates=N,N…        the numbers of candidates of the queries
      """

    init(_ arguments: [String]) throws {
      for option in try BenchmarkOption.all(in: arguments, of: "--vectors", usage: Self.usage) {
        switch option.name {
        case "--vectors-file": file = option.value
        case "--records": records = try option.number()
        case "--queries": queries = try option.number()
        case "--candidates":
          candidates = option.value.split(separator: ",").compactMap { Int($0) }
          if candidates.isEmpty { throw option.refusal }
        default: throw option.refusal
        }
      }
    }
  }
#endif
