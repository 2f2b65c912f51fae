internal import LMDB

extension Store {
  /// Copies the newest commit into a new store at `path`, without free pages, and waits for the
  /// disk.
  ///
  ///     try store.backup(to: "pods-\(Date.now.ISO8601Format()).lodestore")
  ///
  /// Readers and writers continue meanwhile. The copy contains one commit. The copy gets its name
  /// when it is complete, so there is a whole copy or none. To compact a store, close it and rename
  /// the copy to its path, or open the copy instead. If another version of LMDB created the file,
  /// the copy includes free pages.
  ///
  /// - Parameter path: a path on any local disk at which there is no file yet.
  /// - Returns: the size of the copy in bytes.
  /// - Throws: ``StoreError/Code/unsuitablePath`` if there is a file at the path, which stays
  ///   unchanged; ``StoreError/Code/diskFull``; ``StoreError/Code/nestedWrite`` inside a write of
  ///   this store.
  /// - Complexity: one read of every page in use. Until the copy is complete, pages of its commit
  ///   cannot be reused, so each write meanwhile makes the store's file grow.
  @discardableResult
  public func backup(to path: String) throws -> Int {
    try core.copy(to: path, compacting: core.canCompact)
  }

  /// Copies the newest commit into a new store at `path`, on a thread of the store, with progress.
  ///
  /// Otherwise the call is like ``backup(to:)-(String)->Int``. Cancelling the task ends the copy at
  /// its next megabyte, and removes it.
  ///
  /// - Parameters:
  ///   - path: a path on any local disk at which there is no file yet.
  ///   - onProgress: called on a thread of the store after each megabyte, with numbers of bytes.
  ///     The total is the size of all pages in use, which is the largest possible size of the copy.
  ///     The last call has the size of the complete copy as both numbers.
  /// - Throws: `CancellationError` if the task is cancelled.
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
  /// Whether a copy leaves out free pages.
  ///
  /// Only the LMDB version that created the file can do this.
  fileprivate var canCompact: Bool { environment.otherEngine == nil }

  /// Copies the newest commit to `destination`, where no file may be, and returns the size of the
  /// copy in bytes.
  ///
  /// - Parameter step: called with the number of bytes copied so far. If it returns false, the copy
  ///   ends with ``StoreError/Code/cancelled``.
  @discardableResult
  func copy(
    to destination: String, compacting: Bool, step: ((_ bytes: Int) -> Bool)? = nil
  ) throws(StoreError) -> Int {
    try checkOpen("copy")
    return try wrappingErrors {
      try environment.copy(to: destination, compacting: compacting, step: step)
    }
  }

  /// Returns the number of bytes of all pages that the newest commit uses.
  fileprivate func usedByteCount() throws -> Int {
    let info = try environment.info
    let free = try read { try $0.transaction.freePageCount() }
    return max(0, info.usedBytes - free * info.pageSize)
  }
}
