import CLMDB

/// The state of an environment's running write and of the writers' turns, for one thread at a time.
struct WriteSide {
  /// The value of ``Environment/readOpenedTreeCount`` when the running write began.
  var readOpenedTreeCountAtBegin = 0
  /// LMDB's transaction of the running write.
  var activeWrite: OpaquePointer?
  /// The first error of LMDB in the running write, after which the transaction is unusable.
  var firstFailure: LMDBError?
  /// Whether the running write must begin again, because another thread opened a tree meanwhile.
  var mustRestart = false
  /// Whether the running write has changed a page.
  ///
  /// LMDB makes no commit for a write that has changed no page.
  var hasWritten = false
  /// The trees that the running write has opened.
  var openedTrees: [String: Tree] = [:]
  var holdsTreeLock = false
  /// The time of the last search for dead readers, in whole seconds.
  var lastReaderCheck = 0
  /// The hooks that the members of the running write registered for its commit.
  var commitHooks: [(member: Int, body: (_ write: UInt64, _ commit: UInt64) -> Void)] = []
  /// The running asynchronous write.
  var runningWrite: (any GroupMember)?
  /// The index of the running member within its group; 0 without a group.
  var runningMember = 0
  /// The number of writes committed through this environment.
  var writeCount: UInt64 = 0
  /// The preparation of the running write; see ``WritingTransaction/commitPreparation(_:)``.
  var commitPreparation: (any CommitPreparation)?
  /// Whether the running write reads many pages; see ``Environment/beginBulkWrite()``.
  var isBulkWrite = false
}
