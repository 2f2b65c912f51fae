import CRawLMDB
import EntityStore
import Foundation

/// Batch changes of the records that the inserts before them left, each in a durable transaction.
extension Workload {
  var changes: [(String, () throws -> Void)] {
    [
      ("update a Bool: raw LMDB", { try self.rawChange { raw_set_deprecated(self.rawPath, $0) } }),
      (
        "update a Bool: Lodestore",
        {
          try self.change { tx in
            try tx.update(Pod.self, where: \.deprecated == false, .set(\.deprecated, to: true))
          }
        }
      ),
      (
        "delete 10 % by date: raw LMDB",
        { try self.rawChange { raw_delete_dates(self.rawPath, 1e8, 1.2e8, $0) } }
      ),
      (
        "delete 10 % by date: Lodestore",
        {
          let dates = [1e8, 1.2e8].map { Date(timeIntervalSinceReferenceDate: $0) }
          try self.change { tx in
            try tx.delete(Pod.self, where: \.updatedAt >= dates[0] && \.updatedAt < dates[1])
          }
        }
      ),
      ("delete 50k by IN: raw LMDB", { try self.rawDeleteNames() }),
      (
        "delete 50k by IN: Lodestore",
        {
          let names = self.order.prefix(50_000).map { self.pods[Int($0)].name }
          try self.change { tx in
            try tx.delete(Pod.query.where { $0.name.isIn(names) })
          }
        }
      ),
    ]
  }

  private func rawChange(_ body: (UnsafeMutablePointer<Int>) -> Int32) throws {
    var count = 0
    try check(body(&count))
    guard count > pods.count / 50 else { throw BenchmarkError(text: "raw LMDB changed \(count)") }
  }

  private func rawDeleteNames() throws {
    let wanted = Array(order.prefix(50_000))
    try rawChange { raw_delete_names(self.rawPath, self.raw.baseAddress, wanted, wanted.count, $0) }
  }

  private func change(_ body: (inout WriteTransaction) throws -> Int) throws {
    let store = try Store(at: storePath, entities: [Pod.self])
    let count = try store.write(body)
    store.close()
    guard count > pods.count / 50 else { throw BenchmarkError(text: "changed \(count)") }
  }
}
