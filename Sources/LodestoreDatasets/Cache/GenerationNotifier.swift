internal import Synchronization

/// Notifies tasks that wait for a new generation that another generation may be current.
///
/// A lock guards it.
final class GenerationNotifier: Sendable {
  private struct State {
    var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
    var last = 0
  }

  private let state = Mutex(State())

  fileprivate func add(_ continuation: AsyncStream<Void>.Continuation) -> Int {
    state.withLock { state in
      state.last += 1
      state.waiting[state.last] = continuation
      return state.last
    }
  }

  fileprivate func remove(_ number: Int) {
    state.withLock { _ = $0.waiting.removeValue(forKey: number) }
  }

  /// Notifies all waiting loops that another generation may be current.
  ///
  /// Call it when this process has made another generation current.
  func notify() {
    for continuation in state.withLock({ Array($0.waiting.values) }) { continuation.yield() }
  }
}

/// The notifications for one loop.
///
/// Changes by this process are reported at once. Changes by other processes are found by checking
/// the state file's stamp at intervals.
private final class GenerationWatch: Sendable {
  /// The time between two checks of the state file's stamp.
  private static let interval = Duration.milliseconds(250)

  let notifications: AsyncStream<Void>
  private let number: Int
  private let notifier: GenerationNotifier
  private let watch: Task<Void, Never>

  init(_ notifier: GenerationNotifier, _ path: String) {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.notifier = notifier
    notifications = stream
    number = notifier.add(continuation)
    // The stamp is taken before the task starts. A change between the read of the first generation
    // and the start of the task is then noticed.
    let first = SystemFile.stamp(of: path)
    watch = Task.detached(priority: .utility) {
      var last = first
      while (try? await Task.sleep(for: Self.interval)) != nil {
        let stamp = SystemFile.stamp(of: path)
        if stamp != last { continuation.yield() }
        last = stamp
      }
      continuation.finish()
    }
  }

  deinit {
    watch.cancel()
    notifier.remove(number)
  }
}

/// The current generation of a dataset, and each one that becomes current, by this or another
/// process.
///
///     for try await generation in pods.generations {
///       print(generation.number, generation.age)
///     }
///
/// The first element is the generation that is current when the loop begins, if there is one. While
/// the loop body runs, further generations are merged into one: the newest. The loop ends when its
/// task is cancelled, and keeps the dataset alive.
///
/// The loop waits while there is no generation. Other errors of ``CachedDataset/current()`` end it,
/// such as `tooOld`.
public struct DatasetGenerations: AsyncSequence, Sendable {
  let dataset: CachedDataset

  /// Creates an iterator that begins with the current generation.
  @_documentation(visibility: internal)
  public func makeAsyncIterator() -> Iterator { Iterator(dataset: dataset) }

  /// The facts by which a generation differs from the one before.
  ///
  /// The number is not enough, because other keys may sign other content under the same number.
  private struct Seen: Equatable {
    let number: UInt64
    let source: DatasetGeneration.Source
    let contentDigest: String

    init(_ generation: DatasetGeneration) {
      (number, source) = (generation.number, generation.source)
      contentDigest = generation.contentDigest
    }
  }

  /// Returns one generation after another.
  @_documentation(visibility: internal)
  public struct Iterator: AsyncIteratorProtocol {
    private let dataset: CachedDataset
    private let watch: GenerationWatch
    private var notifications: AsyncStream<Void>.Iterator
    private var last: Seen?

    fileprivate init(dataset: CachedDataset) {
      self.dataset = dataset
      watch = GenerationWatch(dataset.notifier, dataset.content.folder.state)
      notifications = watch.notifications.makeAsyncIterator()
    }

    /// The next generation; `nil` after the task is cancelled.
    ///
    /// - Throws: The errors of ``CachedDataset/current()``, except for `nothingHere`.
    @_documentation(visibility: internal)
    public mutating func next() async throws -> DatasetGeneration? {
      while !Task.isCancelled {
        do {
          let generation = try dataset.current()
          let seen = Seen(generation)
          if seen != last {
            last = seen
            return generation
          }
        } catch let error as DatasetError where error.code == .nothingHere {}
        guard await notifications.next() != nil else { return nil }
      }
      return nil
    }
  }
}

extension CachedDataset {
  /// The current generation, and each one that becomes current, by this or another process.
  public var generations: DatasetGenerations { DatasetGenerations(dataset: self) }
}
