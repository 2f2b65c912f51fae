#if Search
  SearchBenchmark.runAsAsked()
#endif
