import LodestoreBytes
import LodestoreSystem

/// The bytes of a file, read with plain calls: nothing in them is believed, nothing is mapped.
///
/// Closing a descriptor drops the record locks that this process holds on the same file. LMDB keeps
/// its own on the lock file, never on this one; even so, do not use it on a store that this process
/// has open.
package final class PageFile {
  package let descriptor: Int32
  private let isOwned: Bool

  /// Takes an open descriptor, which stays the caller's, and open for as long as this is used.
  package init(descriptor: Int32) {
    self.descriptor = descriptor
    isOwned = false
  }

  /// Takes a descriptor of its own of an open file; `nil`, with `errno`, when there can be none.
  package init?(duplicateOf open: Int32) {
    descriptor = fcntl(open, F_DUPFD_CLOEXEC, 0)
    isOwned = true
    if descriptor < 0 { return nil }
  }

  package init(path: String) throws(VerificationError) {
    // O_NONBLOCK: a pipe instead of the file must not hang the caller.
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { throw .system(code: errno) }
    descriptor = opened
    isOwned = true
    var status = stat()
    guard fstat(opened, &status) == 0 else { throw .system(code: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAStore("it is not a regular file") }
  }

  deinit { if isOwned, descriptor >= 0 { close(descriptor) } }

  /// The size now: another process may be writing.
  package func sizeInBytes() throws(VerificationError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(code: errno) }
    return Int(status.st_size)
  }

  /// Fills `buffer` from `offset` on; returns how many bytes there were, fewer only at the end.
  package func read(into buffer: MutableByteView, at offset: Int) throws(VerificationError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let rest = buffer[filled...]
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(code: errno) }
      if count == 0 { break }
      filled += count
    }
    return filled
  }
}
