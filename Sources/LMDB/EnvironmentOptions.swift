/// Options for opening an environment.
package struct EnvironmentOptions: Sendable {
  /// The pages whose sync a commit waits for.
  package enum Durability: Sendable {
    /// Data pages and the meta page. A commit that has returned survives a power cut.
    case full
    /// Data pages only (MDB_NOMETASYNC). A power cut may undo the last commit, but never damages
    /// the file.
    case mayLoseLastCommit
  }

  package enum Access: Sendable, Equatable {
    case readWrite(create: Bool)
    case readOnly
  }

  /// Determines when the pages of a file are checked, if the file is not in the state in which
  /// processes of this machine left it.
  package enum Trust: Sendable {
    /// Check before opening.
    case verifyFirst
    /// Check before the first write.
    case verifyBeforeWrite
    /// Open and write without a check.
    case always
  }

  /// Checks all pages of an open file; throws if LMDB could not work with them.
  ///
  /// The closure receives the number of checked pages and of all pages. If it returns false, the
  /// check throws ``LMDBError/Kind/cancelled``.
  package typealias PageCheck =
    @Sendable (
      _ file: Int32, _ path: String, _ step: (_ done: Int, _ total: Int) -> Bool
    ) throws(LMDBError) -> Void

  package var trust = Trust.always
  /// The check that ``trust`` requires; see ``checkPages(when:)``.
  package var checkPages: PageCheck?
  /// The directory in which this machine records checked sealed files; `nil` for the user's cache.
  package var checkedFilesDirectory: String?
  /// The address space reserved at opening.
  ///
  /// Reserved space costs nothing until it is used.
  ///
  /// The map grows when the space becomes small.
  package var mapSizeInBytes = 64 << 30
  /// The maximum size of the map.
  package var mapGrowthLimitInBytes = 1 << 46
  /// The maximum number of open trees.
  package var treeCount: UInt32 = 4096
  package var readerSlotCount: UInt32 = 1024
  /// The maximum time that the first write of a group waits for the other members' closures.
  ///
  /// Other processes that wait for the file also wait this long.
  package var longestGroupInSeconds = 0.01
  package var durability = Durability.full
  package var access = Access.readWrite(create: true)
  /// Whether a process that may write the file can read it without a lock file, if none can be
  /// created.
  ///
  /// On a read-only medium, or if this process may not write the file, a reader never needs the
  /// lock file; see ``Environment/hasLockFile``. A read that a writer has overtaken fails with
  /// ``LMDBError/Kind/overtaken``.
  package var allowsUnlockedReading = false
  /// Whether to open files on a file system that is not known to be safe.
  package var allowsAnyFileSystem = false
  /// Whether the file keeps its name while it is open.
  ///
  /// Files in memory and trial copies do not keep their names.
  package var isNamed = true
  /// Whether everything goes through LMDB's functions, so that no page is read directly and no
  /// record is changed in place.
  ///
  /// Such access is slower. Use it for engines and files that may not match ``PageLayout``. The
  /// environment variable `LODESTORE_PLAIN_ENGINE=1` has the same effect. ``EngineFence`` also
  /// chooses this mode if the engine or the file does not have the expected layout. A file that is
  /// already open in the process stays as it was opened.
  package var usesPlainEngine = false
  /// Whether a file is read without LMDB and without its lock file although LMDB could read it; for
  /// comparisons.
  package var readsInPages = false
  /// The name of a tree by which the files of the other LMDB to convert are recognized.
  ///
  /// A file with this tree is converted before it is opened for writing; see ``EngineConversion``.
  /// If `nil`, no file is converted.
  package var convertsFilesWithTree: String?
  /// The permissions of new files, before the process's umask.
  package var mode: UInt32 = 0o600
  /// The time that moving the map and closing wait for the snapshots of this process to end.
  package var growthWaitInSeconds = 10.0

  package init() {}
}
