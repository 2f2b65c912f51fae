import LMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The temporary files of this process that a signal is to take away.
///
/// `names` is written by the thread that runs the command, before and after the files are there; a
/// signal handler reads it. Only `kvdump` itself watches: tests run commands beside each other.
enum PendingFile {
  /// Names with a zero byte behind each, and one more behind the last.
  nonisolated(unsafe) private static var names: UnsafeMutablePointer<CChar>?
  nonisolated(unsafe) private static var isWatched = false

  /// Called once, at the start of the program.
  static func removeOnSignals() {
    isWatched = true
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

  /// From now on the files at `paths`, with what goes with each, are to be taken away.
  static func set(_ paths: [String]) {
    guard isWatched else { return }
    let old = names
    let bytes = paths.flatMap { TemporaryFile.names(of: $0) }.flatMap { Array($0.utf8CString) }
    let new = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (index, byte) in bytes.enumerated() { new[index] = byte }
    new[bytes.count] = 0
    names = new
    old?.deallocate()
  }

  /// Only what is allowed in a signal handler.
  static func remove() {
    guard var name = names else { return }
    while name.pointee != 0 {
      unlink(name)
      name += strlen(name) + 1
    }
  }
}
