import LodestoreSystem

/// Opening and reading of files in chunks.
package enum FileReading {
  /// The reason why a file cannot be read: a value of `errno`.
  package struct Fault: Error, Sendable, Hashable {
    package let code: Int32
  }

  /// Opens a file, which the caller must close.
  ///
  /// The error for a directory is `EISDIR`. A path with a zero byte would name another file; its
  /// error is `EINVAL`.
  package static func open(_ path: String) throws(Fault) -> Int32 {
    guard !path.utf8.contains(0) else { throw Fault(code: EINVAL) }
    #if canImport(Darwin)
      let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC)
    #elseif canImport(Musl)
      let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC)
    #else
      let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    #endif
    guard descriptor >= 0 else { throw Fault(code: errno) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      close(descriptor)
      throw Fault(code: EISDIR)
    }
    return descriptor
  }

  /// Returns the next bytes, at most `count`; nil at the end.
  package static func read(_ descriptor: Int32, atMost count: Int) throws(Fault) -> [UInt8]? {
    while true {
      var found = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        #if canImport(Darwin)
          found = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
          found = Musl.read(descriptor, buffer.baseAddress, buffer.count)
        #else
          found = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        #endif
        initialized = max(found, 0)
      }
      if found > 0 { return chunk }
      if found == 0 { return nil }
      let code = errno
      if code != EINTR { throw Fault(code: code) }
    }
  }
}
