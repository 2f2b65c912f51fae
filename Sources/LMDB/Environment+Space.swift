import CLMDB
import LodestoreSystem

extension Environment {
  /// Truncates the pages that a failed write has left after the last commit.
  ///
  /// LMDB leaves such pages in the file for later writes. On a full disk no other program could use
  /// the space of these pages. Freeing a little space elsewhere would not help a write that needs
  /// more space.
  ///
  /// Requires `writerLock` and that no write runs. The function holds LMDB's lock, so that no other
  /// process writes. No snapshot refers to a page after the last commit.
  func giveSpaceBack() {
    var transaction: OpaquePointer?
    guard mdb_txn_begin(handle, nil, 0, &transaction) == 0, let transaction else { return }
    defer { mdb_txn_abort(transaction) }
    // As for a write, the data file must be the file that the lock file belongs to.
    let last = UInt64(bitPattern: Int64(mdb_txn_id(transaction))) &- 1
    guard last == newestTransaction else { return }
    var descriptor: Int32 = -1
    mdb_env_get_fd(handle, &descriptor)
    let used = rawInfo.usedBytes
    guard let status = stat(of: descriptor), Int(status.st_size) > used else { return }
    ftruncate(descriptor, off_t(used))
  }
}
