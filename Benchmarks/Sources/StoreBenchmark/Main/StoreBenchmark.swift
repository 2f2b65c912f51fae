import BenchmarkFigures
import CRawLMDB
import Foundation

/// Compares Lodestore, raw LMDB in C, SQLite in C and GRDB with the same records in one run.
///
/// `tools/bench` builds and runs this program; `--help` and the package's README describe it. If
/// the sides find or leave different records, the run ends with an error.
@main
struct StoreBenchmark {
  // An asynchronous `main` cannot be used: valgrind 3.19 fails when the main thread of such a
  // program ends. Valgrind also fails with the threads of tasks, so the tasks run on the calling
  // thread.
  static func main() {
    if CommandLine.arguments.contains("--instructions") {
      let thread = CallingThread()
      Task.detached(executorPreference: thread) {
        await runAsAsked()
        thread.end()
      }
      thread.run()
    } else {
      let isOver = DispatchSemaphore(value: 0)
      Task.detached {
        await runAsAsked()
        isOver.signal()
      }
      isOver.wait()
    }
  }

  private static func runAsAsked() async {
    do {
      let given = CommandLine.arguments.dropFirst()
      guard !given.contains("--help") else { return print(Arguments.usage) }
      try await run(Arguments(Array(given)))
    } catch {
      FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) async throws {
    if arguments.listsOnly { return list(arguments) }
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("lodestore-bench-\(ProcessInfo.processInfo.processIdentifier)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    if arguments.measuresScale {
      return try ScaleBenchmark.run(arguments, directory: directory)
    }
    if arguments.measuresLatency {
      return try await LatencyBenchmark.run(arguments, directory: directory)
    }
    let callgrind = arguments.countsInstructions ? try Callgrind() : nil
    if arguments.measuresQueries {
      guard try QueryBenchmark.run(arguments, directory: directory, callgrind: callgrind) else {
        throw BenchmarkError("SQLite answers some queries differently")
      }
      return
    }
    if let pages = arguments.pages {
      return try await PodspecImport.run(
        pages: pages, records: arguments.records ?? 11_028, directory: directory,
        runs: arguments.runs, only: arguments.only)
    }
    let operations = try chosenOperations(arguments)
    let runs = callgrind == nil ? arguments.runs : 1
    let workload = Workload(count: arguments.recordCount)
    let sides = try chosenSides(arguments, workload)
    var report = Report(workload, runs: runs, sides: sides.map(\.name))
    report.printHead()
    let runner = Runner(
      workload: workload, sides: sides, operations: operations, directory: directory,
      callgrind: callgrind)
    for number in 0..<runs { try await runner.run(number, of: runs, into: &report) }
    report.printTables()
    if let path = arguments.jsonPath { try report.writeJSON(to: path) }
  }

  private static func list(_ arguments: Arguments) {
    let amounts = Amounts(records: arguments.recordCount)
    for operation in Operation.allCases {
      print(operation.rawValue.padded(to: 20), operation.title(amounts))
    }
    let names = allSides(Workload(count: 100), isCounting: false).map(\.name)
    print("\nsides: \(names.joined(separator: ", "))")
  }

  // MARK: Choice

  private static func chosenOperations(_ arguments: Arguments) throws -> [Operation] {
    let named = try arguments.only.map { name in
      guard let operation = Operation(rawValue: name) else {
        throw BenchmarkError("there is no operation '\(name)'; --list has them all")
      }
      return operation
    }
    let chosen = named.isEmpty ? Operation.allCases : named
    return arguments.countsInstructions ? chosen.filter(\.countsInstructions) : chosen
  }

  private static func chosenSides(
    _ arguments: Arguments, _ workload: Workload
  ) throws -> [any Side] {
    let all = allSides(workload, isCounting: arguments.countsInstructions)
    for name in arguments.sides where !all.contains(where: { $0.name == name }) {
      throw BenchmarkError("there is no side '\(name)' in this build; --list has them all")
    }
    return all.filter { arguments.sides.isEmpty || arguments.sides.contains($0.name) }
  }

  /// The sides that the package's traits include.
  private static func allSides(_ workload: Workload, isCounting: Bool) -> [any Side] {
    // Valgrind refuses maps of the usual size, 64 GiB.
    let mapSize = isCounting ? 2 << 30 : 64 << 30
    var sides: [any Side] = [
      LodestoreSide(workload: workload, mapSize: mapSize),
      RawSide(name: limitName, workload: workload, engine: raw_lmdb, mapSize: mapSize),
      RawSide(name: "lmdb-naive", workload: workload, engine: raw_lmdb_naive, mapSize: mapSize),
    ]
    sides += sqliteSides(workload)
    sides += grdbSides(workload)
    return sides
  }
}
