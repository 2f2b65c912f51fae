/// How an environment is opened.
package struct EnvironmentOptions: Sendable {
  /// The writes that a commit waits for.
  package enum Durability: Sendable {
    /// Data and meta page: a commit that has returned survives a power cut.
    case full
    /// Data only (MDB_NOMETASYNC): a power cut may take back the last commit, never the file.
    case mayLoseLastCommit
  }

  package enum Access: Sendable, Equatable {
    case readWrite(create: Bool)
    case readOnly
  }

  /// When the pages of a file are checked that is not as processes of this machine left it.
  package enum Trust: Sendable {
    /// Before it is opened.
    case verifyFirst
    /// Before it is first written.
    case verifyBeforeWrite
    /// Never.
    case always
  }

  /// Checks all pages of an open file, and throws when LMDB could not work on them.
  ///
  /// Tells how many pages of how many are done; where that answers false, throws
  /// ``LMDBError/Kind/cancelled``.
  package typealias PageCheck =
    @Sendable (
      _ file: Int32, _ path: String, _ step: (_ done: Int, _ total: Int) -> Bool
    ) throws(LMDBError) -> Void

  package var trust = Trust.always
  /// Needed by ``trust``; see ``checkPages(when:)``.
  package var checkPages: PageCheck?
  /// Where this machine notes which sealed files it has checked; the user's cache where it is
  /// `nil`.
  package var checkedFilesDirectory: String?
  /// Address space reserved at open; costs nothing until used.
  ///
  /// Grown when it becomes small.
  package var mapSizeInBytes = 64 << 30
  /// The most the map may grow to.
  package var mapGrowthLimitInBytes = 1 << 46
  /// How many trees can be open.
  package var treeCount: UInt32 = 4096
  package var readerSlotCount: UInt32 = 1024
  /// How long the first of the writes that share a commit may wait for the closures of others: also
  /// what another process that waits for the file has to wait for.
  package var longestGroupInSeconds = 0.01
  package var durability = Durability.full
  package var access = Access.readWrite(create: true)
  /// Whether a reader may go without the lock file where none can be made, although this process
  /// may write the file.
  ///
  /// On a read-only medium, and where this process may not write the file, a reader does so in any
  /// case; see ``Environment/hasLockFile``. A read that a writer has overtaken fails with
  /// ``LMDBError/Kind/overtaken``.
  package var allowsUnlockedReading = false
  /// Whether to open on a file system that is not known to be safe.
  package var allowsAnyFileSystem = false
  /// Whether the file keeps its name while it is open; not so in memory, and in copies for trial.
  package var isNamed = true
  /// Whether everything goes through LMDB's functions: no page is read, and no record changed in
  /// place.
  ///
  /// Slower; for engines and files that are not trusted to be as ``PageLayout`` says. So does the
  /// environment variable `LODESTORE_PLAIN_ENGINE=1`, and ``EngineFence`` where it must. A file
  /// that is open in the process stays as it was opened.
  package var usesPlainEngine = false
  /// Whether a file is read without LMDB and without its lock file, although LMDB could; for
  /// comparison.
  package var readsInPages = false
  /// The name of the tree by which a file of the other LMDB is known to be one to convert.
  ///
  /// A file that has this tree is converted before it is opened for writing; see
  /// ``EngineConversion``. Without a name no file is converted.
  package var convertsFilesWithTree: String?
  /// Permissions of new files, before the process's mask.
  package var mode: UInt32 = 0o600
  /// How long moving the map, and closing, wait for the snapshots of this process to end.
  package var growthWaitInSeconds = 10.0

  package init() {}
}
