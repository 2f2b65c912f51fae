import CRawLMDB
import EntityStore
import Foundation

/// Queries on the records that the inserts before them left.
extension Workload {
  var queries: [Step] {
    [
      Step("scan, two numbers", "raw LMDB") {
        try self.rawQuery { raw_scan_fixed($0, 2_500_000, 1e8, $1) }
      },
      Step("scan, two numbers", "Lodestore") { try self.scanNumbers() },
      Step("scan, one text", "raw LMDB") { try self.rawQuery { raw_scan_text($0, "MIT", 3, $1) } },
      Step("scan, one text", "Lodestore") { try self.count(\.license == "MIT") },
      Step("50k ids by IN", "raw LMDB") { try self.rawNames(readsRecords: 0) },
      Step("50k ids by IN", "Lodestore") { try self.nameIDs() },
      Step("50k names by IN", "raw LMDB") { try self.rawNames(readsRecords: 1) },
      Step("50k names by IN", "Lodestore") { try self.names() },
      Step("1,000 first pages", "raw LMDB") { try self.rawFirstPages() },
      Step("1,000 first pages", "Lodestore") { try self.firstPages() },
      Step("1,000 plans of 3 clauses", "Lodestore") { try self.plans() },
    ]
  }

  func rawQuery(_ body: (OpaquePointer, UnsafeMutablePointer<Int>) -> Int32) throws -> Int {
    guard let session = raw_open(rawPath) else { throw BenchmarkError(text: "cannot open") }
    defer { raw_close(session) }
    var count = 0
    try check(body(session, &count))
    return count
  }

  func query<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
    let store = try Store(at: storePath, entities: [Pod.self])
    defer { store.close() }
    return try store.read(body)
  }

  // MARK: Scans

  private func scanNumbers() throws -> Int {
    let date = Date(timeIntervalSinceReferenceDate: 1e8)
    // The dates have an index, of no use to `!=`; the scan is what is measured.
    return try count(\.downloads > 2_500_000 && \.updatedAt != date)
  }

  private func count(_ condition: Condition<Pod>) throws -> Int {
    try query { try $0.count(Pod.query.where(condition)) }
  }

  // MARK: IN

  private func rawNames(readsRecords: Int32) throws -> Int {
    try rawQuery { raw_names_in($0, raw.baseAddress, wanted, wanted.count, readsRecords, $1) }
  }

  private func nameIDs() throws -> Int {
    let names = wanted.map { pods[Int($0)].name }
    return try query { try $0.ids(Pod.query.where { $0.name.isIn(names) }).count }
  }

  private func names() throws -> Int {
    let names = wanted.map { pods[Int($0)].name }
    return try query { try $0.fetch(Pod.query.where { $0.name.isIn(names) }).count }
  }

  // MARK: Pages

  private func rawFirstPages() throws -> Int {
    try rawQuery { session, total in
      for _ in 0..<1_000 {
        var count = 0
        let code = raw_newest(session, 50, &count)
        if code != 0 { return code }
        total.pointee += count
      }
      return 0
    }
  }

  private func firstPages() throws -> Int {
    let newest = Pod.query.sorted(by: .descending(\.updatedAt)).limit(50)
    return try query { snapshot in
      var total = 0
      for _ in 0..<1_000 { total += try snapshot.fetch(newest).count }
      return total
    }
  }

  private func plans() throws -> Int {
    let date = Date(timeIntervalSinceReferenceDate: 1e8)
    let three = Pod.query.where(
      \.license == "MIT" && \.downloads > 1_000_000 && \.updatedAt < date)
    return try query { snapshot in
      // Bound to the schema and planned, then nothing is wanted.
      for _ in 0..<1_000 { _ = try snapshot.fetch(three.limit(0)) }
      return 1_000
    }
  }
}
