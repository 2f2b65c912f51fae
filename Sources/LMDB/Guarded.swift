import LodestoreSystem

/// A value protected by a lock.
///
/// `Synchronization.Mutex` is not used, because the thread sanitizer cannot see its futex on Linux.
/// The sanitizer would report every use, and suppressing the reports would hide real races.
///
/// `@unchecked Sendable`: `value` is accessed only while `lock` is held.
package final class Guarded<Value>: @unchecked Sendable {
  private let lock = ManualLock()
  // The value is allocated separately, because Swift would check each access to a stored property
  // for exclusivity.
  private let value: UnsafeMutablePointer<Value>

  package init(_ initial: sending Value) {
    value = .allocate(capacity: 1)
    value.initialize(to: initial)
  }

  deinit {
    value.deinitialize(count: 1)
    value.deallocate()
  }

  @inline(__always)
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value.pointee)
  }
}
