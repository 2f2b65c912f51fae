import LodestoreSystem

/// The differences between LMDB 0.9 and 1.0 outside of the data file.
///
/// ``PageFormat`` has the differences within the data file.
///
/// The library that runs decides, not the header: LMDB 1.0 kept the functions, structures and
/// numbers of 0.9 that this module uses.
///
/// | | LMDB 0.9 | LMDB 1.0 |
/// | --- | --- | --- |
/// | data file | ``PageFormat/lmdb09`` | ``PageFormat/lmdb10`` |
/// | lock file | ``LockFileLayout`` | the same sizes on Linux, other fields |
/// | a write cut short by a full disk | `EIO` | `MDB_SHORT_WRITE` |
/// | a change of a read | `EACCES` | `MDB_IS_READONLY` |
/// | closing a cursor of a read | needs the cursor alone | reads the transaction, see ``Cursor`` |
enum EngineDifferences {
  /// Whether the library of this process is LMDB 1.0 or later.
  static let isLater = EngineFence.Version.running.major >= 1

  /// Whether LMDB reads the memory of a cursor's transaction when it closes the cursor, even after
  /// the end of a read.
  static let closingReadsTransaction = isLater

  /// The code of LMDB 0.9 for a code of this engine.
  ///
  /// Callers determine by the code whether the file system failed, which both codes report.
  @inline(__always)
  static func code(_ code: Int32) -> Int32 {
    switch code {
    case shortWrite: EIO
    case isReadOnly: EACCES
    default: code
    }
  }

  /// MDB_SHORT_WRITE and MDB_IS_READONLY, which the headers of 0.9 lack.
  private static let shortWrite: Int32 = -30772
  private static let isReadOnly: Int32 = -30770
}

extension PageFormat {
  /// The format that the engine of this process reads and writes.
  ///
  /// The version determines it. ``EngineProbe`` checks that the engine writes this format, and
  /// ``Environment/create(_:options:initialise:)`` checks each new file before naming it.
  package static let ofEngine: PageFormat = EngineDifferences.isLater ? .lmdb10 : .lmdb09

  /// The name and version of this process's engine, such as `LMDB 0.9.24`.
  package static var engineVersion: String { "LMDB \(EngineFence.Version.running)" }
}

/// The layout of the lock file (LMDB: MDB_txninfo) for the engine of this process.
enum LockFileLayout {
  /// LMDB's CACHELINE, to which each part of the header is rounded up, and the size of a reader's
  /// slot.
  static let slotSize = 64

  /// The size in bytes of the lock file that LMDB makes for `readerCount` readers.
  static func size(readerCount: Int) -> Int { header + writerLockSize + readerCount * slotSize }

  /// The size of the first part.
  ///
  /// In LMDB 0.9: magic number and format, a lock, the last transaction, the number of readers.
  ///
  /// In LMDB 1.0 the lock comes last.
  private static var header: Int {
    rounded(EngineDifferences.isLater ? 24 + laterLockSize : 8 + lockSize + 8 + 4)
  }

  /// The size of the second part, with the writer's lock.
  ///
  /// LMDB 1.0 has none on macOS, where the file determines the name of its semaphore.
  private static var writerLockSize: Int {
    #if canImport(Darwin)
      EngineDifferences.isLater ? 0 : rounded(lockSize)
    #else
      rounded(lockSize)
    #endif
  }

  #if os(Linux)
    /// The offset of the last transaction's number (LMDB: mtb_txnid).
    static var lastTransaction: Int { EngineDifferences.isLater ? 8 : 8 + lockSize }

    /// The offset of the lock word of the writer's lock: the id of the thread that holds it, and
    /// two flags.
    ///
    /// The C library defines this word for robust mutexes, which survive the death of their holder.
    static var writerLockWord: Int {
      #if canImport(Musl)
        let word = 4
      #else
        let word = 0
      #endif
      return header + word
    }
  #endif

  #if canImport(Darwin)
    /// The size of a semaphore's name (LMDB: MNAME_LEN).
    ///
    /// In LMDB 1.0 it is a hash.
    private static let lockSize = 32
    private static let laterLockSize = 8
  #else
    private static let lockSize = MemoryLayout<pthread_mutex_t>.size
    private static let laterLockSize = lockSize
  #endif

  private static func rounded(_ size: Int) -> Int { (size + slotSize - 1) / slotSize * slotSize }
}
