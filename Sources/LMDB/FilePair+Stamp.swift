import LodestoreBytes
import LodestoreSystem

extension FilePair {
  /// Whether the data file is in the state in which processes of this machine left it.
  ///
  /// After a clean close, the file must not have been modified, by its time and its last
  /// transaction. After a process ended without closing, and while others have the file open, it
  /// must be the same file, and the machine must not have restarted. The written data is then in
  /// the file, whether or not the disk has it.
  ///
  /// - Parameter now: The stamp that the data file must match, as ``currentStamp(_:)`` returns it.
  func isAsLeft(_ now: FileStamp?) -> Bool {
    guard let stamp = readStamp(), let now else { return false }
    guard stamp.identity.inode == now.identity.inode else { return false }
    return switch stamp.state {
    case .closed: stamp.modified == now.modified && stamp.transaction == now.transaction
    case .inUse:
      stamp.boot == now.boot && now.boot != 0 && stamp.identity == now.identity
        && stamp.transaction <= now.transaction
    }
  }

  /// Records that the file was found good and is in use.
  ///
  /// - Parameter known: A stamp taken a moment before, to use in place of the current stamp.
  func stampInUse(_ known: FileStamp? = nil) {
    var stamp = known ?? currentStamp(.inUse)
    stamp?.state = .inUse
    write(stamp)
  }

  /// Records that the file was closed, unless another process has it open.
  func stampClosed() {
    guard isHeldHereAlone else { return }
    setDistinctTime()
    write(currentStamp(.closed))
  }

  /// Erases the stamp, because the content of the file is no longer known.
  func eraseStamp() { write([UInt8](repeating: 0, count: FileStamp.size)) }

  func currentStamp(_ state: FileStamp.State) -> FileStamp? {
    guard let status = stat(of: dataDescriptor),
      let transaction = try? MetaPages(file: dataDescriptor, path: "").lastTransaction()
    else { return nil }
    return FileStamp(
      state: state, boot: FileStamp.currentBoot, identity: data, transaction: transaction,
      modified: Self.modified(status))
  }

  private static func modified(_ status: stat) -> Int64 {
    Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
  }

  /// Gives a file that was just modified a time with distinct nanoseconds.
  ///
  /// Systems count file times in steps of milliseconds. A modification within the same step would
  /// leave the time unchanged.
  private func setDistinctTime() {
    var now = timespec()
    guard let status = stat(of: dataDescriptor), clock_gettime(CLOCK_REALTIME, &now) == 0 else {
      return
    }
    let age = Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec) &- Self.modified(status)
    guard age < 100_000_000 else { return }
    // Only the owner may set the time. If another user owns the file, its time stays as the system
    // set it.
    _ = futimens(dataDescriptor, [status.st_atim, now])
  }

  private func readStamp() -> FileStamp? {
    guard let place = stampPlace(), place.isThere else { return nil }
    var bytes = [UInt8](repeating: 0, count: FileStamp.size)
    guard pread(lockDescriptor, &bytes, bytes.count, off_t(place.offset)) == bytes.count else {
      return nil
    }
    return FileStamp(bytes)
  }

  private func stampPlace() -> (offset: Int, isThere: Bool)? {
    stat(of: lockDescriptor).flatMap { FileStamp.offset(inFileOf: Int($0.st_size)) }
  }

  private func write(_ stamp: FileStamp?) {
    if let stamp { write(stamp.bytes) }
  }

  /// Writes the stamp.
  ///
  /// If that fails, the pages are checked again the next time.
  private func write(_ bytes: [UInt8]) {
    guard let place = stampPlace() else { return }
    _ = bytes._withBytes { pwrite(lockDescriptor, $0.baseAddress, $0.count, off_t(place.offset)) }
  }
}
