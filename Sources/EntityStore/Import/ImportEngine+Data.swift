internal import LodestoreBytes
internal import LodestoreEssentials

/// Decodes a page of JSON text into records of the entity.
typealias DataDecoding = (_ page: Data, _ decoded: inout DecodedPage, StoredEntity) throws -> Void

extension ImportEngine {
  /// Imports pages of JSON text.
  ///
  /// Pages of files also list the records that could not be read; these are rejected.
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
      data.withUnsafeBytes { body(ByteView($0)) }
    }
  }

  /// Imports the pages of a source that can begin at a position.
  func run(
    _ source: some PageSource, onEvent: (@Sendable (ImportEvent) -> Void)?,
    decoder: @escaping @Sendable () -> DataDecoding
  ) async throws -> ImportReport {
    try await run(onEvent: onEvent) { start in
      source.pages(from: start.position, remembered: start.remembered)
    } decoder: {
      let decode = decoder()
      return { incoming, number, entity in
        try DecodedPage(incoming, number: number, entity: entity) { data, page in
          try decode(data, &page, entity)
        }
      }
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
        var places = cut.places
        do {
          try decode(cut.content, &page, entity)
          if cut.isText, let error = cut.cutError {
            unreadable = UnreadableInput(page.recordCount + 1, endOf: cut.content.count, error)
            places.warnings.append(PagePlaces.cutWarning)
          }
        } catch let error as StoreError {
          guard let json = error.cause as? JSONError else { throw error }
          page = DecodedPage(number: number, entity: entity)
          if cut.isText {
            // The complete records of a truncated text are imported.
            let rest = Self.takeWholeRecords(of: cut.content, cut.cutError ?? json) { whole in
              page = DecodedPage(number: number, entity: entity)
              try decode(whole, &page, entity)
              return page.recordCount
            }
            guard let rest else { throw error }
            unreadable = rest
            places.warnings.append(PagePlaces.cutWarning)
          } else {
            // When each line is a page, one bad line does not affect the next page.
            guard cut.isLine else { throw error }
            unreadable = UnreadableInput(
              record: 1, line: cut.places.origin?.line, offset: cut.places.origin?.offset ?? 0,
              reason: "\(json)", content: cut.content, error: json)
            if cut.isLastLine, JSONCutText(Array(cut.content)) != nil {
              places.warnings.append(PagePlaces.cutWarning)
            }
          }
        }
        page.take(places)
        if let unreadable { page.reject(unreadable) }
        return page
      }
    } bytes: { cut, body in
      cut.content.withUnsafeBytes { body(ByteView($0)) }
      for record in cut.places.unreadable { record.content._withBytes(body) }
    }
  }

  /// Decodes the complete records of a truncated JSON text, and returns the rest of the text.
  ///
  /// Returns `nil` when truncation does not explain the error.
  ///
  /// - Parameter take: decodes a text whose brackets have been closed; returns the number of its
  ///   records.
  private static func takeWholeRecords(
    of content: Data, _ error: any Error, _ take: (Data) throws -> Int
  ) -> UnreadableInput? {
    guard let text = JSONCutText(Array(content)) else { return nil }
    // The array of records is the outermost array at the place where records are expected.
    for level in 0..<min(text.depth, JSONCutText.mostLevels) {
      guard let count = try? take(Data(text.whole(at: level))) else { continue }
      // Without a complete record, the page is refused.
      guard count > 0 else { return nil }
      return UnreadableInput(count + 1, text, at: level, error)
    }
    return nil
  }
}
