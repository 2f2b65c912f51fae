#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

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

  /// With `mutex` held, which is released meanwhile.
  func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) { pthread_cond_wait(condition, mutex) }

  /// The same, for so long at most.
  func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, seconds: Double) {
    var time = timespec()
    #if canImport(Darwin)
      time.tv_sec = Int(seconds)
      time.tv_nsec = Int((seconds - seconds.rounded(.down)) * 1e9)
      pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC, &time)
      let nanoseconds = time.tv_nsec + Int(seconds * 1e9)
      time.tv_sec += nanoseconds / 1_000_000_000
      time.tv_nsec = nanoseconds % 1_000_000_000
      pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }

  func signal() { pthread_cond_signal(condition) }

  func broadcast() { pthread_cond_broadcast(condition) }
}
