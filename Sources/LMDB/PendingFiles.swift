import LodestoreSystem
import Synchronization

/// The temporary files of this process that a signal is to take away, whoever makes them.
///
/// No handler misses a file that is being made: either the handler waits until the file is there, or the
/// thread that makes it finds that the process is ending, and makes none. Only in a program that calls
/// ``watch()``: a library leaves signals alone.
package enum PendingFiles {
  /// Of each file its names, with a zero byte behind each and one more behind the last; nil while
  /// nobody watches.
  ///
  /// Not isolated, as a signal handler cannot wait for a lock: set once, before there are other
  /// threads; its elements change only on the thread that is ``busyThread``.
  nonisolated(unsafe) private static var slots:
    UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>?
  /// More than a command makes at once.
  private static let capacity = 32
  /// The thread that changes the slots or makes a file at this moment; 0 when none does.
  private static let busyThread = Atomic<UInt>(0)
  private static let isEnding = Atomic<Bool>(false)

  /// Called once, before there are files and other threads.
  package static func watch() {
    let new = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: capacity)
    new.initialize(repeating: nil)
    slots = new
    // A handler may not be the first to ask for what is made when it is asked for.
    _ = (busyThread.load(ordering: .relaxed), isEnding.load(ordering: .relaxed))
  }

  /// Makes a file that has these names, or is to have them, so that no handler misses it.
  ///
  /// Does not return when the process is ending. What it returns is for ``remove(_:)``.
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

  /// The file is gone, or has its own name.
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

  /// Takes all files away, for good; only what is allowed in a signal handler.
  package static func unlinkAll() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    // Some seconds: on a dead file system the making of a file may never end.
    for _ in 0..<5_000 {
      let busy = busyThread.load(ordering: .sequentiallyConsistent)
      // A handler on that thread itself has stopped it.
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
