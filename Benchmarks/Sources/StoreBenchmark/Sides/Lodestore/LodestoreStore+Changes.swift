import BenchmarkFigures
import Lodestore
import Synchronization

extension LodestoreStore {
  func changes(_ operation: Operation) -> Work? {
    switch operation {
    case .insert: changing { try self.insert() }
    case .upsert:
      changing { [workload] in
        try self.write { tx in
          try tx.insert(workload.upserts, onConflict: .replace, returning: .counts)
            .updatedCount
        }
      }
    case .updateBool:
      changing {
        try self.write { tx in
          try tx.update(Pod.where { $0.deprecated == false }) { $0.deprecated = true }
        }
      }
    case .deleteIn:
      changing { [workload] in
        let names = workload.inNames
        return try self.write { tx in try tx.delete(Pod.where { $0.name.isIn(names) }) }
      }
    case .deleteDates:
      changing { [dates = workload.tenth] in
        try self.write { tx in try tx.delete(Pod.where { $0.updatedAt.isIn(dates) }) }
      }
    case .insertItems:
      changing { [items = workload.items] in
        try self.write { tx in
          try tx.insert(items, returning: .counts).insertedCount
        }
      }
    case .insertMemory:
      .figure { try AnonymousMemory.growth { _ = try self.insert() } }
    default: nil
    }
  }

  /// Work whose answer is the number of changed records.
  private func changing(_ body: @escaping () throws -> Int) -> Work {
    timed(body) { Answer(count: $0) }
  }

  private func insert() throws -> Int {
    try write { [pods = workload.pods] tx in
      try tx.insert(pods, returning: .counts).insertedCount
    }
  }

  /// Calls the synchronous method; inside an async function, overloading would choose the async
  /// one.
  private func write<R>(_ body: (inout WriteTransaction) throws -> R) throws -> R {
    try store.write(body)
  }
}

extension LodestoreStore: ConcurrentStore {
  func insertSingle(_ place: Int) throws {
    let pod = workload.singles[place]
    try store.write { tx in try tx.insert(pod) }
  }

  func insertSingleFromTask(_ place: Int, turn: borrowing Mutex<Void>) async throws {
    let pod = workload.singles[place]
    try await store.write { tx in _ = try tx.insert(pod) }
  }

  func writeBatch(_ batch: Range<Int>) throws {
    let pods = workload.upserts[batch]
    try store.write { tx in
      _ = try tx.insert(pods, onConflict: .replace, returning: .counts)
    }
  }

  func gets(_ places: [UInt32]) throws {
    let index = Pod.index(\.name, \.version)
    for place in places {
      let wanted = workload.pods[Int(place)]
      let pod = try store.read { try $0.fetch(index.key(wanted.name, wanted.version)) }
      guard let pod, pod.downloads >= wanted.downloads else {
        throw BenchmarkError("lodestore: a record is wrong")
      }
    }
  }
}
