#if GRDB
  import BenchmarkFigures
  import GRDB
  import Foundation
  import Synchronization

  /// GRDB as its guide recommends: Codable records and the query interface.
  struct GRDBCodableSide: Side {
    let name = "grdb-codable"
    let workload: Workload

    func open(_ path: String) throws -> any SideStore {
      GRDBCodableStore(
        workload: workload, pool: try GRDBFile.open(path, dateType: .datetime))
    }
  }

  final class GRDBCodableStore: GRDBStore {
    private typealias Columns = PodRecord.Columns

    let workload: Workload
    let pool: DatabasePool

    init(workload: Workload, pool: DatabasePool) {
      self.workload = workload
      self.pool = pool
    }

    func everything() throws -> Answer {
      Answer(try pool.read { try PodRecord.order(Columns.id).fetchAll($0) })
    }

    func changes(_ operation: Operation) -> Work? {
      switch operation {
      case .upsert:
        changing { [workload] db in
          for pod in workload.upserts {
            var record = PodRecord(pod)
            try record.upsert(db)
          }
          // GRDB also writes the unchanged records, and does not report how many changed.
          return (workload.pods.count) / 2
        }
      case .updateBool:
        changing { db in
          try PodRecord.filter(Columns.deprecated == false)
            .updateAll(db, Columns.deprecated.set(to: true))
        }
      case .deleteIn:
        changing { [workload] db in
          try self.inChunks(workload.inNames) { names in
            try PodRecord.filter(names.contains(Columns.name)).deleteAll(db)
          }
        }
      case .deleteDates:
        changing { [dates = workload.tenth] db in
          try PodRecord.filter(dates.contains(Columns.updatedAt)).deleteAll(db)
        }
      default: nil
      }
    }

    func reads(_ operation: Operation) -> Work? {
      switch operation {
      case .getUnique:
        found { [workload] db in try workload.wanted.map { try self.get($0, db) } }
      case .getID:
        found { [workload] db in
          try workload.wanted.compactMap { try PodRecord.fetchOne(db, key: Int64($0) + 1) }
        }
      case .multiGet:
        found { [workload] db in try workload.manyPlaces.map { try self.get($0, db) } }
      case .fetchAll: found { try PodRecord.order(Columns.id).fetchAll($0) }
      case .fetchTwo:
        .timed {
          let answer = try self.read { db in
            var answer = Answer(count: 0)
            let rows = try PodRecord.select(Columns.name, Columns.downloads).asRequest(of: Row.self)
              .fetchCursor(db)
            while let row = try rows.next() {
              let name: String = row[0]
              let downloads: Int64 = row[1]
              answer.count += 1
              answer.hash &+=
                UInt64(downloads) &+ UInt64(name.utf8.count) &+ UInt64(name.utf8.first ?? 0)
            }
            return answer
          }
          return { answer }
        }
      case .dateRanges:
        found { [workload] db in
          var pods: [PodRecord] = []
          for dates in workload.ranges {
            pods += try PodRecord.filter(dates.contains(Columns.updatedAt))
              .order(Columns.updatedAt).fetchAll(db)
          }
          return pods
        }
      case .scanNumbers:
        counted { [workload] in
          PodRecord.filter(
            Columns.downloads > workload.downloads && Columns.updatedAt != workload.noDate)
        }
      case .scanText:
        counted { [license = workload.license] in PodRecord.filter(Columns.license == license) }
      case .countDates:
        counted { [dates = workload.tenth] in
          PodRecord.filter(dates.contains(Columns.updatedAt))
        }
      case .top:
        found {
          try PodRecord.order(Columns.downloads.desc, Columns.id.desc).limit(50).fetchAll($0)
        }
      case .firstPages:
        found { db in
          let newest = PodRecord.order(Columns.updatedAt.desc, Columns.id.desc).limit(50)
          var page: [PodRecord] = []
          for _ in 0..<Amounts.firstPages { page = try newest.fetchAll(db) }
          return page
        }
      default: nil
      }
    }

    // MARK: Parts

    private func counted(_ request: @escaping () -> QueryInterfaceRequest<PodRecord>) -> Work {
      .timed {
        let count = try self.read { try request().fetchCount($0) }
        return { Answer(count: count) }
      }
    }

    func insertItems(_ db: Database) throws -> Int {
      for item in workload.items {
        var record = ItemRecord(item)
        try record.insert(db)
      }
      return workload.items.count
    }

    func items(_ db: Database) throws -> [ItemRecord] {
      try ItemRecord.order(Column("createdAt")).fetchAll(db)
    }

    func insert(_ db: Database) throws -> Int {
      for pod in workload.pods {
        var record = PodRecord(pod)
        try record.insert(db)
      }
      return workload.pods.count
    }

    private func get(_ place: UInt32, _ db: Database) throws -> PodRecord {
      let pod = workload.pods[Int(place)]
      let found = try PodRecord.filter(Columns.name == pod.name && Columns.version == pod.version)
        .fetchOne(db)
      guard let found else { throw BenchmarkError("grdb-codable: a record is missing") }
      return found
    }

    // SQLite limits the number of bound values in a statement.
    private func inChunks(_ names: [String], _ body: ([String]) throws -> Int) throws -> Int {
      var count = 0
      for start in stride(from: 0, to: names.count, by: 10_000) {
        count += try body(Array(names[start..<min(start + 10_000, names.count)]))
      }
      return count
    }
  }

  extension GRDBCodableStore {
    func insertSingle(_ place: Int) throws {
      var record = PodRecord(workload.singles[place])
      try pool.write { try record.insert($0) }
    }

    func insertSingleFromTask(_ place: Int, turn: borrowing Mutex<Void>) async throws {
      let pod = workload.singles[place]
      try await pool.write { db in
        var record = PodRecord(pod)
        try record.insert(db)
      }
    }

    func writeBatch(_ batch: Range<Int>) throws {
      try pool.write { db in
        for pod in workload.upserts[batch] {
          var record = PodRecord(pod)
          try record.upsert(db)
        }
      }
    }

    func gets(_ places: [UInt32]) throws {
      for place in places {
        let pod = try pool.read { try get(place, $0) }
        guard pod.downloads >= workload.pods[Int(place)].downloads else {
          throw BenchmarkError("grdb-codable: a record is wrong")
        }
      }
    }
  }
#endif
