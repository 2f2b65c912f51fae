import LodestoreSystem

/// A value behind a lock.
///
/// Not `Synchronization.Mutex`, whose futex the thread sanitizer does not see on Linux: it would report every
/// use, and passing over those would hide races of our own.
///
/// `@unchecked Sendable`: `value` is touched only while `lock` is held.
package final class Guarded<Value>: @unchecked Sendable {
  private let lock = HeldLock()
  // Behind a pointer, so that no exclusivity check is made on the path of every read transaction.
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
