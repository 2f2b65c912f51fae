#if Replicas
  import BenchmarkFigures
  import EntityStore
  import Foundation
  import LodestoreReplicas

  /// Measures writers, followers and restores of replicas in one run.
  enum ReplicaBenchmark {
    static func run() async {
      do {
        try await run(Arguments(Array(CommandLine.arguments.dropFirst())))
      } catch {
        FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
        exit(1)
      }
    }

    private static func run(_ arguments: Arguments) async throws {
      let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("replica-bench-\(ProcessInfo.processInfo.processIdentifier)").path
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      print("processors: \(ProcessInfo.processInfo.activeProcessorCount); load: \(loadAverage)")
      for place in arguments.places {
        let places = Places(directory: directory, address: place)
        print("\n== Storage: \(place ?? "a folder")")
        if arguments.parts.contains(.shipping) {
          try await ShippingBenchmark(arguments: arguments, places: places).run()
        }
        if arguments.parts.contains(.applying) {
          try await ApplyingBenchmark(arguments: arguments, places: places).run()
        }
      }
      print("\nload at the end: \(loadAverage)")
    }
  }

  /// The parts of a run.
  enum Part: String, CaseIterable {
    /// A store with a writer in comparison with one without.
    case shipping
    /// The start of a follower, the changes that it applies, and a restore.
    case applying
  }

  struct Arguments {
    var parts = Set(Part.allCases)
    /// The addresses of S3-compatible services; `nil` stands for a local folder.
    var places: [String?] = [nil]
    /// The number of records of the base.
    var records = 1_000_000
    var rounds = 5
    var seconds = 5.0
    /// The commits a second of the paced run.
    var rate = 10_000
    /// The number of tasks that commit at the same time.
    var tasks = 64
    /// The name of the only kind of changes to apply.
    var changes: String?

    static let usage = """
      usage: tools/bench --replicas [--only=PART,…] [--s3=ADDRESS,…] [--records=N] [--rounds=N]
                                    [--seconds=N] [--rate=N] [--tasks=N] [--changes=NAME]

        --only=PART,…   shipping, applying; both
        --s3=ADDRESS,…  also these services, with the bucket and a prefix; the environment has
                        the keys
        --records=N     the records of the base that a follower starts from; 1,000,000
        --rounds=N      medians of N runs without a writer and N with one; 5
        --seconds=N     the time of each of these runs; 5
        --rate=N        the commits a second of the paced run; 10,000
        --tasks=N       so many tasks commit at the same time; 64
        --changes=NAME  applies only these changes
      """

    init(_ arguments: [String]) throws {
      for option in try BenchmarkOption.all(in: arguments, of: "--replicas", usage: Self.usage) {
        switch option.name {
        case "--only": parts = try option.parts()
        case "--s3": places += option.value.split(separator: ",").map { String($0) }
        case "--records": records = try option.number()
        case "--rounds": rounds = try option.number()
        case "--seconds": seconds = Double(try option.number())
        case "--rate": rate = try option.number()
        case "--tasks": tasks = try option.number()
        case "--changes": changes = option.value
        default: throw option.refusal
        }
      }
    }
  }
#endif
