#if Postgres
  import BenchmarkFigures
  import EntityStore
  import Foundation
  import LodestorePostgres

  /// Measures the copies between a store and a PostgreSQL server, which runs on the same machine.
  struct PostgresBenchmark {
    let arguments: Arguments
    let directory: String

    static func runAsAsked() async {
      do {
        let given = Array(CommandLine.arguments.dropFirst())
        guard !given.contains("--help") else { return print(Arguments.usage) }
        let name = "postgres-bench-\(ProcessInfo.processInfo.processIdentifier)"
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(
          atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await PostgresBenchmark(arguments: Arguments(given), directory: directory).run()
      } catch {
        FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
        exit(1)
      }
    }

    private func run() async throws {
      let processors = ProcessInfo.processInfo.activeProcessorCount
      print("processors, of this program and the server: \(processors); load: \(loadAverage)")
      try makeTable()
      if arguments.parts.contains(.copying) { try await measureCopies() }
      if arguments.parts.contains(.applying) || arguments.parts.contains(.pushing) {
        let store = try newStore()
        defer { store.close() }
        try await follow(into: store)
        if arguments.parts.contains(.applying) { try await measureChanges(store) }
        try await source.dropSlot()
        if arguments.parts.contains(.pushing) { try await measurePushes(store) }
      }
      print("\nload at the end: \(loadAverage)")
    }

    private var source: PostgresSource {
      var source = PostgresSource(
        arguments.connection, slot: "lodestore_bench", tables: [PostgresTable("bench")])
      if let size = arguments.groupSize { source.options.groupSize = size }
      return source
    }

    private func newStore() throws -> Store {
      let path = "\(directory)/store.lodestore"
      for name in [path, path + "-lock"] { try? FileManager.default.removeItem(atPath: name) }
      return try Store(at: path, entities: [])
    }

    // MARK: Copies

    private func measureCopies() async throws {
      print("\nCopies of \(arguments.records.grouped) rows of 7 columns into a new store")
      var rates: [Double] = []
      for round in 1...arguments.rounds {
        let store = try newStore()
        defer { store.close() }
        let (start, processor) = (ContinuousClock.now, ProcessorTime.now)
        let follower = source.follow(into: store)
        try await waitForCopy(follower)
        let seconds = start.duration(to: .now).inSeconds
        let rows = follower.status.copiedRows
        guard rows == arguments.records else { throw BenchmarkError("\(rows) rows were copied") }
        printTime("copy \(round)", rows, seconds, ProcessorTime.now - processor)
        rates.append(Double(rows) / seconds)
        await follower.stop()
        try await source.dropSlot()
      }
      print("  median: \(Int(rates.median).grouped) rows a second")
    }

    /// Waits until a follower has no rows to copy.
    private func waitForCopy(_ follower: PostgresFollower) async throws {
      while true {
        switch follower.status.phase {
        case .following: return
        case .stopped: return try await follower.finished()
        case .waiting(_, let error): throw error
        default: try await Task.sleep(for: .milliseconds(2))
        }
      }
    }

    // MARK: Changes

    /// Follows until the store has all changes of the table.
    ///
    /// - Returns: The number of changes; the wall time and the processor time from the start of the
    ///   replication, in seconds.
    @discardableResult
    private func follow(
      into store: Store
    ) async throws -> (changes: Int, wall: Double, processor: Double) {
      let text = try psql("SELECT pg_current_wal_lsn()")
      guard let end = LogPosition(text) else { throw BenchmarkError("'\(text)' is no position") }
      let follower = source.follow(into: store)
      try await waitForCopy(follower)
      let (start, processor) = (ContinuousClock.now, ProcessorTime.now)
      try await follower.catchUp(to: end)
      let times = (start.duration(to: .now).inSeconds, ProcessorTime.now - processor)
      await follower.stop()
      return (follower.status.appliedChanges, times.0, times.1)
    }

    /// Measures the application of changes that the server has committed before.
    private func measureChanges(_ store: Store) async throws {
      print("\nChanges that are in the server's log, of which the server decodes each")
      for changes in TableChanges.all(arguments.records) {
        try psql(changes.command)
        let applied = try await follow(into: store)
        guard applied.changes == changes.count else {
          throw BenchmarkError("\(applied.changes) of \(changes.count) changes were applied")
        }
        printTime(changes.name, changes.count, applied.wall, applied.processor)
      }
    }

    // MARK: Pushes

    private func measurePushes(_ store: Store) async throws {
      print("\nPushes of the store into an empty schema")
      try psql("CREATE SCHEMA bench_sink")
      let sink = PostgresSink(arguments.connection, schema: "bench_sink")
      let (start, processor) = (ContinuousClock.now, ProcessorTime.now)
      let push = try await sink.push(store)
      printTime(
        "all records", push.sentRecords, start.duration(to: .now).inSeconds,
        ProcessorTime.now - processor)
      let (rows, pushed) = (try totals("public"), try totals("bench_sink"))
      guard rows == pushed else {
        throw BenchmarkError("the table has \(rows), and the database received \(pushed)")
      }
    }

    private func totals(_ schema: String) throws -> String {
      try psql("SELECT count(*), sum(hits), sum(amount), max(at) FROM \(schema).bench")
    }
  }
#endif
