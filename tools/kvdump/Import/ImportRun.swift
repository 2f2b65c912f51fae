import EntityStore
import LodestoreFormat

/// Writes pages into an entity through the importer that programs use.
struct ImportRun: Sendable {
  let core: StoreCore
  let entity: String
  /// The attributes of the unique index that records are matched by; nil inserts every record.
  let key: Set<UInt32>?
  let conflict: JSONConflict
  let strategy: ImportStrategy
  let names: [String: String]
  /// By the names of attributes.
  let conversions: [String: TextConversion]
  /// An unknown member rejects its record.
  let isStrict: Bool
  let options: ImportOptions

  /// What came of an import, also of one that did not get to the end.
  struct Result {
    /// What was kept; nil when it did not begin.
    var report: ImportReport?
    /// Why it ended early.
    var failure: (any Error)?
  }

  /// Imports all pages.
  ///
  /// Never throws: what was kept is to be reported in any case.
  ///
  /// - Parameter check: called before each page; what it throws ends the import.
  func run(
    _ pages: PageReader, check: @escaping () throws -> Void,
    onEvent: @escaping @Sendable (ImportEvent) -> Void
  ) async -> Result {
    let entity = entity
    let engine = ImportEngine(
      core: core, entityName: entity,
      entity: { (core) throws(StoreError) in try core.entity(named: entity) }, key: key,
      rule: conflict.rule, strategy: strategy, options: options)
    let last = reports().last
    do {
      pages.check = check
      let report = try await engine.run(onEvent: onEvent) { _ in
        pages
      } decoder: {
        let encoding = PageEncoding(self)
        return { page, number, entity in encoding.decode(page, number, entity) }
      } bytes: { page, body in
        page.forEachText(body)
      }
      return Result(report: report)
    } catch {
      return Result(report: report(after: last), failure: error)
    }
  }

  /// What the store keeps of this run, which did not get to its end; `last` is the report that was
  /// the last before it, and another import of this name may have begun since.
  private func report(after last: ImportReport?) -> ImportReport? {
    reports().first { report in
      guard let last else { return true }
      return report.run == last.run ? report.resumptions > last.resumptions : report.run > last.run
    }
  }

  private func reports() -> [ImportReport] {
    (try? core.read { try $0.importReports(of: options.name ?? entity) }) ?? []
  }
}

/// Encodes pages for the entity as it is; for one task.
private final class PageEncoding {
  private let run: ImportRun
  private var encoders: [Bool: (layout: UInt16, encoder: JSONRecordEncoder)] = [:]

  init(_ run: ImportRun) { self.run = run }

  func decode(_ page: RecordPage, _ number: Int, _ entity: StoredEntity) -> DecodedPage {
    var decoded = DecodedPage(number: number, entity: entity)
    decoded.byteCount = page.byteCount
    encoder(for: entity, isText: page.isText).take(
      page.records, matching: run.key.map(Array.init), isPart: run.conflict == .patch,
      sizeLimit: run.core.options.recordSizeLimitInBytes, into: &decoded)
    if let offsets = page.offsets {
      for at in decoded.origins.indices {
        decoded.origins[at].byteOffset = offsets[decoded.origins[at].record - 1]
      }
      for at in decoded.rejects.indices {
        decoded.rejects[at].byteOffset = offsets[decoded.rejects[at].record - 1]
      }
    }
    return decoded
  }

  private func encoder(for entity: StoredEntity, isText: Bool) -> JSONRecordEncoder {
    if let made = encoders[isText], made.layout == entity.layout.number { return made.encoder }
    var conversions = run.conversions.mapValues(\.conversion)
    for attribute in entity.description.declaredAttributes
    where conversions[attribute.name] == nil {
      if !isText {
        conversions[attribute.name] = attribute.exactConversion
      } else if attribute.type != .string, attribute.type != .url {
        let conversion = TextConversion(to: attribute.type, takesAnyText: true)
        conversions[attribute.name] = conversion.conversion
      }
    }
    let encoder = JSONRecordEncoder(
      entity, names: run.names, conversions: conversions, isStrict: run.isStrict)
    encoders[isText] = (entity.layout.number, encoder)
    return encoder
  }
}

extension EntityDescription.Attribute {
  /// A value of the attribute's type as the encoder takes it, or a conversion of another value; nil
  /// where there is none.
  fileprivate var exactConversion: JSONRecordEncoder.Conversion? {
    let option: String
    switch type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
      .recordID:
      option = "--type \(name)=\(type.name) reads texts"
    case .date: option = "--type \(name)=date:FORMAT reads other forms"
    case .decimal, .string, .url, .uuid, .data, .json, .document: return nil
    }
    return { [type] (node) throws(ValueMismatch) in
      do throws(ValueMismatch) {
        return try Value(node, as: type)
      } catch {
        let mayBeOther = node.kind == .string || type == .date && node.numberText != nil
        throw mayBeOther ? ValueMismatch(description: "\(error.description); \(option)") : error
      }
    }
  }
}

extension PageReader: AsyncSequence {
  struct AsyncIterator: AsyncIteratorProtocol {
    let reader: PageReader

    mutating func next() async throws -> RecordPage? { try reader.next() }
  }

  nonisolated func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: self) }
}
