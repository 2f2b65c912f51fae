import LodestoreBytes
import LodestoreSystem

/// Reads the bytes of a file with plain system calls, without mapping it or trusting its content.
///
/// Closing a descriptor releases the record locks that this process holds on the same file. LMDB
/// holds its locks on the lock file and never on this one. Even so, do not use this type on a store
/// that this process has open.
package final class PageFile {
  package let descriptor: Int32
  private let isOwned: Bool

  /// Uses an open descriptor, which the caller owns and must keep open.
  package init(descriptor: Int32) {
    self.descriptor = descriptor
    isOwned = false
  }

  /// Duplicates the descriptor of an open file; `nil` and `errno` if that fails.
  package init?(duplicateOf open: Int32) {
    descriptor = fcntl(open, F_DUPFD_CLOEXEC, 0)
    isOwned = true
    if descriptor < 0 { return nil }
  }

  package init(path: String) throws(VerificationError) {
    // With O_NONBLOCK a pipe in place of the file does not block the caller.
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { throw .system(code: errno) }
    descriptor = opened
    isOwned = true
    guard let status = stat(of: opened) else { throw .system(code: errno) }
    guard status.isRegularFile else { throw .notAStore("it is not a regular file") }
  }

  deinit { if isOwned, descriptor >= 0 { close(descriptor) } }

  /// The current size of the file.
  ///
  /// Another process may be writing it.
  package func sizeInBytes() throws(VerificationError) -> Int {
    guard let status = stat(of: descriptor) else { throw .system(code: errno) }
    return Int(status.st_size)
  }

  /// Fills `buffer` from `offset` and returns the number of bytes read, which is smaller only at
  /// the end of the file.
  package func read(into buffer: MutableByteView, at offset: Int) throws(VerificationError) -> Int {
    let count = buffer.fill(from: descriptor, at: offset)
    guard count >= 0 else { throw .system(code: errno) }
    return count
  }
}
