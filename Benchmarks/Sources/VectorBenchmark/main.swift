#if Vectors
  import BenchmarkFigures

  runBenchmark(usage: { _ in Arguments.usage }) { arguments, folder in
    try VectorBenchmark(Arguments(arguments), folder).run()
  }
#endif
