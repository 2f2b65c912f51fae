import EntityStore
import Foundation

/// Pages of pods that follow from their number, and one record, "newest", that every page updates
/// to its own number: what is in the store tells which pages were committed.
struct GeneratedPages: AsyncSequence, Sendable {
  static let recordCount = 40

  var first: Int
  var last: Int
  /// Told the number of a page that has been committed.
  var didCommit: @Sendable (Int) -> Void = { _ in }

  static func records(_ page: Int) -> [Pod] {
    (1..<recordCount).map { record in
      Pod(
        name: "pod \(page)", version: "\(record)",
        summary: String(repeating: "summary \(page) ", count: record % 7), stars: page)
    } + [Pod(name: "newest", version: "", stars: page)]
  }

  static func run(
    _ pages: GeneratedPages, into store: Store
  ) async throws -> ImportReport {
    try await Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
      .run(decoded: pages) { $0 }
  }

  struct Iterator: AsyncIteratorProtocol {
    var pages: GeneratedPages
    var next: Int

    mutating func next() async -> [Pod]? {
      // The importer asks for a page when it has handed the one before to the writer, which it
      // does when the one before that has been committed.
      if next - 2 >= pages.first { pages.didCommit(next - 2) }
      guard next <= pages.last else { return nil }
      defer { next += 1 }
      return GeneratedPages.records(next)
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(pages: self, next: first) }
}
