import Foundation
import Lodestore
import LodestoreWeb

/// The podspecs of a service, kept in a store.
package struct PodLibrary: Sendable {
  /// The store of the podspecs.
  package let store: Store

  private static let entities: [any Entity.Type] = [Podspec.self, Pod.self]

  /// Opens the store at `path`, or makes it.
  package init(at path: String) throws {
    store = try Store(at: path, entities: Self.entities)
  }

  /// A library in memory, for previews and tests.
  package init() throws { store = try Store.inMemory(entities: Self.entities) }
}

// MARK: Synchronizing

extension PodLibrary {
  /// The progress of a synchronization.
  package struct Progress: Sendable {
    /// The number of committed pages, including those of interrupted runs.
    package let pages: Int
    /// The number of all pages; `nil` until a page has arrived.
    package let pageCount: Int?
    /// The number of committed podspecs.
    package let records: Int
  }

  /// Updates the store from the service, page after page.
  ///
  /// A podspec is matched by name and version, and inserted if it is new. One pass over the index
  /// serves many pages. An interrupted run continues after the last committed page, because its
  /// position is committed with the records.
  package func synchronize(
    with service: URL, onProgress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws -> ImportReport {
    var importer = Importer(into: store, Podspec.self, matching: .unique(\.name, \.version))
    importer.links = [
      .init("name", \.pod, by: \.name, makesMissing: true),
      .init("needs", Podspec.dependencies, by: \.name, makesMissing: true),
    ]
    importer.options.resumes = true
    // Observers see new records at least this often.
    importer.options.groupDuration = .milliseconds(100)
    let pages = PodPages(service)
    return try await importer.run(
      pages, records: "result",
      onEvent: { event in
        guard case .committed(let progress) = event else { return }
        onProgress(
          Progress(
            pages: progress.committedPages, pageCount: pages.count, records: progress.committed))
      }
    ) { (record: PodRecord) in Podspec(record) }
  }
}

// MARK: Queries

extension PodLibrary {
  /// All podspecs, by name and version.
  package static let everything = Podspec.all.sorted(by: \.section, \.sortName, \.versionOrder)

  /// Returns the podspecs with every word of `text` in the name, the summary or the authors, the
  /// best matches first.
  ///
  /// The last word may be incomplete. An empty text matches all podspecs, by name and version.
  package static func search(_ text: String) -> Query<Podspec> {
    if text.allSatisfy(\.isWhitespace) { return everything }
    return Podspec.where { $0.search(text, .typing) }.sortedByScore()
  }

  /// Returns words of the podspecs that are similar to the last word of `text`.
  package func suggestions(for text: String) throws -> [String] {
    guard let word = text.split(separator: " ").last else { return [] }
    return try store.searchSuggestions(for: String(word), in: Podspec.self, limit: 3)
  }

  /// The libraries that other podspecs need, the most needed libraries first.
  package static let mostNeeded = Pod.where { $0.dependentCount > 0 }
    .sorted(by: \.dependentCount.descending, \.name.ascending)

  /// Returns the newest version of a library, its requirements, and the number of podspecs that
  /// need it.
  package func detail(
    of name: String
  ) async throws -> (spec: Podspec, dependencies: [Pod], pod: Pod)? {
    try await store.read { snapshot in
      guard let pod = try snapshot.fetch(Pod.key(name: name)),
        let spec = try snapshot.related(
          Pod.specs, of: pod.id, Podspec.all.sorted(by: \.versionOrder.descending).limit(1)
        ).first
      else { return nil }
      let needed = try snapshot.related(
        Podspec.dependencies, of: spec.id, Pod.all.sorted(by: \.name))
      return (spec, needed, pod)
    }
  }
}
