import LodestoreBytes
import LodestoreSystem

extension FilePair {
  /// Whether the data file is as processes of this machine left it.
  ///
  /// After a clean close that is: not modified since, which its time and its last transaction tell. After
  /// a process that ended without closing, and while others have it open: the same file, and the machine
  /// has not been started anew, so that what was written is in the file, whether the disk has it or not.
  ///
  /// - Parameter now: the stamp that the data file has to have, as ``currentStamp(_:)`` tells it.
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

  /// Says that the file has been found good, and is in use.
  ///
  /// - Parameter known: the stamp of a moment before, in place of that of now.
  func stampInUse(_ known: FileStamp? = nil) {
    var stamp = known ?? currentStamp(.inUse)
    stamp?.state = .inUse
    write(stamp)
  }

  /// Says that the file has been closed, unless another process has it open.
  func stampClosed() {
    guard isHeldHereAlone else { return }
    setDistinctTime()
    write(currentStamp(.closed))
  }

  /// Takes the stamp back: what is in the file is not known any more.
  func eraseStamp() { write([UInt8](repeating: 0, count: FileStamp.size)) }

  func currentStamp(_ state: FileStamp.State) -> FileStamp? {
    var status = stat()
    guard fstat(dataDescriptor, &status) == 0,
      let transaction = try? MetaPages(file: dataDescriptor, path: "").lastTransaction()
    else { return nil }
    return FileStamp(
      state, boot: FileStamp.currentBoot, data, transaction: transaction,
      modified: Self.modified(status))
  }

  private static func modified(_ status: stat) -> Int64 {
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Gives a file that was modified a moment ago a time of nanoseconds.
  ///
  /// Systems count these times in steps of milliseconds: whoever modifies the file within the same step
  /// would leave its time as it is.
  private func setDistinctTime() {
    var status = stat()
    var now = timespec()
    guard fstat(dataDescriptor, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else {
      return
    }
    let age = Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec) &- Self.modified(status)
    guard age < 100_000_000 else { return }
    #if canImport(Darwin)
      let times = [status.st_atimespec, now]
    #else
      let times = [status.st_atim, now]
    #endif
    // Whoever is not the owner may not; then the step is all there is.
    _ = futimens(dataDescriptor, times)
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
    var status = stat()
    guard fstat(lockDescriptor, &status) == 0 else { return nil }
    return FileStamp.offset(inFileOf: Int(status.st_size))
  }

  private func write(_ stamp: FileStamp?) {
    if let stamp { write(stamp.bytes) }
  }

  /// Where it cannot be written the pages are checked again the next time.
  private func write(_ bytes: [UInt8]) {
    guard let place = stampPlace() else { return }
    _ = bytes._withBytes {
      pwrite(lockDescriptor, $0.baseAddress, $0.count, off_t(place.offset))
    }
  }
}
