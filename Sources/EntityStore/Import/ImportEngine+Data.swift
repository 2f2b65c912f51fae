#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Decodes a page of JSON text into records of the entity.
typealias DataDecoding = (_ page: Data, _ decoded: inout DecodedPage, StoredEntity) throws -> Void

extension ImportEngine {
  /// Imports pages of JSON text.
  ///
  /// Pages of files come with the records that could not be read, which are rejected.
  func run<Pages: AsyncSequence>(
    _ pages: Pages, onEvent: (@Sendable (ImportEvent) -> Void)?,
    decoder: @escaping @Sendable () -> DataDecoding
  ) async throws -> ImportReport where Pages.Element == Data {
    if let files = pages as? FilePages {
      return try await run(files.cutPages, onEvent: onEvent, decoder: decoder)
    }
    return try await run(onEvent: onEvent) { _ in
      pages
    } decoder: {
      let decode = decoder()
      return { data, number, entity in
        var page = DecodedPage(number: number, entity: entity)
        try decode(data, &page, entity)
        return page
      }
    } bytes: { data, body in
      data.withUnsafeBytes(body)
    }
  }

  private func run(
    _ pages: FilePages.CutPages, onEvent: (@Sendable (ImportEvent) -> Void)?,
    decoder: @escaping @Sendable () -> DataDecoding
  ) async throws -> ImportReport {
    try await run(onEvent: onEvent) { _ in
      pages
    } decoder: {
      let decode = decoder()
      return { cut, number, entity in
        var page = DecodedPage(number: number, entity: entity)
        var unreadable: UnreadableInput?
        do {
          try decode(cut.content, &page, entity)
        } catch let error as StoreError {
          // Where a line is the page, the next page is there all the same.
          guard cut.isLine, let json = error.cause as? JSONError else { throw error }
          page = DecodedPage(number: number, entity: entity)
          unreadable = UnreadableInput(
            record: 1, line: cut.places.origin?.line, offset: cut.places.origin?.offset ?? 0,
            reason: "\(json)", content: cut.content, error: json)
        }
        page.take(cut.places)
        if let unreadable { page.reject(unreadable) }
        return page
      }
    } bytes: { cut, body in
      cut.content.withUnsafeBytes(body)
      for record in cut.places.unreadable { record.content.withUnsafeBytes(body) }
    }
  }
}
