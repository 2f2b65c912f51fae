import Foundation
import Lodestore
import LodestoreWeb

extension FireballStore {
  /// Replaces the fireballs by the fireballs in a file with an answer of the service.
  ///
  /// New fireballs are inserted, changed ones updated and missing ones deleted; unchanged ones are
  /// not written.
  @discardableResult
  package func refresh(
    file path: String, onEvent: (@Sendable (ImportEvent) -> Void)? = nil
  ) async throws -> ImportReport {
    let report = try await importer.run(FilePages.columns(path), onEvent: onEvent, Self.fireball)
    try await sortIntoGroups()
    return report
  }

  /// Replaces the fireballs by the fireballs of a web service.
  ///
  /// The request includes the entity tag of the last answer, so the service does not send an
  /// unchanged answer again.
  @discardableResult
  package func refresh(
    from url: URL, onEvent: (@Sendable (ImportEvent) -> Void)? = nil
  ) async throws -> ImportReport {
    let report = try await importer.run(ColumnPages(url: url), onEvent: onEvent, Self.fireball)
    try await sortIntoGroups()
    return report
  }

  private var importer: Importer<Fireball> {
    var options = ImportOptions()
    options.name = Self.importName
    return Importer(
      into: store, matching: .unique(\.dateTimeStamp), strategy: .mirror, options: options)
  }

  @Sendable private static func fireball(_ record: FireballRecord) throws -> Fireball? {
    try Fireball(record)
  }
}

/// Converts pages that name the columns once to pages of JSON objects, as the importer needs them.
struct ColumnPages: PageSource {
  let url: URL

  func pages(
    from position: String?, remembered: @escaping @Sendable (String) -> PageMemory?
  ) -> AsyncThrowingMapSequence<WebPages.Pages, ImportPage> {
    WebPages(url).pages(from: position, remembered: remembered).map { page in
      var page = page
      page.content = try page.content.map { try ColumnPage($0).json() }
      return page
    }
  }
}
