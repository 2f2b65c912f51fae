import LodestoreSystem

/// The exit status of kvdump.
///
/// The statuses 0 and 1 are the two answers of a command. The other statuses are errors as in
/// sysexits(3).
package enum ExitStatus: Int32, CaseIterable, Sendable {
  /// The command succeeded, found something, or found the store sound.
  case success = 0
  /// Nothing was found, or verification found problems.
  case negative = 1
  /// A command, option, entity, index or attribute is unknown.
  case usage = 64
  /// The data is damaged, malformed or of an unknown format version.
  case damagedData = 65
  /// The path has no store, or no input file.
  case noInput = 66
  /// The program has a fault, or the file is damaged. A signal handler exits with this status.
  case fault = 70
  /// The output cannot be created.
  case cannotCreate = 73
  /// Reading or writing failed, or the disk is full.
  case inputOutput = 74
  /// Another process blocks the command, which may succeed later.
  case tryAgain = 75
  /// The permissions do not allow the operation.
  case notPermitted = 77
  /// The user pressed Control-C.
  case interrupted = 130
  /// The reader of the output closed the pipe.
  case brokenPipe = 141

  /// The status for a system call that failed with `code`, an `errno` value.
  ///
  /// `creating` is true for a path to be created and false for a path to be read. If a folder is
  /// missing, the status is then ``cannotCreate`` or ``noInput``.
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
