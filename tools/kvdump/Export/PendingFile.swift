import LMDB
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The temporary files of this process that a signal is to take away.
///
/// The thread that runs the command says which there are; a signal handler, perhaps on another thread, removes
/// them. A file is made while no handler can look past it: either the handler waits until it is there, or the
/// thread finds that the process is ending, and makes none. Only `kvdump` itself watches: tests run commands
/// beside each other.
enum PendingFile {
  /// Names with a zero byte behind each, and one more behind the last.
  nonisolated(unsafe) private static var names: UnsafeMutablePointer<CChar>?
  nonisolated(unsafe) private static var isWatched = false
  /// The thread that changes the names or makes a file at this moment; 0 when none does.
  private static let busyThread = Atomic<UInt>(0)
  private static let isEnding = Atomic<Bool>(false)

  /// Called once, at the start of the program.
  static func removeOnSignals() {
    isWatched = true
    // A handler may not be the first to ask for what is made when it is asked for.
    _ = (busyThread.load(ordering: .relaxed), isEnding.load(ordering: .relaxed))
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let previous = signal(number) { number in
        PendingFile.remove()
        signal(number, SIG_DFL)
        raise(number)
      }
      // What nohup ignores stays ignored; 1 is what the C headers have for it.
      if unsafeBitCast(previous, to: Int.self) == 1 { signal(number, SIG_IGN) }
    }
  }

  /// From now on the files at `paths`, with what goes with each, are to be taken away; `make` makes one of them.
  ///
  /// Does not return when the process is ending.
  static func set(_ paths: [String], by make: () -> Void = {}) {
    guard isWatched else { return make() }
    busyThread.store(currentThread(), ordering: .sequentiallyConsistent)
    guard !isEnding.load(ordering: .sequentiallyConsistent) else { waitForTheEnd() }
    let old = names
    let bytes = paths.flatMap { TemporaryFile.names(of: $0) }.flatMap { Array($0.utf8CString) }
    let new = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { new[index] = byte }
    new[bytes.count] = 0
    names = new
    old?.deallocate()
    make()
    busyThread.store(0, ordering: .sequentiallyConsistent)
  }

  private static func waitForTheEnd() -> Never {
    busyThread.store(0, ordering: .sequentiallyConsistent)
    while true { pause() }
  }

  /// Only what is allowed in a signal handler.
  static func remove() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    while true {
      let busy = busyThread.load(ordering: .sequentiallyConsistent)
      // A handler on that thread itself has stopped it.
      if busy == 0 || busy == currentThread() { break }
      poll(nil, 0, 1)
    }
    guard var name = names else { return }
    while name.pointee != 0 {
      unlink(name)
      name += strlen(name) + 1
    }
  }
}
