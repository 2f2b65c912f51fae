#if SQLite
  import CRawSQLite

  func sqliteSides(_ workload: Workload) -> [any Side] {
    [
      RawSide(name: "sqlite", workload: workload, engine: raw_sqlite, mapSize: 0),
      RawSide(name: "sqlite-late", workload: workload, engine: raw_sqlite_late, mapSize: 0),
    ]
  }
#else
  func sqliteSides(_: Workload) -> [any Side] { [] }
#endif
