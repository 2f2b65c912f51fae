#if Replicas
  await ReplicaBenchmark.run()
#else
  print("ReplicaBenchmark was built without the trait Replicas; use tools/bench --replicas")
#endif
