import EntityStore
import LodestoreFormat
import Synchronization

/// Writes pages into an entity through the importer that programs use.
struct ImportRun: Sendable {
  let core: StoreCore
  let entity: String
  /// The attributes of the unique index that records are matched by; nil inserts every record.
  let key: Set<UInt32>?
  let conflict: JSONConflict
  let strategy: ImportStrategy
  let names: [String: String]
  /// An unknown member rejects its record.
  let isStrict: Bool
  let options: ImportOptions

  /// What came of an import, also of one that did not get to the end.
  struct Result {
    var report: ImportReport
    /// Why it ended early; the report has what was kept until then.
    var failure: (any Error)?
  }

  /// Imports all pages.
  ///
  /// Never throws: what was kept is to be reported in any case.
  func run(
    _ pages: PageReader, onEvent: @escaping @Sendable (ImportEvent) -> Void
  ) async -> Result {
    let entity = entity
    let engine = ImportEngine(
      core: core, entityName: entity,
      entity: { (core) throws(StoreError) in try core.entity(named: entity) }, key: key,
      rule: conflict.rule, strategy: strategy, options: options)
    do {
      let encoding = PageEncoding(self)
      let report = try await engine.run(onEvent: onEvent) { _ in
        pages
      } decode: { page, number, entity in
        encoding.decode(page, number, entity)
      } bytes: { page, body in
        page.forEachText(body)
      }
      return Result(report: report)
    } catch {
      return Result(report: stored() ?? ImportReport(), failure: error)
    }
  }

  /// What the store keeps of an import that did not get to its end.
  private func stored() -> ImportReport? {
    try? core.read { core in
      try core.importReports(of: options.name ?? entity).last
    }
  }
}

/// Encodes pages for the entity as it is; for one task.
private final class PageEncoding {
  private let run: ImportRun
  private var encoder: (layout: UInt16, JSONRecordEncoder)?

  init(_ run: ImportRun) { self.run = run }

  func decode(_ page: RecordPage, _ number: Int, _ entity: StoredEntity) -> DecodedPage {
    var decoded = DecodedPage(number: number, entity: entity)
    decoded.byteCount = page.byteCount
    let encoder = encoder(for: entity)
    encoder.take(
      page.records, matching: run.key.map(Array.init), isPart: run.conflict == .patch,
      sizeLimit: run.core.options.recordSizeLimitInBytes, into: &decoded)
    return decoded
  }

  private func encoder(for entity: StoredEntity) -> JSONRecordEncoder {
    if let encoder, encoder.layout == entity.layout.number { return encoder.1 }
    let made = JSONRecordEncoder(entity, names: run.names, isStrict: run.isStrict)
    encoder = (entity.layout.number, made)
    return made
  }
}

extension PageReader: AsyncSequence {
  struct AsyncIterator: AsyncIteratorProtocol {
    let reader: PageReader

    mutating func next() async throws -> RecordPage? { try reader.next() }
  }

  nonisolated func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: self) }
}
