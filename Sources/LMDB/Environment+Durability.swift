import CLMDB

extension Environment {
  /// Raises the durability of commits.
  ///
  /// Among several users of one environment, the strictest request applies from the next write.
  func strengthen(to durability: EnvironmentOptions.Durability) {
    guard durability == .full, options.durability != .full else { return }
    mustSyncMetaPages.store(true, ordering: .relaxed)
  }

  /// Turns on the sync of meta pages if ``strengthen(to:)`` has requested it.
  ///
  /// The writer calls it before it begins, because LMDB reads the flag during a commit.
  func syncMetaPages() {
    guard mustSyncMetaPages.exchange(false, ordering: .relaxed) else { return }
    mdb_env_set_flags(handle, UInt32(MDB_NOMETASYNC), 0)
  }

  /// Whether a commit waits for the sync of its meta page; for tests.
  package var syncsMetaPages: Bool {
    var flags: UInt32 = 0
    mdb_env_get_flags(handle, &flags)
    return flags & UInt32(MDB_NOMETASYNC) == 0
  }
}
