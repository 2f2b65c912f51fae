import LodestoreSystem

/// A lock that a thread holds across calls, unlike `Mutex`, which wants a closure.
///
/// With it a thread can wait for a ``TimedCondition``.
/// One thread locks and the same one unlocks.
package final class HeldLock: @unchecked Sendable {
  // The pointer never changes; what it points to is the lock.
  fileprivate let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }
}

/// A condition variable whose timed waits do not follow changes of the time of day.
///
/// Otherwise a clock that is set back by an hour makes a wait of a second one of an hour.
final class TimedCondition: @unchecked Sendable {
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  init() {
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
  }

  /// With `lock` held, which is released meanwhile.
  func wait(_ lock: HeldLock) { pthread_cond_wait(condition, lock.mutex) }

  /// The same, for so long at most.
  func wait(_ lock: HeldLock, seconds: Double) {
    var time = timespec()
    #if canImport(Darwin)
      time.tv_sec = Int(seconds)
      time.tv_nsec = Int((seconds - seconds.rounded(.down)) * 1e9)
      pthread_cond_timedwait_relative_np(condition, lock.mutex, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC, &time)
      let nanoseconds = time.tv_nsec + Int(seconds * 1e9)
      time.tv_sec += nanoseconds / 1_000_000_000
      time.tv_nsec = nanoseconds % 1_000_000_000
      pthread_cond_timedwait(condition, lock.mutex, &time)
    #endif
  }

  func signal() { pthread_cond_signal(condition) }

  func broadcast() { pthread_cond_broadcast(condition) }
}
