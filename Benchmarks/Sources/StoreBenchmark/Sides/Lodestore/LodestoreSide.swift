import Lodestore

/// Lodestore through its public interface, with the default options.
struct LodestoreSide: Side {
  let name = "lodestore"
  let workload: Workload
  let mapSize: Int

  func open(_ path: String) throws -> any SideStore {
    var options = StoreOptions()
    options.mapSizeInBytes = mapSize
    return LodestoreStore(
      workload: workload,
      store: try Store(at: path, entities: [Pod.self, ToDo.self], options: options))
  }
}

final class LodestoreStore: SideStore {
  let workload: Workload
  let store: Store

  init(workload: Workload, store: Store) {
    self.workload = workload
    self.store = store
  }

  func close() { store.close() }

  func everything() throws -> Answer {
    Answer(try store.read { try $0.fetch(Pod.all) })
  }

  func work(_ operation: Operation) -> Work? {
    switch operation {
    case .insert, .upsert, .updateBool, .deleteIn, .deleteDates, .insertItems, .insertMemory:
      changes(operation)
    case .singleInserts, .taskInserts, .gets, .getsBesideWriter:
      concurrentWork(operation, workload)
    case .asyncRead, .asyncWrite, .fetchAsync, .fetchBatches: calls(operation)
    case .importMembers, .importCodable: imports(operation)
    default: reads(operation)
    }
  }

  /// Work of a synchronous closure.
  func timed<R>(
    _ body: @escaping () throws -> R, check: @escaping (R) throws -> Answer
  ) -> Work {
    .timed {
      let result = try body()
      return { try check(result) }
    }
  }
}
