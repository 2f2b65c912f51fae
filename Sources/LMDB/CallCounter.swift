import LodestoreSystem
import Synchronization

/// Counts the asynchronous calls of one thread that have not returned to their tasks.
///
/// A simulation runs all its tasks on one thread, and lets the next task run when the count is 0.
/// The order of its tasks then does not depend on the threads of stores.
package final class CallCounter: Sendable {
  /// Whether any thread of the process has a counter.
  private static let isUsed = Atomic(false)
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  private let count = Atomic(0)

  package init() {}

  /// Makes this the counter of the calling thread while `body` runs.
  package func counting<R>(_ body: () throws -> R) rethrows -> R {
    Self.isUsed.store(true, ordering: .relaxed)
    let earlier = pthread_getspecific(Self.key)
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(Self.key, earlier) }
    return try body()
  }

  /// Waits until all counted calls have returned.
  package func wait() {
    while count.load(ordering: .acquiring) != 0 { sched_yield() }
  }

  /// Begins a call of the calling thread; `nil` if the thread counts none.
  static func begin() -> CallCounter? {
    guard isUsed.load(ordering: .relaxed), let found = pthread_getspecific(key) else { return nil }
    let counter = Unmanaged<CallCounter>.fromOpaque(found).takeUnretainedValue()
    counter.count.add(1, ordering: .relaxed)
    return counter
  }

  /// Ends a call, whose task must have been resumed.
  func end() { count.subtract(1, ordering: .releasing) }
}
