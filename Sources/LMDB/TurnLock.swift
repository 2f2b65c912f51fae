#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock that threads get in the order in which they asked for it.
///
/// With a plain one, a thread that gives it back and at once asks again has it before another one
/// has woken up: a busy writer would keep all others of its process out.
///
/// Guarded by `mutex`: `nextTicket`, the one that the next thread draws; `served`, that of the
/// holder, equal to `nextTicket` when there is none; `abandoned`, those of threads that gave up.
final class TurnLock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let turn = TimedCondition()
  private var nextTicket: UInt64 = 0
  private var served: UInt64 = 0
  private var abandoned: Set<UInt64> = []

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let ticket = drawTicket()
    while served != ticket { turn.wait(mutex) }
  }

  /// Returns false, without the lock, when its turn does not come in time.
  func lock(withinSeconds seconds: Double) -> Bool {
    let deadline = monotonicSeconds() + seconds
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let ticket = drawTicket()
    while served != ticket {
      let left = deadline - monotonicSeconds()
      guard left > 0 else {
        abandoned.insert(ticket)
        return false
      }
      turn.wait(mutex, seconds: left)
    }
    return true
  }

  func unlock() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    repeat { served += 1 } while !abandoned.isEmpty && abandoned.remove(served) != nil
    if served != nextTicket { turn.broadcast() }
  }

  /// How often it was asked for.
  var ticketCount: UInt64 {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return nextTicket
  }

  private func drawTicket() -> UInt64 {
    defer { nextTicket += 1 }
    return nextTicket
  }
}
