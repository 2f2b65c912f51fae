#if Postgres
  await PostgresBenchmark.runAsAsked()
#else
  print("PostgresBenchmark was built without the trait Postgres; use tools/bench --postgres")
#endif
