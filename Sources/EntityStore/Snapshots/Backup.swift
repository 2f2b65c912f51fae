internal import LMDB

extension Store {
  /// Copies the newest commit into a new store at `path`, without free pages, and waits for the
  /// disk.
  ///
  ///     try store.backup(to: "pods-\(Date.now.ISO8601Format()).lodestore")
  ///
  /// Readers and writers go on meanwhile. The copy is that of one commit. A copy gets its name when
  /// it is complete, so there is a whole copy or none. To compact a store, close it and rename the
  /// copy to its path, or open the copy in its place. The copy of a file of the other LMDB has the
  /// free pages, too.
  ///
  /// - Parameter path: where nothing is yet, on any local disk.
  /// - Returns: the size of the copy in bytes.
  /// - Throws: ``StoreError/Code/unsuitablePath`` where something is there already, which stays as
  ///   it is; ``StoreError/Code/diskFull``; ``StoreError/Code/nestedWrite`` inside a write of this
  ///   store.
  /// - Complexity: one reading of every page in use. The commit is held until the copy is complete,
  ///   so the file grows with each write meanwhile.
  @discardableResult
  public func backup(to path: String) throws -> Int {
    try core.copy(to: path, compacting: core.canCompact)
  }

  /// Copies the newest commit into a new store at `path`, on a thread of the store, with progress.
  ///
  /// As ``backup(to:)-(String)->Int``. Cancelling the task ends the copy at its next megabyte and
  /// leaves nothing.
  ///
  /// - Parameters:
  ///   - path: where nothing is yet, on any local disk.
  ///   - onProgress: called on a thread of the store after each megabyte, in bytes; the total is that of all pages
  ///     in use, which the copy at most has. The last call has the size of the complete copy as both.
  /// - Throws: `CancellationError` when the task is cancelled.
  @discardableResult
  public func backup(
    to path: String, onProgress: (@Sendable (WorkProgress) -> Void)? = nil
  ) async throws -> Int {
    let core = core
    return try await cancellably { isCancelled in
      let total = try core.usedByteCount()
      let size = try core.copy(to: path, compacting: core.canCompact) { bytes in
        onProgress?(WorkProgress(completed: bytes, total: max(total, bytes)))
        return !isCancelled()
      }
      onProgress?(WorkProgress(completed: size, total: size))
      return size
    }
  }
}

extension StoreCore {
  /// Only the LMDB of a file leaves out its free pages.
  fileprivate var canCompact: Bool { environment.otherEngine == nil }

  /// Copies the newest commit to `destination`, where nothing may be; returns how many bytes the
  /// copy has.
  ///
  /// - Parameter step: called with the number of bytes so far; false ends the copy with
  ///   ``StoreError/Code/cancelled``.
  @discardableResult
  func copy(
    to destination: String, compacting: Bool, step: ((_ bytes: Int) -> Bool)? = nil
  ) throws(StoreError) -> Int {
    try checkOpen("copy")
    return try wrappingErrors {
      try environment.copy(to: destination, compacting: compacting, step: step)
    }
  }

  /// The bytes of all pages that the newest commit uses.
  fileprivate func usedByteCount() throws -> Int {
    let info = try environment.info
    let free = try read { try $0.transaction.freePageCount() }
    return max(0, info.usedBytes - free * info.pageSize)
  }
}
