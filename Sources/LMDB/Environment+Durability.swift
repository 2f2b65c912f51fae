import CLMDB

extension Environment {
  /// Of several users of one environment the one that asks for the most durable commits gets them,
  /// from the next write on.
  func strengthen(to durability: EnvironmentOptions.Durability) {
    guard durability == .full, options.durability != .full else { return }
    mustSyncMetaPages.store(true, ordering: .relaxed)
  }

  /// By the writer, before it begins: LMDB looks at the flag within a commit.
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
