import EntityStore
import Foundation
import LodestoreDatasets
import Synchronization

/// The program that tests of datasets start as further processes.
///
///     dataset-session open FOLDER NAME SEED|-          the current generation
///     dataset-session hold FOLDER NAME                 as open, and keeps its store until standard input ends
///     dataset-session refresh FOLDER NAME SEED|- URL KEYS [STEP COUNT]
///                                                      kills itself the COUNTth time that a refresh makes the step
///     dataset-session install FOLDER NAME FILE [STEP COUNT]
///
/// Each command prints one line: the generation's number and its record count, or the code of the
/// error.
@main struct DatasetSession {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      print(try await run(words))
    } catch let error as DatasetError {
      print(error.code.description)
    } catch {
      print("failed: \(error)")
    }
  }

  private static func run(_ words: [String]) async throws -> String {
    guard words.count >= 3 else { return "usage" }
    let (folder, name) = (words[1], words[2])
    switch words[0] {
    case "open" where words.count == 4:
      return try line(dataset(folder, name, seed: words[3]))
    case "hold":
      let dataset = try dataset(folder, name, seed: "-")
      let generation = try dataset.current()
      print(generation.number)
      fflush(nil)
      while readLine() != nil {}
      let count = try count(generation.store)
      return "\(generation.number) \(count)"
    case "refresh" where words.count >= 6:
      guard let url = URL(string: words[4]) else { return "usage" }
      let dataset = try dataset(
        folder, name, seed: words[3],
        origin: .published(at: url, trusting: try TrustedKeys(words[5])), words.dropFirst(6))
      try await dataset.refresh(now: true)
      return try line(dataset)
    case "install" where words.count >= 4:
      let dataset = try dataset(folder, name, seed: "-", words.dropFirst(4))
      try await dataset.install(fileAt: words[3])
      return try line(dataset)
    default:
      return "usage"
    }
  }

  private static func line(_ dataset: CachedDataset) throws -> String {
    let generation = try dataset.current()
    return "\(generation.number) \(try count(generation.store))"
  }

  private static func count(_ store: Store) throws -> Int {
    store.seal?.recordCounts.values.reduce(0, +) ?? -1
  }

  /// - Parameter death: The step and the count at which the process kills itself; empty for none.
  private static func dataset(
    _ folder: String, _ name: String, seed: String, origin: DatasetOrigin = .none,
    _ death: ArraySlice<String> = []
  ) throws -> CachedDataset {
    var options = CachedDataset.Options()
    options.requestTimeout = .seconds(60)
    if let step = death.first, let count = death.last.flatMap({ Int($0) }) {
      let seen = Mutex(0)
      options.onStep = { made in
        guard made.rawValue == step else { return }
        let number = seen.withLock { seen in
          seen += 1
          return seen
        }
        if number == count { kill(getpid(), SIGKILL) }
      }
    }
    return try CachedDataset(
      name, in: folder, entities: [], seed: seed == "-" ? nil : seed, origin: origin,
      options: options)
  }
}
