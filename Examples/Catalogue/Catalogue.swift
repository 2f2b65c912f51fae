import Foundation
import Lodestore
import LodestoreDatasets
import LodestoreWeb

/// A catalogue of podspecs that works offline, and a second store with the user's favourites.
package struct Catalogue: Sendable {
  package static let name = "podspecs"

  /// The podspecs of the seed, or of the newest generation that a refresh has fetched.
  package let dataset: CachedDataset
  /// The store of the favourites, attached to the dataset with the podspecs that they refer to.
  package let attached: AttachedStore

  /// Opens the catalogue and the favourites in a folder, without a connection.
  ///
  /// - Parameters:
  ///   - seed: The sealed file that the program ships with.
  ///   - service: The service with newer podspecs.
  package init(in folder: String, seed: String, service: URL) throws {
    dataset = try CachedDataset(
      Self.name, in: folder + "/datasets", entities: [Podspec.self], seed: seed,
      origin: .service { try await Self.fetch(from: service, into: $0) })
    let favourites = try Store(at: folder + "/favourites.lodestore", entities: [Favourite.self])
    attached = favourites.attach(dataset)
  }

  /// Closes the favourites.
  package func close() { attached.store.close() }
}

// MARK: Refreshing

extension Catalogue {
  /// A podspec as the service sends it.
  private struct Record: Decodable {
    var name: String
    var version: String
    var summary: String?
    var license: JSONValue?
  }

  private static func fetch(from service: URL, into refresh: ServiceRefresh) async throws {
    var options = WebPages.Options()
    options.firstWait = .milliseconds(100)
    options.retries = 1
    let pages = WebPages(
      service.appending(path: "pods"),
      paging: .pageNumber(first: 0, endsAt: .pageCount(at: "number_of_pages")), options: options)
    let importer = Importer(
      into: refresh.store, Podspec.self, matching: .unique(\.name, \.version), strategy: .mirror)
    _ = try await importer.run(pages, records: "result") { (record: Record) in
      Podspec(
        name: record.name, version: record.version, summary: record.summary ?? "",
        license: record.license?.stringValue ?? record.license?["type"]?.stringValue)
    }
  }
}

// MARK: Reading and marking

extension Catalogue {
  /// A favourite and its podspec; `nil` if the catalogue no longer has the podspec.
  package typealias Marked = (favourite: Favourite, spec: Podspec?)

  /// The podspecs with a word in their name or summary, by name and version.
  package func specs(with word: String) throws -> [Podspec] {
    let all = Podspec.all.sorted(by: \.name, \.version)
    let found = all.where {
      anyOf(
        $0.name.contains(word, [.caseInsensitive]), $0.summary.contains(word, [.caseInsensitive]))
    }
    return try dataset.currentStore.fetch(word.isEmpty ? all : found)
  }

  /// Marks a podspec of the catalogue as a favourite, or changes the favourite's note.
  ///
  /// Returns `false` if the catalogue does not have the podspec.
  package func mark(_ name: String, _ version: String, note: String) throws -> Bool {
    guard let spec = try dataset.currentStore.fetch(Podspec.key(name: name, version: version))
    else {
      return false
    }
    let favourite = Favourite(spec: try Reference(spec), note: note)
    try attached.store.write { tx in
      try tx.insert([favourite], onConflict: .replace)
    }
    return true
  }

  /// The favourites in the order in which the user marked them.
  package func favourites() throws -> [Marked] {
    try attached.read { snapshot in
      try snapshot.fetch(Favourite.all.sorted(by: \.id), resolving: \.spec).map {
        ($0.record, $0.target)
      }
    }
  }
}
