import LodestoreSystem

/// The status kvdump leaves with: 0 and 1 are the two answers, the rest is trouble, by sysexits(3).
package enum ExitStatus: Int32, CaseIterable, Sendable {
  /// Done; found; sound.
  case success = 0
  /// Not found; verification found problems.
  case negative = 1
  /// An unknown command, option, entity, index or attribute.
  case usage = 64
  /// The data is damaged, malformed or of an unknown format version.
  case damagedData = 65
  /// There is no store, or no input file, at that path.
  case noInput = 66
  /// A fault of the program, unless the file is damaged; left by a signal handler.
  case fault = 70
  /// The output cannot be created.
  case cannotCreate = 73
  /// Reading or writing failed, or the disk is full.
  case inputOutput = 74
  /// Another process is in the way: the same command may succeed later.
  case tryAgain = 75
  /// The permissions do not allow it.
  case notPermitted = 77
  /// Control-C.
  case interrupted = 130
  /// Who was reading the output went away.
  case brokenPipe = 141

  /// The status for a system call that failed with `code` (an `errno` value).
  ///
  /// `creating` tells a path that was to be made from one that was to be read: a missing folder is
  /// missing input for the one and an output that cannot be created for the other.
  init(errno code: Int32, creating: Bool) {
    switch code {
    case ENOENT, ENOTDIR: self = creating ? .cannotCreate : .noInput
    case EEXIST, EISDIR: self = creating ? .cannotCreate : .inputOutput
    case EACCES, EPERM, EROFS: self = .notPermitted
    case EAGAIN, EBUSY, ETXTBSY: self = .tryAgain
    case EINTR: self = .interrupted
    case EPIPE: self = .brokenPipe
    default: self = .inputOutput
    }
  }
}
