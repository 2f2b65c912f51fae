import CRawLMDB
import EntityStore
import Foundation

/// Queries on the records that the inserts before them left.
extension Workload {
  var queries: [(String, () throws -> Void)] {
    [
      ("scan, two numbers: raw LMDB", { try self.rawQuery { raw_scan_fixed($0, 2_500_000, 1e8) } }),
      ("scan, two numbers: Lodestore", { try self.scanNumbers() }),
      ("scan, one text: raw LMDB", { try self.rawQuery { raw_scan_text($0, "MIT", 3) } }),
      ("scan, one text: Lodestore", { try self.scanText() }),
      ("50k ids by IN: raw LMDB", { try self.rawNames(readsRecords: 0) }),
      ("50k ids by IN: Lodestore", { try self.nameIDs() }),
      ("50k names by IN: raw LMDB", { try self.rawNames(readsRecords: 1) }),
      ("50k names by IN: Lodestore", { try self.names() }),
      ("1,000 first pages: raw LMDB", { try self.rawFirstPages() }),
      ("1,000 first pages: Lodestore", { try self.firstPages() }),
      ("1,000 plans of 3 clauses: Lodestore", { try self.plans() }),
    ]
  }

  private func rawQuery(_ body: (OpaquePointer) -> UInt64) throws {
    guard let session = raw_open(rawPath) else { throw BenchmarkError(text: "cannot open") }
    defer { raw_close(session) }
    guard body(session) > 0 else { throw BenchmarkError(text: "raw LMDB found nothing") }
  }

  private func query<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
    let store = try Store(at: storePath, entities: [Pod.self])
    defer { store.close() }
    return try store.read(body)
  }

  // MARK: Scans

  private func scanNumbers() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1e8)
    // The dates have an index; the scan is what is measured.
    let condition: Condition<Pod> = \.downloads > 2_500_000 && \.updatedAt != date
    try count(condition, atLeast: 400_000)
  }

  private func scanText() throws {
    try count(\.license == "MIT", atLeast: 10_000)
  }

  private func count(_ condition: Condition<Pod>, atLeast least: Int) throws {
    let count = try query { try $0.count(Pod.query.where(condition)) }
    guard count > least * pods.count / 1_000_000 else { throw BenchmarkError(text: "\(count)") }
  }

  // MARK: IN

  private var wanted: ArraySlice<UInt32> { order.prefix(50_000) }

  private func rawNames(readsRecords: Int32) throws {
    let wanted = Array(wanted)
    try rawQuery { raw_names_in($0, raw.baseAddress, wanted, wanted.count, readsRecords) }
  }

  private func nameIDs() throws {
    let names = wanted.map { pods[Int($0)].name }
    let found = try query { try $0.ids(Pod.query.where { $0.name.isIn(names) }) }
    guard found.count > wanted.count * 9 / 10 else { throw BenchmarkError(text: "\(found.count)") }
  }

  private func names() throws {
    let names = wanted.map { pods[Int($0)].name }
    let found = try query { try $0.fetch(Pod.query.where { $0.name.isIn(names) }) }
    guard found.count > wanted.count * 9 / 10 else { throw BenchmarkError(text: "\(found.count)") }
  }

  // MARK: Pages

  private func rawFirstPages() throws {
    try rawQuery { session in (0..<1_000).reduce(0) { sum, _ in sum + raw_newest(session, 50) } }
  }

  private func firstPages() throws {
    let newest = Pod.query.sorted(by: .descending(\.updatedAt)).limit(50)
    try query { snapshot in
      for _ in 0..<1_000 {
        guard try snapshot.fetch(newest).count == 50 else { throw BenchmarkError(text: "page") }
      }
    }
  }

  private func plans() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1e8)
    let three = Pod.query.where(
      \.license == "MIT" && \.downloads > 1_000_000 && \.updatedAt < date)
    try query { snapshot in
      // Bound to the schema and planned, then nothing is wanted.
      for _ in 0..<1_000 { _ = try snapshot.fetch(three.limit(0)) }
    }
  }
}
