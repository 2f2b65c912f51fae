import Foundation
import Lodestore
import LodestoreWeb

extension FireballStore {
  /// Makes the fireballs those of a file in the service's form.
  ///
  /// New ones are inserted, changed ones updated and those that are gone deleted; what is as it was
  /// is not written.
  @discardableResult
  package func refresh(
    file path: String, onEvent: (@Sendable (ImportEvent) -> Void)? = nil
  ) async throws -> ImportReport {
    let report = try await importer.run(FilePages.columns(path), onEvent: onEvent, Self.fireball)
    try await sortIntoGroups()
    return report
  }

  /// The same from a web service, which is asked by entity tag: an unchanged answer is not even
  /// sent.
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

/// Pages of a web service whose columns are named once, as pages of objects.
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
