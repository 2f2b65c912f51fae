import LodestoreSystem

/// The maximum size of a file for this process (`RLIMIT_FSIZE`, `ulimit -f`).
///
/// The system ends a process that writes beyond the limit by a signal. If the signal is ignored, a
/// write is cut short, and LMDB reports EIO as for a full disk. The map is therefore never larger
/// than the limit, and a write that does not fit is refused before anything is written.
enum FileSizeLimit {
  /// The limit in bytes; `nil` for no limit.
  static var current: UInt64? {
    var limit = rlimit()
    #if canImport(Glibc)
      guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return nil }
    #else
      guard getrlimit(RLIMIT_FSIZE, &limit) == 0 else { return nil }
    #endif
    // The value for "no limit" is larger than any file on every system.
    return limit.rlim_cur < 1 << 62 ? UInt64(limit.rlim_cur) : nil
  }

  /// The limit if it cut a failed write to `file` short; otherwise `nil`.
  static func reached(by file: Int32, code: Int32) -> UInt64? {
    guard code == EFBIG || code == EIO, let limit = current else { return nil }
    guard code == EIO else { return limit }
    guard let status = stat(of: file) else { return nil }
    return UInt64(status.st_size) >= limit / 512 * 512 ? limit : nil
  }

  /// Returns `options` with a map no larger than the file may become.
  static func applied(to options: EnvironmentOptions) -> EnvironmentOptions {
    guard options.access != .readOnly, let limit = current else { return options }
    var options = options
    let bytes = Int(limit / 65_536 * 65_536)
    options.mapSizeInBytes = max(65_536, min(options.mapSizeInBytes, bytes))
    options.mapGrowthLimitInBytes = max(65_536, min(options.mapGrowthLimitInBytes, bytes))
    return options
  }

  /// Throws if a file of `size` bytes cannot be created or changed.
  static func check(_ size: UInt64, _ operation: String, _ path: String) throws(LMDBError) {
    if let limit = current, size > limit {
      throw LMDBError(.fileSizeLimit(limit), code: EFBIG, operation: operation, path: path)
    }
  }
}
