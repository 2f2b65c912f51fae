#if Replicas
  import BenchmarkFigures
  import EntityStore
  import Foundation
  import LodestoreReplicas

  /// Measures the cost of a writer for the commits of its store, and its lag.
  struct ShippingBenchmark {
    let arguments: Arguments
    let places: Places

    /// The figures of one run.
    private struct Run {
      var rate = 0.0
      /// The processor time of the process for each commit, in seconds.
      var processorTime = 0.0
      var ages: [Double] = []
      var status = ReplicaWriterStatus?.none
    }

    func run() async throws {
      var (plain, replicated): ([Run], [Run]) = ([], [])
      for round in 0..<arguments.rounds {
        // The first run of a pair alternates, because the disk may be busier for the first run.
        let runs = round % 2 == 0 ? [false, true] : [true, false]
        for hasWriter in runs {
          let run = try await measure(hasWriter: hasWriter, rate: nil)
          if hasWriter { replicated.append(run) } else { plain.append(run) }
        }
      }
      let rates = (plain.map(\.rate).median, replicated.map(\.rate).median)
      let times = (plain.map(\.processorTime).median, replicated.map(\.processorTime).median)
      print(
        """

        Commits of one record by \(arguments.tasks) tasks, as many as possible, medians of \
        \(arguments.rounds)
          without a writer    \(Int(rates.0).grouped) a second (\(range(plain.map(\.rate))))
          with a writer       \(Int(rates.1).grouped) a second (\(range(replicated.map(\.rate))))
          throughput lost     \(percent(1 - rates.1 / rates.0))
          processor time      \(micros(times.0)) and \(micros(times.1)) a commit, of all threads
        """)
      describe(replicated.last)
      print(
        """

        Commits of one record by \(arguments.tasks) tasks, \(arguments.rate.grouped) a second
        """)
      let still = try await measure(hasWriter: false, rate: arguments.rate)
      let paced = try await measure(hasWriter: true, rate: arguments.rate)
      print(
        """
          without a writer    \(Int(still.rate).grouped) a second, \(micros(still.processorTime)) \
        of processor time a commit
          with a writer       \(Int(paced.rate).grouped) a second, \(micros(paced.processorTime)) \
        of processor time a commit
        """)
      describe(paced)
    }

    private func describe(_ run: Run?) {
      guard let run, let status = run.status else { return }
      let bytes = Double(status.entryBytesSent) / Double(max(status.changesSent, 1))
      let traffic = status.traffic
      print(
        """
          lag                 50 % \(millis(run.ages.part(0.5))), 99 % \
        \(millis(run.ages.part(0.99))), longest \(millis(run.ages.last ?? 0))
          entries             \(Int(status.slot).grouped) slots, \
        \(Int(status.changesSent).grouped) changes, \
        \(String(format: "%.1f", bytes)) bytes a change
          requests            \(traffic.reads.grouped) reads, \(traffic.writes.grouped) writes, \
        \(traffic.deletions.grouped) deletions, \(traffic.failures.grouped) failures
        """)
    }

    private func measure(hasWriter: Bool, rate: Int?) async throws -> Run {
      let folder = try places.folder("shipping")
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let store = try Item.store(at: "\(folder)/store.lodestore")
      defer { store.close() }
      // The first commits create trees, and are not measured.
      try await store.insert((0..<1_000).map { Item(number: $0) })
      let load = CommitLoad(store, first: 1_000, rate: rate)
      var run = Run()
      guard hasWriter else {
        let start = ProcessorTime.now
        run.rate = try await load.run(tasks: arguments.tasks, seconds: arguments.seconds)
        run.processorTime = (ProcessorTime.now - start) / (run.rate * arguments.seconds)
        return run
      }
      let writer = try await Replica.writer(store, to: try places.bucket("shipped"))
      try await writer.flush()
      let samples = LagSamples()
      let watch = Task { await samples.watch(writer) }
      let start = ProcessorTime.now
      run.rate = try await load.run(tasks: arguments.tasks, seconds: arguments.seconds)
      run.processorTime = (ProcessorTime.now - start) / (run.rate * arguments.seconds)
      try await writer.flush()
      watch.cancel()
      await watch.value
      run.ages = samples.ages
      run.status = writer.status
      if let end = writer.status.end { throw end }
      try await writer.stop()
      return run
    }

    private func range(_ rates: [Double]) -> String {
      "\(Int(rates.min() ?? 0).grouped) to \(Int(rates.max() ?? 0).grouped)"
    }
  }
#endif
