import LodestoreSystem
import Synchronization

/// The temporary files of this process that a signal handler must remove.
///
/// A handler never misses a file that is being created. Either the handler waits until the file
/// exists, or the creating thread notices that the process is ending and creates none. The removal
/// works only in a program that calls ``watch()``, because a library does not touch signals.
package enum PendingFiles {
  /// The names of each file, with a zero byte after each and one more after the last; `nil` before
  /// ``watch()``.
  ///
  /// The slots are not isolated, because a signal handler cannot wait for a lock. The slots are
  /// created once, before there are other threads. Only the thread in ``busyThread`` changes
  /// elements.
  nonisolated(unsafe) private static var slots:
    UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>?
  /// The number of slots, more than a command needs at once.
  private static let capacity = 32
  /// The thread that is changing the slots or creating a file; 0 for none.
  private static let busyThread = Atomic<UInt>(0)
  private static let isEnding = Atomic<Bool>(false)

  /// Starts to record the temporary files of this process.
  ///
  /// Call it once, before there are files and other threads.
  package static func watch() {
    let new = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: capacity)
    new.initialize(repeating: nil)
    slots = new
    // These statics are initialized at their first use, which must not be in a signal handler.
    _ = (busyThread.load(ordering: .relaxed), isEnding.load(ordering: .relaxed))
  }

  /// Creates a file and registers its names, so that a handler of the process end removes it.
  ///
  /// The call does not return if the process is ending. Pass the result to ``remove(_:)``.
  static func add(_ names: [String], by make: () -> Void) -> Int? {
    guard let slots else {
      make()
      return nil
    }
    let bytes = names.flatMap { Array($0.utf8CString) }
    let new = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { new[index] = byte }
    new[bytes.count] = 0
    begin()
    defer { end() }
    let slot = slots.firstIndex { $0 == nil }
    if let slot { slots[slot] = new } else { new.deallocate() }
    make()
    return slot
  }

  /// Forgets a file that is removed or has its final name.
  static func remove(_ slot: Int?) {
    guard let slots, let slot else { return }
    begin()
    defer { end() }
    let old = slots[slot]
    slots[slot] = nil
    old?.deallocate()
  }

  private static func begin() {
    let thread = currentThread()
    while !busyThread.compareExchange(
      expected: 0, desired: thread, ordering: .sequentiallyConsistent
    ).exchanged { sched_yield() }
    guard isEnding.load(ordering: .sequentiallyConsistent) else { return }
    end()
    while true { pause() }
  }

  private static func end() { busyThread.store(0, ordering: .sequentiallyConsistent) }

  /// Removes all files and prevents new ones.
  ///
  /// The code calls only functions that a signal handler may call.
  package static func unlinkAll() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    // The wait is limited to some seconds: on a dead file system the creation of a file may never
    // end.
    for _ in 0..<5_000 {
      let busy = busyThread.load(ordering: .sequentiallyConsistent)
      // A handler that runs on the creating thread has interrupted that thread, so waiting for it
      // would never end.
      if busy == 0 || busy == currentThread() { break }
      poll(nil, 0, 1)
    }
    guard let slots else { return }
    for slot in slots {
      guard var name = slot else { continue }
      while name.pointee != 0 {
        unlink(name)
        name += strlen(name) + 1
      }
    }
  }
}
