#if SQLite
  import CRawSQLite

  /// SQLite's part in the operations that have one, on a file of its own.
  extension Workload {
    var sqlite: [Step] {
      let path = sqlitePath
      return [
        step("insert", isPrepared: true) {
          self.remove(path)
          return sqlite_insert(path, self.raw.baseAddress, self.raw.count, $0)
        },
        step("batch update of a Bool") { sqlite_set_deprecated(path, $0) },
        step("batch delete of 10 % by date") {
          sqlite_delete_dates(path, self.dates.lowerBound, self.dates.upperBound, $0)
        },
        step("batch delete of 50k by IN") {
          sqlite_delete_names(path, self.raw.baseAddress, self.wanted, self.wanted.count, $0)
        },
      ]
    }

    var sqliteRest: [Step] {
      let path = sqlitePath
      return [step("records left") { sqlite_count(path, $0) }]
    }

    private func step(
      _ operation: String, isPrepared: Bool = false,
      _ body: @escaping (UnsafeMutablePointer<Int>) -> Int32
    ) -> Step {
      Step(operation, "raw SQLite", isPrepared: isPrepared) {
        var count = 0
        let code = body(&count)
        guard code == 0 else { throw BenchmarkError(text: "\(operation): SQLite answered \(code)") }
        return count
      }
    }
  }
#else
  extension Workload {
    var sqlite: [Step] { [] }
    var sqliteRest: [Step] { [] }
  }
#endif
