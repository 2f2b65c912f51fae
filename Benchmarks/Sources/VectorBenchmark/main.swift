#if Vectors
  VectorBenchmark.runAsAsked()
#endif
