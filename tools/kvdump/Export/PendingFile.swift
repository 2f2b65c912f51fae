#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The temporary file of this process that a signal is to take away.
///
/// `path` is written by the thread that runs the command, before and after the file is there; a
/// signal handler reads it. Only `kvdump` itself watches: tests run commands beside each other.
enum PendingFile {
  nonisolated(unsafe) private static var path: UnsafeMutablePointer<CChar>?
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

  /// From now on the file at `name` is to be taken away; nil is none.
  static func set(_ name: String?) {
    guard isWatched else { return }
    let old = path
    path = name.flatMap { strdup($0) }
    free(old)
  }

  /// Only what is allowed in a signal handler.
  static func remove() {
    if let path { unlink(path) }
  }
}
