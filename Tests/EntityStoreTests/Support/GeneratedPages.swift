import EntityStore
import Foundation

/// Pages of pods that follow from their number.
///
/// One record, "newest", is updated by every page to its own number, so the store shows which pages
/// were committed.
struct GeneratedPages: AsyncSequence, Sendable {
  static let recordCount = 40

  var last: Int
  /// The closure that is called when a page is requested.
  var willRead: @Sendable (Int) -> Void = { _ in }

  static func records(_ page: Int) -> [Pod] {
    (1..<recordCount).map { record in
      Pod(
        name: "pod \(page)", version: "\(record)",
        summary: String(repeating: "summary \(page) ", count: record % 7), stars: page)
    } + [Pod(name: "newest", version: "", stars: page)]
  }

  /// The page as text.
  static func text(_ page: Int) -> Data {
    let records = records(page).map { pod in
      #"{"name":"\#(pod.name)","version":"\#(pod.version)","summary":"\#(pod.summary ?? "")","#
        + #""stars":\#(pod.stars)}"#
    }
    return Data("[\(records.joined(separator: ","))]".utf8)
  }

  private struct Record: Decodable {
    var name: String
    var version: String
    var summary: String
    var stars: Int
  }

  static func run(
    _ pages: GeneratedPages, into store: Store, options: ImportOptions = ImportOptions(),
    onEvent: (@Sendable (ImportEvent) -> Void)? = nil
  ) async throws -> ImportReport {
    try await Importer(
      into: store, Pod.self, matching: .unique(\.name, \.version), options: options
    ).run(pages, as: Record.self, onEvent: onEvent) { record in
      Pod(
        name: record.name, version: record.version, summary: record.summary, stars: record.stars)
    }
  }

  struct Iterator: AsyncIteratorProtocol {
    var pages: GeneratedPages
    var next = 1

    mutating func next() async -> Data? {
      guard next <= pages.last else { return nil }
      pages.willRead(next)
      defer { next += 1 }
      return GeneratedPages.text(next)
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(pages: self) }
}
