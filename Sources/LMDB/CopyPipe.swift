import LodestoreBytes
import LodestoreSystem

/// Runs LMDB's copy through a pipe, which shows its progress and can end it.
///
/// LMDB writes a copy into a descriptor and returns when it is complete. Here LMDB writes on its
/// own thread into a pipe, and the caller moves the bytes into the file. Closing the pipe ends
/// LMDB's copy with an error.
enum CopyPipe {
  /// The code of a copy that the caller ended.
  static let cancelled = ECANCELED

  private static let chunkSize = 1 << 20

  /// The result of LMDB's thread.
  ///
  /// The caller reads it after joining the thread.
  private final class Outcome: @unchecked Sendable {
    var code: Int32 = 0
  }

  /// Returns 0, the code of the first failure, or ``cancelled``.
  static func run(
    _ copy: @escaping @Sendable (Int32) -> Int32, into file: Int32, step: (_ bytes: Int) -> Bool
  ) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return errno }
    let (output, input) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let result = Outcome()
    let thread = startedThread {
      // Blocking SIGPIPE makes a pipe without a reader an error of the write and not the end of the
      // process.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      result.code = copy(input)
      close(input)
    }
    guard let thread else {
      for end in ends { close(end) }
      return EAGAIN
    }
    let moved = move(from: output, to: file, step)
    close(output)
    pthread_join(thread, nil)
    return moved == 0 ? result.code : moved
  }

  private static func move(
    from output: Int32, to file: Int32, _ step: (_ bytes: Int) -> Bool
  ) -> Int32 {
    let buffer = MutableByteView.allocate(byteCount: chunkSize, alignment: 16)
    defer { buffer.deallocate() }
    var total = 0
    var reported = 0
    while true {
      let count = read(output, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return errno }
      if count == 0 { return step(total) ? 0 : cancelled }
      let code = ByteView(buffer[..<count]).writeAll(to: file)
      guard code == 0 else { return code }
      total += count
      if total - reported >= chunkSize {
        reported = total
        guard step(total) else { return cancelled }
      }
    }
  }
}
