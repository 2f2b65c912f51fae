public import EntityStore
internal import Foundation
internal import Synchronization

/// A dataset that a program carries or fetches, reads offline, and replaces as a whole with a newer
/// one.
///
///     let pods = try CachedDataset(
///       "pods", in: cacheFolder, entities: [Podspec.self], seed: seedPath,
///       origin: .published(at: url, trusting: try TrustedKeys("1:…")))
///     pods.keepFresh()
///     let count = try pods.currentStore.count(Podspec.all)
///
/// The data comes in *generations*, sealed files that are never written to. A refresh puts a newer
/// file next to the current one, checks it, and makes it current in one step. Readers of the old
/// generation keep it; the next use gets the new one. A process that is killed at any moment leaves
/// the old generation or the new one, complete.
///
/// Any number of processes may use the same folder. One of them refreshes at a time, and the others
/// notice the new generation at their next use. Opening a dataset and reading existing data make no
/// connection.
///
/// Old data is served with its ``DatasetAge``. A program can refuse data above an age with
/// ``Options/refusesOlder(than:)``.
///
/// Errors are ``DatasetError``; ``DatasetError/side`` says whether the network, the publisher, a
/// signature, a file or the program is at fault. All calls may be made from any thread.
public final class CachedDataset: Sendable {
  /// The dataset's name.
  public let name: String
  /// The folder with the dataset's files.
  public let path: String
  let origin: DatasetOrigin
  let options: Options
  let content: CacheContent
  /// The mutable state of this object.
  ///
  /// Its lock is also held while files are opened, so that only one thread opens them.
  private let shared = Mutex(Shared())
  let notifier = GenerationNotifier()
  let memory = RefreshMemory()

  private struct Shared {
    var stamp: SystemFile.Stamp?
    var isLoaded = false
    /// The time at which a generation is chosen again, if the best one could not be used.
    var nextTry: ContinuousClock.Instant?
    var state = CacheState(name: "")
    var seed: OpenGeneration?
    var choice = CacheContent.Choice()
    var run: RefreshRun?
    var keeper: Task<Void, Never>?

    /// Forgets the open generation after the program has closed its store, so that the next use
    /// opens the generation again.
    mutating func closeOpen() {
      choice.open = nil
      if seed?.isClosed == true { seed = nil }
      isLoaded = false
    }
  }

  /// Opens a dataset without a connection, and creates its folder if needed.
  ///
  /// - Parameters:
  ///   - name: The dataset's name in its seals: letters, digits, `-`, `_` and `.`.
  ///   - folder: The folder in which the dataset gets a folder of its own name. One folder may hold
  ///     many datasets.
  ///   - entities: The entities that the program reads.
  ///   - seed: The path of a sealed file that came with the program, possibly through symbolic
  ///     links or on a read-only medium. The seed is used in place. It is current until a higher
  ///     generation arrives.
  ///   - origin: The source of newer generations.
  /// - Throws: ``DatasetError`` with the code `unsuitableFolder`, or a system error if the folder
  ///   cannot be created.
  public init(
    _ name: String, in folder: String, entities: [any Entity.Type], seed: String? = nil,
    origin: DatasetOrigin = .none, options: Options = Options()
  ) throws(DatasetError) {
    guard PublishedNames.isDatasetName(name) else { throw .badCacheName(name) }
    self.name = name
    self.origin = origin
    self.options = options
    path = folder + "/" + name
    let files = DatasetFolder(path: path)
    var content = CacheContent(
      name: name, folder: files, seed: seed, entities: entities, storeOptions: options.store,
      carried: origin.keys)
    if case .service = origin.form { content.clock = options.clock }
    self.content = content
    // A folder that is not writable can still serve its data.
    if SystemFile.stamp(of: files.state) == nil {
      do throws(DatasetError) {
        try files.make()
      } catch {
        guard seed != nil else { throw error }
      }
    }
  }

  deinit { stopKeepingFresh() }

  // MARK: The current generation

  /// The store of the current generation, without a connection.
  ///
  /// While no other generation has become current, this costs one system call and an empty read.
  ///
  /// - Throws: The errors of ``current()``.
  public var currentStore: Store {
    get throws { try current().store }
  }

  /// The current generation with its age, without a connection.
  ///
  /// - Throws: ``DatasetError`` with the code `nothingHere` if there is none, `tooOld` because of
  ///   ``Options/refusesOlder(than:)``, or the reason why the only one cannot be used.
  public func current() throws -> DatasetGeneration {
    let generation = try anyAge()
    if let limit = options.oldestData, generation.age.dataAge(at: options.clock()) > limit {
      throw DatasetError.tooOld(name, generation.age, limit: limit, at: options.clock())
    }
    return generation
  }

  /// The current generation, whatever its age.
  func anyAge() throws -> DatasetGeneration {
    let (state, choice) = try loaded()
    guard let open = choice.open else {
      throw choice.unusable ?? .nothingHere(name, state.lastFailure.map { "; \($0.message)" } ?? "")
    }
    var generation = DatasetGeneration(
      store: open.store, number: open.number, source: open.source, age: state.age(of: open))
    generation.unusable = choice.unusable
    generation.contentDigest = open.seal.contentDigest
    return generation
  }

  /// The state of the folder and the open generation.
  ///
  /// State and generation are read again if the folder has changed.
  func loaded() throws -> (state: CacheState, choice: CacheContent.Choice) {
    try shared.withLock { shared in
      // The stamp of the state's file is taken before the file is read. If another process replaces
      // the file between the two, the next use notices it.
      let stamp = SystemFile.stamp(of: content.folder.state)
      if shared.choice.open?.isClosed == true { shared.closeOpen() }
      if shared.isLoaded, stamp == shared.stamp,
        shared.nextTry.map({ ContinuousClock.now < $0 }) ?? true
      {
        return (shared.state, shared.choice)
      }
      let before = shared.choice.open
      func choose() {
        shared.choice = content.choose(shared.state, seed: shared.seed, current: before)
      }
      do {
        shared.state = try content.state()
        choose()
        if shared.choice.unusable?.code == .notFound {
          // Since the state was read, another process may have made a newer generation current and
          // removed the chosen file.
          shared.state = try content.state()
          choose()
        }
      } catch let error as DatasetError {
        // An open generation and the seed can be read even if the folder cannot, so its error is
        // then ignored.
        if before == nil {
          shared.state = CacheState(name: name)
          choose()
          guard shared.choice.open != nil else { throw error }
        }
        shared.choice.unusable = error
      }
      if shared.choice.open == nil { shared.choice.open = before }
      shared.seed = shared.choice.seed ?? shared.seed
      // Some errors, such as too many open files, may soon be over. Damaged bytes stay damaged, and
      // each attempt reads all pages of the file, so the next one comes later.
      shared.nextTry = shared.choice.unusable.map {
        .now + ($0.side == .file ? .seconds(60) : .seconds(1))
      }
      (shared.stamp, shared.isLoaded) = (stamp, true)
      return (shared.state, shared.choice)
    }
  }

  /// Makes the next use of the dataset read the state of the cache folder again.
  func forget() { shared.withLock { $0.isLoaded = false } }

  /// Makes the next use of the dataset read the state of the cache folder again.
  ///
  /// - Parameter open: A generation that is already open and need not be opened again.
  func adopt(_ open: OpenGeneration?) {
    shared.withLock { shared in
      if let open { shared.choice.open = open }
      shared.isLoaded = false
    }
  }

  // MARK: Refreshes of this process

  /// The running refresh.
  ///
  /// If none runs, `make` starts one.
  func run(_ make: () -> RefreshRun) -> RefreshRun {
    shared.withLock { shared in
      if let run = shared.run, !run.hasEnded { return run }
      let run = make()
      shared.run = run
      return run
    }
  }

  /// Ends the running refresh.
  ///
  /// Its callers get the error.
  func stopRun(_ error: DatasetError) {
    shared.withLock { shared in
      defer { shared.run = nil }
      return shared.run
    }?.stop(error)
  }

  /// Replaces the task that keeps the dataset fresh, and ends the previous one.
  func replaceKeeper(_ task: Task<Void, Never>?) {
    let old = shared.withLock { shared in
      defer { shared.keeper = task }
      return shared.keeper
    }
    old?.cancel()
  }
}
