#if GRDB
  func grdbSides(_ workload: Workload) -> [any Side] {
    [GRDBFastSide(workload: workload), GRDBCodableSide(workload: workload)]
  }
#else
  func grdbSides(_: Workload) -> [any Side] { [] }
#endif
