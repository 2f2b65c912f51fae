internal import CLMDB

extension Environment {
  /// Takes over the map size that another process has committed.
  ///
  /// Call outside the gate.
  func adoptMapSize() throws(LMDBError) {
    try moveMap(to: 0, waiting: options.mapGrowthWait)
  }

  /// Enlarges the map after a write found it full. Call with the writer's place, outside the gate.
  ///
  /// Small maps grow fourfold, so that a large transaction that starts on a small map is not run
  /// over and over.
  func growMap() throws(LMDBError) {
    let size = try mapSizeAndUse().size
    let target = min(size < 256 << 20 ? size * 4 : size * 2, options.mapGrowthLimitInBytes)
    guard target > size else {
      throw LMDBError(.mapAtLimit(mapSizeInBytes: size), operation: "grow the map", path: path)
    }
    try moveMap(to: target, waiting: options.mapGrowthWait)
  }

  /// Enlarges the map ahead of need, if it gets tight and nobody has to be waited for.
  ///
  /// Call with the writer's place, outside the gate. Not succeeding is no failure: the write that
  /// then finds the map full waits and reports.
  func growMapIfTight() throws(LMDBError) {
    let (size, used) = try mapSizeAndUse()
    guard size - used < max(1 << 20, size / 8), size < options.mapGrowthLimitInBytes else { return }
    guard gate.openTransactionCount == 0 else { return }
    let target = min(size * 2, options.mapGrowthLimitInBytes)
    try? moveMap(to: target, waiting: .zero)
  }

  private func mapSizeAndUse() throws(LMDBError) -> (size: Int, used: Int) {
    try gate.enterWithoutTransaction("read the map's size")
    defer { leaveGate() }
    var information = MDB_envinfo()
    mdb_env_info(raw, &information)
    return (information.me_mapsize, (information.me_last_pgno + 1) * pageSizeInBytes)
  }

  private func moveMap(to sizeInBytes: Int, waiting wait: Duration) throws(LMDBError) {
    let oldSize = try mapSizeAndUse().size
    let mustFinish = try gate.withoutTransactions(
      waiting: wait, mapSizeInBytes: oldSize, operation: "grow the map"
    ) { () throws(LMDBError) in
      let code = mdb_env_set_mapsize(raw, sizeInBytes)
      guard code != MDB_SUCCESS else { return }
      let error = LMDBError(engine: code, operation: "grow the map", path: path)
      // The engine unmaps before it maps. With the old size refused as well there is no map left
      // to read from, and using the environment again would crash.
      if mdb_env_set_mapsize(raw, oldSize) != MDB_SUCCESS { gate.breakDown(error) }
      throw error
    }
    if mustFinish { finish() }
  }
}
