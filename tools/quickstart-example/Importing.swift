import EntityStore

extension QuickstartExample {
  static func importFilms(from files: [String], into path: String) async throws {
    let store = try Store(at: path, entities: [Film.self])
    let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
    let report = try await importer.run(FilePages(paths: files), records: "results") {
      (film: FilmRecord) in Film(film)
    }
    show(report, of: "films")
  }

  static func importPods(from files: [String], into path: String) async throws {
    let store = try Store(at: path, entities: [Pod.self])
    let importer = Importer(into: store, Pod.self, matching: .unique(\.name, \.version))
    let report = try await importer.run(FilePages(paths: files), records: "result") {
      (spec: PodSpec) in Pod(spec)
    }
    show(report, of: "pods")
  }

  static func importResources(from files: [String], into path: String) async throws {
    let store = try Store(at: path, entities: [Resource.self])
    let importer = Importer(into: store, Resource.self, matching: .unique(\.url))
    let report = try await importer.run(FilePages(paths: files), records: "results") {
      (content: JSONValue) in try Resource(content)
    }
    show(report, of: "resources")
  }

  /// Imports files that each have the whole data set at one date.
  ///
  /// A record that a file no longer has is deleted.
  static func importFireballs(from files: [String], into path: String) async throws {
    let store = try Store(at: path, entities: [Fireball.self])
    let importer = Importer(into: store, Fireball.self, matching: .unique(\.date))
    for file in files {
      let content = try Data(contentsOf: URL(filePath: file))
      let rows = try JSONDecoder().decode(FireballSnapshot.self, from: content).rows
      let report = try await importer.run(decoded: OnePage(rows)) { row in try Fireball(row) }
      let current = Set(rows.compactMap { try? $0.date() })
      let deletedCount = try await store.write { tx in
        var gone: [Fireball.ID] = []
        try tx.forEach(Fireball.all) { fireball in
          if !current.contains(fireball.date) { gone.append(fireball.id) }
        }
        return try tx.delete(gone)
      }
      show(report, of: "fireballs", deletedCount: deletedCount)
    }
  }

  private static func show(
    _ report: ImportReport, of collection: String, deletedCount: Int? = nil
  ) {
    let count = report.inserted + report.updated + report.unchanged + report.rejected
    var line = "\(collection): \(report)"
    if let deletedCount { line += ", \(deletedCount) deleted" }
    let rate = Double(count) / max(report.seconds, 1e-6)
    print("\(line); \(count) records at \(Int(rate)) a second")
  }
}

/// A sequence of one page, for a service that sends everything at once.
struct OnePage<Page: Sendable>: AsyncSequence {
  private let page: Page

  init(_ page: Page) { self.page = page }

  func makeAsyncIterator() -> Iterator { Iterator(page: page) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var page: Page?

    mutating func next() async -> Page? {
      defer { page = nil }
      return page
    }
  }
}
