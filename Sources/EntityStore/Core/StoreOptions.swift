public import LodestoreEssentials

/// The options for opening a store.
public struct StoreOptions: Sendable {
  /// The durability of a returned commit.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Durability: Sendable {
    /// All data of the commit is on disk: a write that has returned survives a power cut.
    ///
    /// The default of ``StoreOptions/durability``.
    case full
    /// The data is on disk, but perhaps not the page that makes it current.
    ///
    /// A power cut may undo the last commit, but no earlier one, and never damages the file. A
    /// commit takes one sync of the disk instead of two.
    case mayLoseLastCommit
  }

  /// The kind of access to the file.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Access: Sendable {
    /// Reads and writes, creating a missing file.
    case create
    /// Reads and writes an existing file.
    case existing
    /// Reads the file and never writes it; another process may write it at the same time.
    case readOnly
    /// Reads the commit before the newest one, and never writes the file. Use this access when the
    /// newest commit is damaged or was a mistake.
    ///
    /// The store reads an unnamed copy of the file, in the file's directory or in the directory for
    /// temporary files. The copy takes time and space if the file system cannot share pages. The
    /// store does not change while it is open. ``StoreError/Code/noPreviousCommit`` is thrown for a
    /// file with only one commit, and for a file that gets new commits faster than it can be
    /// copied.
    case previousCommit
  }

  /// The checks before a file's pages are used.
  ///
  /// LMDB follows the page numbers in a file without checking them. Damaged numbers end the
  /// process, and in a write they destroy intact data. A file that processes of this machine have
  /// closed, or have open, is known to be good. A mark in its lock file shows this, and the file
  /// needs no check. Other files are not known to be good, such as files that were copied,
  /// downloaded, restored, or written by other programs.
  ///
  /// A killed process closes nothing, and the file stays known to be good until a process closes it
  /// or the machine restarts. Replacing the bytes of the file during this time, for example with
  /// `cp`, is not detected. Restore a backup under a new name, or remove the lock file too.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Trust: Sendable {
    /// Reads and checks all pages of a file that is not known to be good before opening it, the
    /// default.
    ///
    /// The check processes about a gigabyte a second. A damaged file is refused with
    /// ``StoreError/Code/damaged`` and stays unchanged. `kvdump salvage` creates a new store from
    /// its readable records.
    case verifyFirst
    /// Checks the header when the file is opened, and all pages before the first write.
    ///
    /// Use it for large files that are only read: a damaged page can end the process when it is
    /// read. The pages of a sealed file, which nobody writes, are never checked.
    case checkHeader
    /// Checks only the header.
    ///
    /// Use it for files whose checksum was verified in another way. A damaged page can end the
    /// process, and a write can make the damage worse.
    case none
  }

  /// The facts that the history records.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum History: Sendable {
    /// Nothing; earlier history stays until it is purged.
    case off
    /// Each change with the record's id and the attributes that changed.
    case changes
    /// Each change as with ``changes``, and a copy of each record before it is updated or deleted.
    case images
  }

  /// The kind of access to the file.
  ///
  /// The default is ``Access/create``.
  public var access = Access.create
  /// The checks before a file's pages are used.
  ///
  /// The default is ``Trust/verifyFirst``. A file that the process already has open is not checked
  /// again.
  public var trust = Trust.verifyFirst
  /// The durability of a returned commit.
  ///
  /// The default is ``Durability/full``. When several stores of a process have one file open, the
  /// strongest durability applies to all, from the next write on.
  public var durability = Durability.full
  /// The address space reserved for the file, in bytes; it uses no memory, and grows automatically.
  public var mapSizeInBytes = 64 << 30
  /// The maximum size of the file, in bytes.
  public var fileSizeLimitInBytes = 1 << 46
  /// Whether the checksum of every read record is verified; `kvdump verify` always does this.
  public var verifiesChecksums = false
  /// The maximum size of a record in bytes.
  ///
  /// The value is limited to 1 GiB.
  public var recordSizeLimitInBytes = 64 << 20
  /// The maximum memory of one batch, in bytes.
  ///
  /// The limit applies to the index entries of a batch insert with ``MergePolicy/fail`` and of a
  /// batch update. An index that is built over stored records has the limit too. Beyond the limit,
  /// entries are sorted in parts in a scratch file next to the store. An entry takes its key and
  /// 10 bytes in this file. The file has no name and disappears with the process.
  ///
  /// Inserts that look for stored records work in parts of this size, which include the encoded
  /// records. Each part visits the pages of all records that it finds, so fewer parts are faster. A
  /// part takes at most 2 GiB.
  ///
  /// The default is 512 MiB.
  public var batchMemoryInBytes = 512 << 20
  /// Whether new indexes over existing records are built while the store is in use.
  ///
  /// Otherwise they are built during opening. With this option the store opens at once. Records are
  /// added to the indexes in parts, between other writes. Queries use an index when it is complete.
  /// See ``Store/waitForIndexes()``. When the store is closed earlier, the next opening with this
  /// option continues; an opening without it completes the index. Indexes of relationships, of the
  /// expiry and of a limit are always built during opening.
  ///
  /// Until a computed index is complete, conditions on its words, places or vectors are tested on
  /// every record. Scores and suggestions throw ``StoreError/Code/invalidQuery``. A vector index
  /// that has outgrown its lists stays in use until its replacement is complete: <doc:Vectors>.
  /// After the beginning of such a construction, only programs that know version 8 of the format
  /// write the file.
  public var buildsIndexesInUse = false
  /// Whether a new entity is created even if it resembles an undeclared entity of the file.
  ///
  /// A new entity that resembles one of the file most often has a renamed type, and its records
  /// would seem lost. Opening the store is therefore refused with
  /// ``StoreError/Code/incompatibleSchema`` when the old entity has records. A ``MigrationStage``
  /// can rename the entity; this option declares that they are two entities. The option has no
  /// effect after the entity is created.
  public var addsResemblingEntities = false
  /// The history of declared entities that have no ``HistoryPolicy`` of their own.
  ///
  /// `nil` leaves the setting in the file unchanged, which is initially off. The setting in a file
  /// applies to every program that writes it. See <doc:Changes>.
  public var history: History?
  /// The author that the history records for writes without one.
  public var author: String?
  /// The part of the program that the history records for writes without one.
  public var contextName: String?
  /// The maximum age of a ``PinnedSnapshot``.
  ///
  /// Older snapshots are ended after a later commit of any process, and reads of them throw
  /// ``StoreError/Code/snapshotExpired``. `nil`, the default, keeps them.
  public var snapshotAgeLimit: Duration?
  /// The age at which ``onSnapshotWarning`` is called once for a snapshot.
  ///
  /// The default is a minute.
  public var snapshotWarningAge = Duration.seconds(60)
  /// Called for old snapshots after a later commit, on a thread of the store.
  public var onSnapshotWarning: (@Sendable (SnapshotWarning) -> Void)?
  /// The maximum time that a write waits for writers of other processes.
  ///
  /// After this time the write throws ``StoreError/Code/busy`` with the name of the writing
  /// process, and nothing is written. `nil`, the default, waits without a limit, even for a process
  /// that was stopped during a write. The limit does not include the wait for writes of this
  /// process. When several stores of a process have a file open, their lowest limit applies to all
  /// of them. The limit works only on Linux, because elsewhere the lock file does not identify the
  /// process.
  public var writeWaitLimit: Duration?
  /// The waiting time after which ``onWriteWaitWarning`` is called.
  ///
  /// A write makes the call at most once, however long it waits. The default is five seconds.
  public var writeWaitWarningAge = Duration.seconds(5)
  /// Called on the waiting thread when a write waits for a long time; only on Linux.
  public var onWriteWaitWarning: (@Sendable (WriteWaitWarning) -> Void)?
  /// The clock by which records expire; see <doc:Expiry>.
  ///
  /// The closure is called when a read begins, before a write, and by the store's own thread. Calls
  /// are frequent and come from any thread. The default is the system's clock. Set another clock
  /// for tests.
  public var now: @Sendable () -> Date = { Date() }
  /// The maximum time that expired records, or records above a limit, stay in the file without
  /// other writes.
  ///
  /// A store that is open for writing evicts them automatically, before writes, and otherwise this
  /// time after the last eviction. Reads always leave out expired records. With `nil`, only writes
  /// and `Store.evict()` evict. The default is a minute. See <doc:Expiry> and <doc:EntityLimits>.
  public var evictionInterval: Duration? = .seconds(60)
  /// Whether a file of the other LMDB version is converted before it is opened for writing.
  ///
  /// LMDB 0.9 and LMDB 1.0 cannot open each other's files. Without this option the store throws
  /// ``StoreError/Code/otherEngine``. With it, the store creates a new file in the same directory,
  /// with the complete content and the history. The store compares the two files pair by pair. The
  /// new file then gets the path in one step. The old file stays in the directory, with `.lmdb-0.9`
  /// or `.lmdb-1.0` appended to its name, until somebody removes it. If the process is killed
  /// meanwhile, the path has the complete old file or the complete new one.
  ///
  /// The conversion takes time and disk space in proportion to the file. While another process has
  /// the file open with the other LMDB version, the store throws
  /// ``StoreError/Code/unsuitablePath``. `kvdump convert` performs the same conversion.
  public var convertsOtherEngine = false
  /// Whether a reader may work without a lock file when none can be created.
  ///
  /// The option is for a process that may write the file but not its directory. In two cases a
  /// reader works without a lock file even without the option. Either the medium is read-only, or
  /// the process may neither write the file nor use its lock file. Two commits by others during a
  /// read end such a read with ``StoreError/Code/snapshotExpired``.
  public var allowsUnlockedReading = false
  /// Whether to open a file on a file system that is not known to be safe for memory-mapped stores.
  public var allowsAnyFileSystem = false
  /// Whether all accesses use the functions of LMDB's interface.
  ///
  /// Without this option, scans and searches read LMDB's pages in the map directly. A change that
  /// does not alter the length of a short record is made in its page. The shortcuts require an
  /// engine and a file of a known layout, which is checked when the store is opened. The plain
  /// engine finds and writes the same data more slowly, with coarser estimates for the choice of an
  /// index. Use it for comparison when a result seems wrong.
  ///
  /// The environment variable `LODESTORE_PLAIN_ENGINE=1` sets this option for all stores of a
  /// process. A file that the process already has open is not affected.
  public var usesPlainEngine = false
  /// Whether the file keeps its name while it is open.
  ///
  /// If false, the caller removes the name after opening, and writes do not check the path.
  package var isNamed = true

  /// Whether a file opened read-only is read by this library's own page reader even if LMDB could
  /// read it; for tests that compare both.
  var readsInPages = false
  /// The highest number of vectors of an index without lists.
  static let mostVectorsWithoutLists = 1 << 20
  /// A lower number for tests.
  var mostVectorsWithoutLists = Self.mostVectorsWithoutLists

  var isReadOnly: Bool {
    switch access {
    case .readOnly, .previousCommit: true
    case .create, .existing: false
    }
  }

  /// Creates the default options.
  public init() {}

  /// The default options with read-only access.
  public static var readOnly: StoreOptions {
    var options = StoreOptions()
    options.access = .readOnly
    return options
  }
}
