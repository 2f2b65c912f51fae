import LodestoreSystem

extension ByteView {
  /// Writes some of the bytes to a file, at `offset` or at its current position.
  ///
  /// - Returns: The number of bytes written; -1, with the reason in `errno`, for a failure.
  package func writeSome(to file: Int32, at offset: Int? = nil) -> Int {
    offset.map { pwrite(file, start, count, off_t($0)) } ?? write(file, start, count)
  }

  /// Writes all bytes to a file, and repeats interrupted and partial calls.
  ///
  /// - Returns: The code of the error that ended it; 0 for none.
  package func writeAll(to file: Int32, at offset: Int? = nil) -> Int32 {
    var done = 0
    while done < count {
      let written = self[done...].writeSome(to: file, at: offset.map { $0 + done })
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return written < 0 ? errno : ENOSPC }
      done += written
    }
    return 0
  }
}

extension MutableByteView {
  /// Fills the bytes from `offset` of a file, and repeats interrupted and partial calls.
  ///
  /// - Returns: The number of bytes read; -1, with the reason in `errno`, for a failure. Fewer are
  ///   read only at the end of the file.
  package func fill(from file: Int32, at offset: Int) -> Int {
    var done = 0
    while done < count {
      let rest = self[done...]
      let added = pread(file, rest.start, rest.count, off_t(offset + done))
      if added < 0, errno == EINTR { continue }
      if added <= 0 { return added < 0 ? -1 : done }
      done += added
    }
    return done
  }
}
