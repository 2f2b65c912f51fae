#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a store is opened.
public struct StoreOptions: Sendable {
  /// The durability that a commit waits for.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Durability: Sendable {
    /// The disk has everything: a write that has returned survives a power cut. The default.
    case full
    /// The disk has the data but perhaps not the page that makes it current: a power cut may take
    /// back the last commit, never more, and never damages the file. Saves one of two syncs.
    case mayLoseLastCommit
  }

  /// Whether the store may be written to, and made.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Access: Sendable {
    /// Reads and writes; makes a missing file.
    case create
    /// Reads and writes a file that is there.
    case existing
    /// Reads only, also while another process writes.
    case readOnly
    /// Reads only, the commit before the newest one: for when that is damaged, or was a mistake.
    ///
    /// The store reads a copy of the file without a name, in the file's directory or in that for
    /// temporary files. The copy takes time and room where the file system cannot share pages. The
    /// store does not change while it is open. A file that has one commit only, or gets new ones
    /// faster than it can be copied, throws ``StoreError/Code/noPreviousCommit``.
    case previousCommit
  }

  /// The files that are used without a check of all their pages.
  ///
  /// LMDB follows the page numbers in a file wherever they lead: damaged ones end the process, and
  /// in a write they destroy what was good. A file that processes of this machine closed, or have
  /// open, is known to be good by a mark in its lock file, and costs nothing more in any case. All
  /// others, such as files that were copied, downloaded, restored, or written by other programs,
  /// are not known to be.
  ///
  /// A process that is killed closes nothing. The file stays known to be good until a process
  /// closes it or the machine is started again. Other bytes in the same file, as by `cp` over it,
  /// are not noticed then. Restore a backup under a new name, or remove the lock file too.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Trust: Sendable {
    /// All pages of a file that is not known to be good are read and checked before it is opened,
    /// at about a gigabyte a second. The default.
    ///
    /// A damaged file is refused with ``StoreError/Code/damaged`` and stays as it is; `kvdump
    /// salvage` makes a new store of its readable records.
    case verifyFirst
    /// The header is checked when the file is opened, all pages before the first write.
    ///
    /// For large files that are only read: a damaged page can end the process when it is read. The
    /// pages of a sealed file, which nobody writes, are never checked.
    case checkHeader
    /// The header is checked and nothing else.
    ///
    /// For files whose checksum was compared by other means. A damaged page can end the process,
    /// and a write can make the damage worse.
    case none
  }

  /// The facts that the history keeps.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum History: Sendable {
    /// Nothing; earlier history stays until it is purged.
    case off
    /// Each change with the record's id and the attributes that changed.
    case changes
    /// Each change as with ``changes``, and each record as it was before it was updated or deleted.
    case images
  }

  /// Whether the store may be written to, and made.
  ///
  /// The default is ``Access/create``.
  public var access = Access.create
  /// The files that are used without a check of all their pages.
  ///
  /// The default is ``Trust/verifyFirst``. A file that the process has open already is not checked
  /// again.
  public var trust = Trust.verifyFirst
  /// The durability that a commit waits for.
  ///
  /// The default is ``Durability/full``. Where several stores of a process have one file open, the
  /// most durable of them holds for all, from the next write on.
  public var durability = Durability.full
  /// Address space reserved for the file, in bytes; it costs nothing, and grows by itself.
  public var mapSizeInBytes = 64 << 30
  /// How large the file may become, in bytes.
  public var fileSizeLimitInBytes = 1 << 46
  /// Whether every record read is checked against its checksum (`kvdump verify` always does).
  public var verifiesChecksums = false
  /// The most bytes a record may have.
  ///
  /// At most 1 GiB.
  public var recordSizeLimitInBytes = 64 << 20
  /// How much memory one batch may take, in bytes.
  ///
  /// Index entries of a batch insert with ``MergePolicy/fail``, of a batch update and of an
  /// index that is built over stored records are sorted part by part beyond it, in a scratch file
  /// beside the store; the file has no name and is gone with the process, and takes 10 bytes an
  /// entry beside the key. Inserts that look for stored records are done in parts of so much
  /// memory, encoded records included: each part visits the pages of all records that it finds, so
  /// fewer parts are faster; 2 GiB is the most that a part takes.
  ///
  /// The default is 512 MiB.
  public var batchMemoryInBytes = 512 << 20
  /// Whether new indexes over records that are there are built while the store is used, rather than
  /// when it is opened.
  ///
  /// The store opens at once. Records are added to the indexes part by part, between other writes;
  /// each is used by queries from when it is whole. See ``Store/waitForIndexes()``. A store that is
  /// closed before goes on when it is opened next, with this option; without it the index is built
  /// then. Indexes of relationships and over elements are always built when the store is opened.
  public var buildsIndexesInUse = false
  /// Whether an entity that the file does not have is made where the file has records of another
  /// one that resembles it and is not declared.
  ///
  /// Such an entity is most often a type whose name was changed, and its records would seem to be
  /// lost. So opening the store is refused with ``StoreError/Code/incompatibleSchema``, unless a
  /// ``MigrationStage`` renames the entity, or this option says that they are two. The option
  /// matters only until the entity is there.
  public var addsResemblingEntities = false
  /// The history of declared entities that have no ``HistoryPolicy`` of their own.
  ///
  /// `nil` leaves it as it is in the file, where it is off at first. The policy in a file holds for
  /// every program that writes it. See <doc:Changes>.
  public var history: History?
  /// Who is said to have written in the history, where a write does not say it.
  public var author: String?
  /// The part of the program that the history names as the writer, where a write names none.
  public var contextName: String?
  /// How long a ``PinnedSnapshot`` may be kept.
  ///
  /// Older ones are ended once there is a later commit, of any process, and reads of them throw
  /// ``StoreError/Code/snapshotExpired``. `nil`, the default, keeps them.
  public var snapshotAgeLimit: Duration?
  /// The age at which ``onSnapshotWarning`` is called for a snapshot, once.
  ///
  /// The default is a minute.
  public var snapshotWarningAge = Duration.seconds(60)
  /// Called for snapshots that are kept for long, once there is a later commit, on a thread of the
  /// store.
  public var onSnapshotWarning: (@Sendable (SnapshotWarning) -> Void)?
  /// How long a write may wait while writers of other processes have their turn.
  ///
  /// Beyond it the write throws ``StoreError/Code/busy`` with the process that has the turn, and
  /// nothing is written. `nil`, the default, waits without a limit, as for a process that was
  /// stopped in the midst of a write. The limit does not count the wait for writes of this process.
  /// The lowest limit of the stores that have a file open in a process holds for all of them. The
  /// limit works on Linux alone, since elsewhere the lock file does not name the process.
  public var writeWaitLimit: Duration?
  /// After which wait for one writer of another process ``onWriteWaitWarning`` is called, once for
  /// each write.
  ///
  /// The default is five seconds.
  public var writeWaitWarningAge = Duration.seconds(5)
  /// Called when a write waits for long, on the thread that waits; on Linux alone.
  public var onWriteWaitWarning: (@Sendable (WriteWaitWarning) -> Void)?
  /// The clock by which records expire; see <doc:Expiry>.
  ///
  /// Called when a read begins, before a write, and by the store's own thread: from any thread, and
  /// often. The default is the system's clock. Set another one for tests.
  public var now: @Sendable () -> Date = { Date() }
  /// How long records that have expired, or are above a limit, may stay in the file while nothing
  /// else is written.
  ///
  /// A store that is open for writing evicts them by itself: before writes, and otherwise this long
  /// after the last eviction. Reads leave expired records out in any case. `nil` evicts before writes
  /// and by `Store.evict()` alone. The default is a minute. See <doc:Expiry> and <doc:EntityLimits>.
  public var evictionInterval: Duration? = .seconds(60)
  /// Whether a file of the other LMDB is made into one of the LMDB of this program before it is
  /// opened for writing.
  ///
  /// LMDB 0.9 and LMDB 1.0 cannot open each other's files. Without this option the store throws
  /// ``StoreError/Code/otherEngine``. With it the store makes a new file in the same directory,
  /// with all that the old one has, the history included, and compares the two pair by pair. The
  /// new file gets the path in one step. The old file stays there, with `.lmdb-0.9` or `.lmdb-1.0`
  /// after its name, until somebody removes it. A process that is killed meanwhile leaves the old
  /// or the new file under the path, whole.
  ///
  /// Takes time and room on the disk as the file does. While another process has the file open, by
  /// the other LMDB, the store throws ``StoreError/Code/unsuitablePath``. `kvdump convert` does the
  /// same.
  public var convertsOtherEngine = false
  /// Whether a reader may go without the lock file where none can be made, although this process
  /// may write the file: in a directory that it may not write to.
  ///
  /// A reader goes without one in any case on a read-only medium, and where this process may
  /// neither write the file nor use its lock file. Two commits of others during a read end such a
  /// read with ``StoreError/Code/snapshotExpired``.
  public var allowsUnlockedReading = false
  /// Whether to open on a file system that is not known to be safe for memory-mapped stores.
  public var allowsAnyFileSystem = false
  /// Whether everything goes through the functions of LMDB's interface.
  ///
  /// Otherwise scans and searches read LMDB's pages in the map themselves, and a change that leaves
  /// a short record as long as it was is made in its page: only with an engine and a file that are
  /// known to be laid out so, which is checked when the store is opened. The plain engine finds and
  /// writes the same, more slowly, and estimates for the choice of an index are coarser. Use it to
  /// compare, should an answer ever look wrong.
  ///
  /// The environment variable `LODESTORE_PLAIN_ENGINE=1` does the same for all stores of a process.
  /// A file that the process has open already stays as it was opened.
  public var usesPlainEngine = false
  /// Whether the file keeps its name while it is open; otherwise whoever opens it removes the name,
  /// and writes do not look whether the path still leads to it.
  package var isNamed = true

  /// Whether a file that is opened read-only is read without LMDB, although LMDB could; for
  /// comparison.
  var readsInPages = false

  var isReadOnly: Bool {
    switch access {
    case .readOnly, .previousCommit: true
    case .create, .existing: false
    }
  }

  /// The defaults.
  public init() {}

  /// The defaults, read-only.
  public static var readOnly: StoreOptions {
    var options = StoreOptions()
    options.access = .readOnly
    return options
  }
}
