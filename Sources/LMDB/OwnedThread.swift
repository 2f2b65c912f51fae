import LodestoreSystem
import Synchronization

/// A thread that runs the asynchronous calls of its tasks by itself, for simulations.
///
/// A simulation runs all its tasks on one thread. Each call of a store by such a task runs at once
/// on that thread. The simulation decides when the task receives the result. The order of all steps
/// then does not depend on the threads of stores. Stores take the time of their writes from the
/// simulation, too.
package final class OwnedThread: Sendable {
  /// Whether any thread of the process is owned.
  private static let isUsed = Atomic(false)
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  private let now: @Sendable () -> Double
  private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// - Parameters:
  ///   - now: Returns the time of the calendar, in seconds since 2001.
  ///   - later: Receives a closure that resumes the caller of a call, to run it later on the same
  ///     thread.
  package init(
    now: @escaping @Sendable () -> Double,
    later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    self.now = now
    self.later = later
  }

  /// Owns the calling thread while `body` runs.
  package func own<R>(_ body: () throws -> R) rethrows -> R {
    Self.isUsed.store(true, ordering: .relaxed)
    let earlier = pthread_getspecific(Self.key)
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(Self.key, earlier) }
    return try body()
  }

  /// The owner of the calling thread; `nil` for most threads.
  static var current: OwnedThread? {
    guard isUsed.load(ordering: .relaxed), let found = pthread_getspecific(key) else { return nil }
    return Unmanaged<OwnedThread>.fromOpaque(found).takeUnretainedValue()
  }

  /// The time of the calendar, in seconds since 2001, if the calling thread is owned.
  package static var time: Double? { current?.now() }

  /// Resumes the caller of a call when the simulation wants it.
  func resume<R: Sendable>(
    _ caller: UnsafeContinuation<R, any Error>, with result: Result<R, any Error>
  ) {
    later { caller.resume(with: result) }
  }
}
