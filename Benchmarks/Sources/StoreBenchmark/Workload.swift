import CRawLMDB
import EntityStore
import Foundation

/// The operations, each for all sides, on the same records.
final class Workload {
  let pods: [Pod]
  let raw: UnsafeMutableBufferPointer<raw_pod>
  private let texts: UnsafeMutablePointer<CChar>
  let order: [UInt32]
  /// The places of the pods that are looked for by IN.
  let wanted: [UInt32]
  private let directory: String

  init(pods: [Pod], directory: String) throws {
    self.pods = pods
    self.directory = directory
    var generator = Generator(seed: 42)
    order = (0..<min(200_000, pods.count)).map { _ in
      UInt32(generator.next(below: UInt64(pods.count)))
    }
    wanted = Array(order.prefix(50_000))
    let size = pods.reduce(0) {
      $0 + $1.name.utf8.count + $1.version.utf8.count + ($1.homepage?.utf8.count ?? 0)
        + $1.license.utf8.count + $1.summary.utf8.count
    }
    texts = .allocate(capacity: size)
    raw = .allocate(capacity: pods.count)
    var next = texts
    func place(_ text: String) -> (UnsafePointer<CChar>, UInt32) {
      let start = next
      for byte in text.utf8 {
        next.pointee = CChar(bitPattern: byte)
        next += 1
      }
      return (UnsafePointer(start), UInt32(text.utf8.count))
    }
    for (i, pod) in pods.enumerated() {
      let name = place(pod.name)
      let version = place(pod.version)
      let homepage = place(pod.homepage ?? "")
      let license = place(pod.license)
      let summary = place(pod.summary)
      raw[i] = raw_pod(
        name: name.0, version: version.0, homepage: homepage.0, license: license.0,
        summary: summary.0, name_length: name.1, version_length: version.1,
        homepage_length: homepage.1, license_length: license.1, summary_length: summary.1,
        downloads: pod.downloads, updated_at: pod.updatedAt.timeIntervalSinceReferenceDate,
        deprecated: pod.deprecated ? 1 : 0)
    }
  }

  deinit {
    raw.deallocate()
    texts.deallocate()
  }

  /// In order; a later one uses what an earlier one of the same run left.
  var steps: [Step] {
    let ofBoth =
      [
        Step("insert", "raw LMDB, naive") { try self.rawInsert(sorted: false) },
        Step("insert", "raw LMDB, sorted", isPrepared: true) { try self.rawInsert(sorted: true) },
        Step("insert", "Lodestore", isPrepared: true) { try self.insert() },
        Step("get by unique key", "raw LMDB") { try self.rawGet() },
        Step("get by unique key", "Lodestore") { try self.get() },
        Step("fetch all, decoded", "Lodestore") { try self.fetchAll() },
      ] + queries + changes
    return (ofBoth + sqlite).groupedByOperation
  }

  var rawPath: String { directory + "/raw" }
  var storePath: String { directory + "/pods.lodestore" }
  var sqlitePath: String { directory + "/pods.sqlite" }

  /// The bytes of the files that are there.
  var sizes: [(side: String, bytes: Int)] {
    [("raw LMDB", rawPath), ("Lodestore", storePath), ("raw SQLite", sqlitePath)]
      .compactMap { side, path in
        var status = stat()
        return stat(path, &status) == 0 ? (side, Int(status.st_size)) : nil
      }
  }

  func remove(_ path: String) {
    for suffix in ["", "-lock", "-journal"] { unlink(path + suffix) }
  }

  func check(_ code: Int32) throws {
    if code != 0 { throw BenchmarkError(text: "raw LMDB answered \(code)") }
  }

  func rawChange(_ body: (UnsafeMutablePointer<Int>) -> Int32) throws -> Int {
    var count = 0
    try check(body(&count))
    return count
  }

  private func rawInsert(sorted: Bool) throws -> Int {
    remove(rawPath)
    return try rawChange { raw_insert(rawPath, raw.baseAddress, raw.count, sorted ? 1 : 0, $0) }
  }

  private func insert() throws -> Int {
    remove(storePath)
    let store = try Store(at: storePath, entities: [Pod.self])
    defer { store.close() }
    return try store.write { tx in try tx.insert(contentsOf: pods).insertedCount }
  }

  private func rawGet() throws -> Int {
    try rawChange { raw_get(rawPath, raw.baseAddress, order, order.count, $0) }
  }

  private func get() throws -> Int {
    let index = Pod.index(\.name, \.version)
    return try query { snapshot in
      for place in order {
        let wanted = pods[Int(place)]
        guard let pod = try snapshot.fetch(index, key: wanted.name, wanted.version),
          pod.downloads == wanted.downloads
        else { throw BenchmarkError(text: "\(wanted.name) was not found") }
      }
      return order.count
    }
  }

  private func fetchAll() throws -> Int {
    let all = try query { snapshot in try snapshot.fetchAll(Pod.self) }
    guard all.count == pods.count else { throw BenchmarkError(text: "\(all.count) pods") }
    return all.count
  }
}
