#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The operating system's error numbers that this module decides by.
enum EngineCode {
  static let inputOutput = EIO
  static let noSpace = ENOSPC
  static let exists = EEXIST
  static let missing = ENOENT
  static let noMemory = ENOMEM
  static let invalidArgument = EINVAL
  static let permissionDenied = EACCES
  static let readOnlyFileSystem = EROFS
  static let tooManyLinks = ELOOP

  /// Whether a commit that failed with `code` may have left data in the system's cache that will
  /// never reach the disk, or a meta page half written.
  ///
  /// Any number of the operating system may come from a write or a sync, except those that the
  /// engine returns before it touches the file.
  static func leavesCommitInDoubt(_ code: Int32) -> Bool {
    code > 0 && code != ENOMEM && code != EINVAL && code != EACCES
  }
}
