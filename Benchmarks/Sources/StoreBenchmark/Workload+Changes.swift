import CRawLMDB
import EntityStore
import Foundation

/// Batch changes of the records that the inserts before them left, each in a durable transaction.
extension Workload {
  /// A tenth of the dates, as seconds.
  var dates: Range<Double> { 1e8..<1.2e8 }

  var changes: [Step] {
    [
      Step("batch update of a Bool", "raw LMDB") {
        try self.rawChange { raw_set_deprecated(self.rawPath, $0) }
      },
      Step("batch update of a Bool", "Lodestore") {
        try self.change { tx in
          try tx.update(Pod.self, where: \.deprecated == false, .set(\.deprecated, to: true))
        }
      },
      Step("batch delete of 10 % by date", "raw LMDB") {
        let dates = self.dates
        return try self.rawChange {
          raw_delete_dates(self.rawPath, dates.lowerBound, dates.upperBound, $0)
        }
      },
      Step("batch delete of 10 % by date", "Lodestore") {
        let from = Date(timeIntervalSinceReferenceDate: self.dates.lowerBound)
        let to = Date(timeIntervalSinceReferenceDate: self.dates.upperBound)
        return try self.change { tx in
          try tx.delete(Pod.self, where: \.updatedAt >= from && \.updatedAt < to)
        }
      },
      Step("batch delete of 50k by IN", "raw LMDB") {
        try self.rawChange {
          raw_delete_names(
            self.rawPath, self.raw.baseAddress, self.wanted, self.wanted.count, $0)
        }
      },
      Step("batch delete of 50k by IN", "Lodestore") {
        let names = self.wanted.map { self.pods[Int($0)].name }
        return try self.change { tx in
          try tx.delete(Pod.query.where { $0.name.isIn(names) })
        }
      },
    ]
  }

  /// How many records each side is left with; not measured.
  var rest: [Step] {
    [
      Step("records left", "raw LMDB") { try self.rawQuery { raw_count($0, $1) } },
      Step("records left", "Lodestore") { try self.query { try $0.count(Pod.query) } },
    ] + sqliteRest
  }

  private func change(_ body: (inout WriteTransaction) throws -> Int) throws -> Int {
    let store = try Store(at: storePath, entities: [Pod.self])
    defer { store.close() }
    return try store.write(body)
  }
}
