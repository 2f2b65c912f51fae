#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The bytes of a file, read with plain calls: nothing in them is believed, nothing is mapped.
///
/// Closing a descriptor drops the record locks that this process holds on the same file. LMDB keeps
/// its own on the lock file, never on this one; even so, do not use it on a store that this process
/// has open.
package final class PageFile {
  package let path: String
  private let descriptor: Int32

  package init(path: String) throws(VerificationError) {
    self.path = path
    // O_NONBLOCK: a pipe instead of the file must not hang the caller.
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { throw .system(code: errno) }
    descriptor = opened
    var status = stat()
    guard fstat(opened, &status) == 0 else { throw .system(code: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAStore("it is not a regular file") }
  }

  deinit { close(descriptor) }

  /// The size now: another process may be writing.
  package func sizeInBytes() throws(VerificationError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(code: errno) }
    return Int(status.st_size)
  }

  /// Fills `buffer` from `offset` on; returns how many bytes there were, fewer only at the end.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(VerificationError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(code: errno) }
      if count == 0 { break }
      filled += count
    }
    return filled
  }
}
