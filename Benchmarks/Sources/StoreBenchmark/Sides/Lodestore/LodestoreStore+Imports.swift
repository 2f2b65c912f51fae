import BenchmarkFigures
import Foundation
import Lodestore

/// A pod as a program would decode it from JSON.
private struct PodPage: Decodable, Sendable {
  var name: String
  var version: String
  var homepage: String?
  var license: String
  var summary: String
  var downloads: Int64
  var updatedAt: Date
  var deprecated: Bool

  var pod: Pod {
    Pod(
      name: name, version: version, homepage: homepage, license: license, summary: summary,
      downloads: downloads, updatedAt: updatedAt, deprecated: deprecated)
  }
}

/// Imports of a file of JSON pages into the empty store.
extension LodestoreStore {
  func imports(_ operation: Operation) -> Work? {
    let path = URL(fileURLWithPath: store.path).deletingLastPathComponent().path
    // The file is written outside the closure, because only the import is measured.
    let written = Result { try ImportPages(of: workload.pods, in: path) }
    return .timed { [workload] in
      let pages = FilePages.pagePerLine(try written.get().path)
      let importer = Importer(
        into: self.store, Pod.self, matching: .unique(\.name, \.version))
      let report =
        if operation == .importMembers {
          try await importer.run(pages, records: "result", renaming: [:])
        } else {
          try await importer.run(pages, records: "result", as: PodPage.self) { $0.pod }
        }
      guard report.inserted == workload.pods.count else { throw BenchmarkError("\(report)") }
      return { try self.everything() }
    }
  }
}
