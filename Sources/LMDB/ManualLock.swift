import LodestoreSystem

/// A lock that a thread can hold across calls, unlike `Mutex`, which requires a closure.
///
/// A thread that holds the lock can also wait for a ``TimedCondition``. The thread that locks it
/// must unlock it.
package final class ManualLock: @unchecked Sendable {
  // The pointer never changes and refers to the lock.
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

/// A condition variable whose timed waits ignore changes of the system time.
///
/// Otherwise setting the clock back by an hour would turn a wait of a second into one of an hour.
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

  /// Waits for a signal.
  ///
  /// The caller must hold `lock`. The call releases the lock while it waits.
  func wait(_ lock: ManualLock) { pthread_cond_wait(condition, lock.mutex) }

  /// Waits for a signal for at most `seconds`.
  ///
  /// The caller must hold `lock`. The call releases the lock while it waits.
  func wait(_ lock: ManualLock, seconds: Double) {
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
