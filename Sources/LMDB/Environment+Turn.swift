import LodestoreSystem

/// The time that writes wait for a writer of another process.
package struct TurnPolicy: Sendable {
  /// The limit after which a waiting write fails; `nil` for no limit.
  package var limitInSeconds: Double?
  /// The time after which a waiting write calls ``onLongWait``, once.
  package var warningInSeconds = 5.0
  /// Called on the waiting thread with the seconds waited and the holder of the turn.
  package var onLongWait: (@Sendable (Double, TurnHolder) -> Void)?

  package init() {}
}

/// A process that has the turn to write.
package struct TurnHolder: Sendable, Equatable {
  /// The process in words, such as `process 12 (kvdump, stopped)`.
  package var name: String
  /// The time when its turn began, in seconds since the beginning of 2001; `nil` if unknown.
  package var since: Double?
}

extension Environment {
  /// The process that has the turn to write now.
  ///
  /// `nil` if no process has it, if this process opened the file without a lock file, and on
  /// systems other than Linux.
  package var turnHolder: TurnHolder? {
    #if os(Linux)
      guard let files, let turn = files.writerTurn else { return nil }
      return TurnHolder(name: turn.holder, since: files.turnBegin)
    #else
      return nil
    #endif
  }

  /// Publishes when the turn of this process began.
  ///
  /// A file without a name has no other users.
  func announceTurn() {
    #if os(Linux)
      if options.isNamed { files?.beginTurn() }
    #endif
  }

  func withdrawTurn() {
    #if os(Linux)
      if options.isNamed { files?.endTurn() }
    #endif
  }

  /// Adds the policy of one more store that uses the environment.
  ///
  /// The lowest limit applies.
  package func addTurnPolicy(_ added: TurnPolicy) {
    turnPolicy.withLock { policy in
      policy.limitInSeconds = [policy.limitInSeconds, added.limitInSeconds].compactMap(\.self).min()
      guard let onLongWait = added.onLongWait else { return }
      policy.onLongWait = onLongWait
      policy.warningInSeconds = added.warningInSeconds
    }
  }

  /// Waits while one writer of another process holds the turn, as long as the policy allows.
  ///
  /// LMDB waits without a limit and without a report. The lock word in the lock file names the
  /// thread that holds the turn, so this wait can be reported and can end. The wait ends when the
  /// turn is free. Without a limit it also ends when another writer gets the turn, because such
  /// writers make progress and LMDB's own queue is fair to them. On systems other than Linux the
  /// lock file has no such word, and this call returns at once.
  ///
  /// - Throws: ``LMDBError/Kind/writerBusy(_:)`` beyond the limit.
  func awaitTurn() throws(LMDBError) {
    #if os(Linux)
      let policy = turnPolicy.withLock { $0 }
      guard policy.limitInSeconds != nil || policy.onLongWait != nil, let files,
        let first = files.writerTurn
      else { return }
      let start = monotonicSeconds()
      var pause: UInt32 = 50
      var isWarned = false
      while let turn = files.writerTurn, policy.limitInSeconds != nil || turn == first {
        let waited = monotonicSeconds() - start
        if !isWarned, waited >= policy.warningInSeconds {
          isWarned = true
          policy.onLongWait?(waited, TurnHolder(name: turn.holder, since: files.turnBegin))
        }
        if let limit = policy.limitInSeconds, waited >= limit {
          throw failure(.writerBusy(turn.holder), "write")
        }
        usleep(pause)
        pause = min(2 * pause, policy.limitInSeconds == nil ? 10_000 : 1_000)
      }
    #endif
  }
}

#if os(Linux)
  /// The holder of the writer's turn, and the last commit before it.
  struct WriterTurn: Equatable {
    /// The id of the thread.
    var thread: Int32
    /// The last committed transaction.
    var transaction: UInt64

    /// The holder in words, such as `process 12 (kvdump, stopped)`.
    var holder: String {
      guard let bytes = StoreFile.systemText("/proc/\(thread)/status") else {
        return "thread \(thread)"
      }
      let status = String(decoding: bytes, as: UTF8.self)
      func field(_ name: String) -> String? {
        status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
          .map { String($0.dropFirst(name.count + 1).drop { $0 == "\t" || $0 == " " }) }
      }
      let process = field("Tgid") ?? "\(thread)"
      let isStopped = field("State").map { $0.hasPrefix("T") || $0.hasPrefix("t") } ?? false
      let facts = [field("Name"), isStopped ? "stopped" : nil].compactMap(\.self)
      return "process \(process)" + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")
    }
  }

  extension FilePair {
    /// The current holder of the writer's turn; `nil` if no process has it.
    var writerTurn: WriterTurn? {
      var word: UInt32 = 0
      var transaction: UInt64 = 0
      let isRead =
        withUnsafeMutableBytes(of: &word) {
          pread(lockDescriptor, $0.baseAddress, 4, off_t(LockFileLayout.writerLockWord)) == 4
        }
        && withUnsafeMutableBytes(of: &transaction) {
          pread(lockDescriptor, $0.baseAddress, 8, off_t(LockFileLayout.lastTransaction)) == 8
        }
      // The two highest bits mark that others wait, and that the holder has died.
      let thread = Int32(word & 0x3FFF_FFFF)
      guard isRead, thread != 0, word & 0x4000_0000 == 0 else { return nil }
      return WriterTurn(thread: thread, transaction: transaction)
    }

    /// The time when another process's turn began, in seconds since the beginning of 2001.
    var turnBegin: Double? {
      guard case .other(let byte) = ByteLock.holder(of: lockDescriptor, in: Self.turnBytes) else {
        return nil
      }
      return Double(max(byte, Self.turnBytes.lowerBound) - Self.turnBytes.lowerBound) / 1_000
    }

    /// Publishes that a write of this process has the turn from now.
    ///
    /// LMDB's lock word names the holder but no time, so the position of a byte lock encodes the
    /// time. The system releases the lock with the process.
    func beginTurn() {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      let millisecond = now.tv_sec * 1_000 + now.tv_nsec / 1_000_000 - 978_307_200_000
      let byte = Self.turnBytes.lowerBound + UInt64(max(0, millisecond))
      ByteLock.set(F_RDLCK, of: lockDescriptor, in: byte..<byte + 1)
    }

    func endTurn() { ByteLock.set(F_UNLCK, of: lockDescriptor, in: Self.turnBytes) }

    /// One byte for each millisecond since the beginning of 2001.
    ///
    /// The range is beyond the bytes for identities.
    private static let turnBytes: Range<UInt64> = 1 << 50..<1 << 51
  }
#endif
