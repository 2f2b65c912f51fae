import Foundation
import Lodestore

/// Imports a file of pages, repeated under other names until there are enough records, into a new
/// store.
///
/// Then imports it again unchanged, and with one record of a hundred changed.
///
/// Records are read in two ways, and each is measured: by `Codable`, and by the importer, which
/// matches members with attributes by name.
struct PodspecImport {
  let directory: String

  static func run(
    pages file: String, records: Int, directory: String, runs: Int, only: [String]
  ) async throws {
    let measured = PodspecImport(directory: directory)
    let pages = RepeatedPages(
      try Data(contentsOf: URL(fileURLWithPath: file)), recordCount: records)
    try pages.write(to: measured.path(changed: 0), changed: 0)
    try pages.write(to: measured.path(changed: 1), changed: 1)
    var table = ImportTable()
    let memory = MemoryWatch()
    defer { memory.stop() }
    for _ in 0..<runs {
      for way in Way.allCases where only.isEmpty || only.contains("\(way)") {
        let path = "\(directory)/podspecs.lodestore"
        let store = try Store(at: path, entities: [StoredPodspec.self])
        for (name, changed) in [("first", 0), ("unchanged", 0), ("1 % changed", 1)] {
          table.add(
            "\(way): \(name)",
            try await measured.importPages(way, changed: changed, into: store))
        }
        store.close()
        try FileManager.default.removeItem(atPath: path)
      }
    }
    table.print()
    print("peak anonymous memory: \(memory.peak / 1_000_000) MB")
  }

  private func path(changed: Int) -> String { "\(directory)/pages-\(changed).jsonl" }

  /// The way in which the records of a page become records of the entity.
  enum Way: CaseIterable { case members, codable }

  private func importPages(
    _ way: Way, changed: Int, into store: Store
  ) async throws -> ImportReport {
    let pages = FilePages.pagePerLine(path(changed: changed))
    let importer = Importer(
      into: store, StoredPodspec.self, matching: .unique(\.name, \.version))
    switch way {
    case .members:
      return try await importer.run(
        pages, records: "result", renaming: ["source_files": "sourceFiles"])
    case .codable:
      return try await importer.run(pages, records: "result", as: Podspec.self) {
        StoredPodspec($0)
      }
    }
  }
}

/// Medians of imports, by name.
struct ImportTable {
  private var order: [String] = []
  private var reports: [String: [ImportReport]] = [:]

  mutating func add(_ name: String, _ report: ImportReport) {
    if reports[name] == nil { order.append(name) }
    reports[name, default: []].append(report)
  }

  func print() {
    for name in order {
      guard let runs = reports[name]?.sorted(by: { $0.seconds < $1.seconds }) else { continue }
      let report = runs[runs.count / 2]
      Swift.print(
        name.padding(toLength: 22, withPad: " ", startingAt: 0),
        String(
          format: "%7.0f records/s %6.1f MB/s  %.2f s: decoding %.2f, writing %.2f, %d commits",
          report.recordsPerSecond, Double(report.bytes) / report.seconds / 1e6, report.seconds,
          report.decodingSeconds, report.writingSeconds, report.commits),
        "(\(report))")
    }
  }
}
