#if Search
  import BenchmarkFigures

  runBenchmark(
    usage: { $0.contains("--places") ? PlaceBenchmark.usage : Arguments.usage },
    { arguments, folder in
      if arguments.contains("--places") {
        var benchmark = try PlaceBenchmark(arguments, folder)
        try benchmark.run()
      } else {
        try SearchBenchmark(Arguments(arguments), folder).run()
      }
    })
#endif
