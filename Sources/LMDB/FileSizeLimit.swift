import LodestoreSystem

/// How large this process may make a file (`RLIMIT_FSIZE`, `ulimit -f`).
///
/// Beyond it the system ends a process by a signal, unless that is ignored; then a write is cut short, which
/// LMDB tells as EIO, as it tells a full disk. So the map is no larger, and a write that does not fit is told
/// before anything is written.
enum FileSizeLimit {
  /// In bytes; `nil` where there is none.
  static var current: UInt64? {
    var limit = rlimit()
    #if canImport(Glibc)
      guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return nil }
    #else
      guard getrlimit(RLIMIT_FSIZE, &limit) == 0 else { return nil }
    #endif
    // What stands for none is beyond any file everywhere.
    return limit.rlim_cur < 1 << 62 ? UInt64(limit.rlim_cur) : nil
  }

  /// Whether a failed write to `file` was cut short by the limit; the limit then.
  static func met(by file: Int32, code: Int32) -> UInt64? {
    guard code == EFBIG || code == EIO, let limit = current else { return nil }
    var status = stat()
    guard code == EIO else { return limit }
    guard fstat(file, &status) == 0 else { return nil }
    return UInt64(status.st_size) >= limit / 512 * 512 ? limit : nil
  }

  /// `options` with a map that is no larger than the file may become.
  static func applied(to options: EnvironmentOptions) -> EnvironmentOptions {
    guard options.access != .readOnly, let limit = current else { return options }
    var options = options
    let bytes = Int(limit / 65_536 * 65_536)
    options.mapSizeInBytes = max(65_536, min(options.mapSizeInBytes, bytes))
    options.mapGrowthLimitInBytes = max(65_536, min(options.mapGrowthLimitInBytes, bytes))
    return options
  }

  /// Throws where a file of `size` bytes cannot be made or changed.
  static func check(
    _ size: UInt64, _ operation: String, _ path: String
  ) throws(LMDBError) {
    if let limit = current, size > limit {
      throw LMDBError(.fileSizeLimit(limit), code: EFBIG, operation: operation, path: path)
    }
  }
}
