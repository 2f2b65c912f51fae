#if GRDB
  import GRDB

  /// A store of either GRDB side: its pool, and its operations.
  protocol GRDBStore: ConcurrentStore {
    var workload: Workload { get }
    var pool: DatabasePool { get }

    func insert(_ db: Database) throws -> Int
    func insertItems(_ db: Database) throws -> Int
    func items(_ db: Database) throws -> [ItemRecord]
    func changes(_ operation: Operation) -> Work?
    func reads(_ operation: Operation) -> Work?
  }

  extension GRDBStore {
    func close() throws { try pool.close() }

    func work(_ operation: Operation) -> Work? {
      switch operation {
      case .singleInserts, .taskInserts, .gets, .getsBesideWriter:
        concurrentWork(operation, workload)
      case .insert: changing { try self.insert($0) }
      case .insertItems: changing { try self.insertItems($0) }
      case .itemsByDate:
        .timed {
          let items = try self.read { try self.items($0) }
          return { Answer(items) }
        }
      case .insertMemory:
        .figure { try AnonymousMemory.growth { _ = try self.write { try self.insert($0) } } }
      default: changes(operation) ?? reads(operation)
      }
    }

    /// Calls the synchronous method; inside an async function, overloading would choose the async
    /// one.
    func read<R>(_ body: (Database) throws -> R) throws -> R { try pool.read(body) }
    func write<R>(_ body: (Database) throws -> R) throws -> R { try pool.write(body) }

    func changing(_ body: @escaping (Database) throws -> Int) -> Work {
      .timed {
        let count = try self.write(body)
        return { Answer(count: count) }
      }
    }

    func found(_ body: @escaping (Database) throws -> [PodRecord]) -> Work {
      .timed {
        let pods = try self.read(body)
        return { Answer(pods) }
      }
    }
  }
#endif
