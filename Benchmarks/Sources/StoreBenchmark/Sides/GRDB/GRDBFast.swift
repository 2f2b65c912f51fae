#if GRDB
  import BenchmarkFigures
  import GRDB
  import Foundation
  import Synchronization

  /// GRDB at its fastest: cached statements, columns read by index, dates stored as numbers.
  struct GRDBFastSide: Side {
    let name = "grdb"
    let workload: Workload

    func open(_ path: String) throws -> any SideStore {
      GRDBFastStore(workload: workload, pool: try GRDBFile.open(path, dateType: .double))
    }
  }

  final class GRDBFastStore: GRDBStore {
    let workload: Workload
    let pool: DatabasePool

    init(workload: Workload, pool: DatabasePool) {
      self.workload = workload
      self.pool = pool
    }

    func everything() throws -> Answer {
      Answer(try pool.read { try self.pods($0, FastSQL.all) })
    }

    func changes(_ operation: Operation) -> Work? {
      switch operation {
      case .upsert: changing { [pods = workload.upserts] in try self.upsert($0, pods[...]) }
      case .updateBool:
        changing { db in
          try db.execute(sql: "UPDATE pod SET deprecated = 1 WHERE deprecated = 0")
          return db.changesCount
        }
      case .deleteIn:
        changing { [names = workload.inNames.sorted()] db in
          let delete = try db.cachedStatement(sql: "DELETE FROM pod WHERE name = ?")
          let before = db.totalChangesCount
          for name in names { try delete.execute(arguments: [name]) }
          return db.totalChangesCount - before
        }
      case .deleteDates:
        changing { [dates = workload.tenth.seconds] db in
          try db.execute(
            sql: "DELETE FROM pod WHERE updatedAt >= ? AND updatedAt < ?",
            arguments: [dates.lowerBound, dates.upperBound])
          return db.changesCount
        }
      default: nil
      }
    }

    func reads(_ operation: Operation) -> Work? {
      switch operation {
      case .getUnique:
        found { [workload] db in
          try workload.wanted.flatMap { try self.pods(db, FastSQL.byKey, self.key($0)) }
        }
      case .getID:
        found { [workload] db in
          try workload.wanted.flatMap { try self.pods(db, FastSQL.byID, [Int64($0) + 1]) }
        }
      case .multiGet:
        found { [workload] db in
          try workload.manyPlaces.flatMap { try self.pods(db, FastSQL.byKey, self.key($0)) }
        }
      case .fetchAll: found { try self.pods($0, FastSQL.all) }
      case .fetchTwo:
        .timed {
          let answer = try self.read { try self.sumOfTwo($0) }
          return { answer }
        }
      case .dateRanges:
        found { [workload] db in
          try workload.ranges.flatMap {
            try self.pods(db, FastSQL.byDate, [$0.seconds.lowerBound, $0.seconds.upperBound])
          }
        }
      case .scanNumbers:
        counted(
          "downloads > ? AND updatedAt <> ?",
          [workload.downloads, workload.noDate.timeIntervalSinceReferenceDate])
      case .scanText: counted("license = ?", [workload.license])
      case .countDates:
        counted(
          "updatedAt >= ? AND updatedAt < ?",
          [workload.tenth.seconds.lowerBound, workload.tenth.seconds.upperBound])
      case .top: found { try self.pods($0, FastSQL.top) }
      case .firstPages:
        found { db in
          var page: [PodRecord] = []
          for _ in 0..<Amounts.firstPages { page = try self.pods(db, FastSQL.newest) }
          return page
        }
      default: nil
      }
    }

    // MARK: Parts

    private func counted(_ condition: String, _ arguments: StatementArguments) -> Work {
      .timed {
        let count = try self.read { db in
          try Int.fetchOne(
            db, sql: "SELECT count(*) FROM pod WHERE \(condition)", arguments: arguments)
        }
        return { Answer(count: count ?? 0) }
      }
    }

    private func key(_ place: UInt32) -> StatementArguments {
      let pod = workload.pods[Int(place)]
      return [pod.name, pod.version]
    }

    /// Returns the pods that a cached statement finds.
    private func pods(
      _ db: Database, _ sql: String, _ arguments: StatementArguments = []
    ) throws -> [PodRecord] {
      let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
      var found: [PodRecord] = []
      while let row = try rows.next() { found.append(PodRecord(fast: row)) }
      return found
    }

    func items(_ db: Database) throws -> [ItemRecord] {
      let rows = try Row.fetchCursor(
        db.cachedStatement(sql: "SELECT createdAt, isDone, title FROM item ORDER BY createdAt"))
      var found: [ItemRecord] = []
      while let row = try rows.next() {
        found.append(
          ItemRecord(
            createdAt: Date(timeIntervalSinceReferenceDate: row[0]), isDone: row[1],
            title: row[2]))
      }
      return found
    }

    private func sumOfTwo(_ db: Database) throws -> Answer {
      let rows = try Row.fetchCursor(
        db.cachedStatement(sql: "SELECT name, downloads FROM pod"))
      var answer = Answer(count: 0)
      while let row = try rows.next() {
        let name: String = row[0]
        let downloads: Int64 = row[1]
        answer.count += 1
        answer.hash &+=
          UInt64(downloads) &+ UInt64(name.utf8.count) &+ UInt64(name.utf8.first ?? 0)
      }
      return answer
    }

    func insert(_ db: Database) throws -> Int {
      let insert = try db.cachedStatement(sql: FastSQL.insert)
      for pod in workload.pods { try insert.execute(arguments: pod.arguments) }
      return workload.pods.count
    }

    private func upsert(_ db: Database, _ pods: ArraySlice<Pod>) throws -> Int {
      let upsert = try db.cachedStatement(sql: FastSQL.upsert)
      let before = db.totalChangesCount
      for pod in pods { try upsert.execute(arguments: pod.arguments) }
      return db.totalChangesCount - before
    }

    func insertItems(_ db: Database) throws -> Int {
      let insert = try db.cachedStatement(
        sql: "INSERT INTO item (createdAt, isDone, title) VALUES (?, ?, ?)")
      for item in workload.items {
        try insert.execute(arguments: [
          item.createdAt.timeIntervalSinceReferenceDate, item.isDone, item.title,
        ])
      }
      return workload.items.count
    }
  }

  extension GRDBFastStore {
    func insertSingle(_ place: Int) throws {
      let pod = workload.singles[place]
      try pool.write { db in
        try db.cachedStatement(sql: FastSQL.insert).execute(arguments: pod.arguments)
      }
    }

    func insertSingleFromTask(_ place: Int, turn: borrowing Mutex<Void>) async throws {
      let pod = workload.singles[place]
      try await pool.write { db in
        try db.cachedStatement(sql: FastSQL.insert).execute(arguments: pod.arguments)
      }
    }

    func writeBatch(_ batch: Range<Int>) throws {
      try pool.write { db in _ = try upsert(db, workload.upserts[batch]) }
    }

    func gets(_ places: [UInt32]) throws {
      for place in places {
        let found = try pool.read { try pods($0, FastSQL.byKey, key(place)) }
        guard let pod = found.first,
          pod.downloads >= workload.pods[Int(place)].downloads
        else { throw BenchmarkError("grdb: a record is wrong") }
      }
    }
  }

  private enum FastSQL {
    static let columns =
      "downloads, updatedAt, deprecated, name, version, homepage, license, summary"
    static let insert = "INSERT INTO pod (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    // The condition excludes rows that already have the new values.
    static let upsert = """
      \(insert) ON CONFLICT (name, version) DO UPDATE SET downloads = excluded.downloads,
      updatedAt = excluded.updatedAt, deprecated = excluded.deprecated,
      homepage = excluded.homepage, license = excluded.license, summary = excluded.summary
      WHERE downloads <> excluded.downloads OR updatedAt <> excluded.updatedAt
      OR deprecated <> excluded.deprecated OR homepage IS NOT excluded.homepage
      OR license <> excluded.license OR summary <> excluded.summary
      """
    static let all = "SELECT \(columns) FROM pod ORDER BY id"
    static let byID = "SELECT \(columns) FROM pod WHERE id = ?"
    static let byKey = "SELECT \(columns) FROM pod WHERE name = ? AND version = ?"
    static let byDate =
      "SELECT \(columns) FROM pod WHERE updatedAt >= ? AND updatedAt < ? ORDER BY updatedAt"
    static let top = "SELECT \(columns) FROM pod ORDER BY downloads DESC, id DESC LIMIT 50"
    static let newest = "SELECT \(columns) FROM pod ORDER BY updatedAt DESC, id DESC LIMIT 50"
  }

  extension Pod {
    fileprivate var arguments: StatementArguments {
      [
        downloads, updatedAt.timeIntervalSinceReferenceDate, deprecated, name, version, homepage,
        license, summary,
      ]
    }
  }

  extension PodRecord {
    fileprivate init(fast row: Row) {
      downloads = row[0]
      updatedAt = Date(timeIntervalSinceReferenceDate: row[1])
      deprecated = row[2]
      name = row[3]
      version = row[4]
      homepage = row[5]
      license = row[6]
      summary = row[7]
    }
  }
#endif
