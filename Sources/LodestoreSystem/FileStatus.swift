extension stat {
  /// The status of an open file; `nil`, with the reason in `errno`, if it cannot be read.
  package init?(of file: Int32) {
    self.init()
    guard fstat(file, &self) == 0 else { return nil }
  }

  /// The status of the file at a path; `nil`, with the reason in `errno`, if it cannot be read.
  package init?(at path: String, followsLink: Bool = true) {
    self.init()
    guard fstatat(AT_FDCWD, path, &self, followsLink ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else {
      return nil
    }
  }

  package var isRegularFile: Bool { st_mode & S_IFMT == S_IFREG }

  #if canImport(Darwin)
    // The times by the names that POSIX gives them.
    package var st_atim: timespec { st_atimespec }
    package var st_mtim: timespec { st_mtimespec }
    package var st_ctim: timespec { st_ctimespec }
  #endif
}
