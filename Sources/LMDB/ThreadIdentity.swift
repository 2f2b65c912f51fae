import LodestoreSystem
import Synchronization

/// A number for the calling thread, never 0.
///
/// Compare it only within one synchronous call. The compiler treats `pthread_self` as a constant
/// and would merge two calls on either side of a suspension.
@inline(never)
package func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

/// The id of this process.
package func currentProcess() -> Int32 { getpid() }

/// Counts the forks of this process in the child, so that an environment can detect that it was
/// inherited.
///
/// This is faster than requesting the process id in every transaction.
enum ForkCounter {
  private static let count = Atomic<Int>(0)
  private static let isInstalled: Bool = {
    pthread_atfork(nil, nil) { ForkCounter.count.add(1, ordering: .relaxed) }
    return true
  }()

  static var current: Int { isInstalled ? count.load(ordering: .relaxed) : 0 }

  /// Imitates a fork, for tests.
  ///
  /// Swift cannot fork, and a child of `posix_spawn` inherits nothing.
  static func imitateFork() { count.add(1, ordering: .relaxed) }
}
