package import LodestoreFormat

/// Imports pages of JSON records into an entity, with the engine of ``Importer``.
///
/// A JSON member sets the attribute that has its name. Each value is read as its attribute's type.
package struct DynamicImport: Sendable {
  package let store: DynamicStore
  package let entity: String
  package let options: ImportOptions
  private let conflict: DynamicMergePolicy
  private let strategy: ImportStrategy
  private let key: [String]?
  /// For members whose name differs from the attribute's name: the attribute's name, by member
  /// name.
  package var names: [String: String] = [:]
  /// The conversions of values, by attribute name; other values are read in the standard way of
  /// their type.
  package var conversions: [String: TextConversion] = [:]
  /// If the records are values in one JSON object: the member of each record that receives the
  /// record's name in the object.
  package var keyName: String?
  /// The members whose values are keys of records of other entities, to which links are created.
  package var links: [DynamicLink] = []
  /// Whether an unknown member rejects its record.
  package var isStrict = false
  /// Returns text to add to the reason of a refusal when a conversion might read the refused value.
  package var hint: (@Sendable (EntityDescription.Attribute) -> String)?
  /// Returns text to add to the reason of a refusal when the refused value is a text of separated
  /// values, as in CSV.
  package var textHint: (@Sendable (EntityDescription.Attribute) -> String)?

  /// - Parameters:
  ///   - key: the attributes of the unique index by which records are matched, by name; nil inserts
  ///     every record.
  ///   - conflict: the rule for stored records.
  package init(
    into entity: String, of store: DynamicStore, key: [String]?, conflict: DynamicMergePolicy,
    strategy: ImportStrategy, options: ImportOptions
  ) {
    self.store = store
    self.entity = entity
    self.key = key
    self.conflict = conflict
    self.strategy = strategy
    self.options = options
  }

  /// Imports all pages, and then evicts the records above a limit.
  package func run<Pages: AsyncSequence>(
    _ pages: Pages, onEvent: @escaping @Sendable (ImportEvent) -> Void
  ) async throws -> ImportReport where Pages.Element == DynamicPage {
    let numbers = try keyNumbers()
    let entity = entity
    let engine = ImportEngine(
      core: store.core, entityName: entity,
      entity: { (core) throws(StoreError) in try core.entity(named: entity) },
      key: numbers.map { Set($0) }, rule: conflict.rule, strategy: strategy, options: options,
      transformation: links.isEmpty ? "" : "links", links: links.map(\.imported))
    let report = try await engine.run(onEvent: onEvent) { _ in
      pages
    } decoder: {
      let encoding = PageEncoding(self, key: numbers)
      return { page, number, entity in encoding.decode(page, number, entity) }
    } bytes: { page, body in
      page.forEachText(body)
    }
    let core = store.core
    if !core.schema.limited.isEmpty { _ = try await core.onWriter { try core.evict() } }
    return report
  }

  private func keyNumbers() throws -> [UInt32]? {
    guard let key else { return nil }
    let description = try store.core.read { try $0.entity(named: entity).description }
    return key.compactMap { description.attribute(named: $0)?.number }
  }

  fileprivate func encoder(for entity: StoredEntity, isText: Bool) -> JSONRecordEncoder {
    var conversions = conversions.mapValues(\.conversion)
    for attribute in entity.description.declaredAttributes
    where conversions[attribute.name] == nil {
      if !isText {
        conversions[attribute.name] = hint.flatMap { attribute.conversion(hinting: $0) }
      } else if attribute.type != .string, attribute.type != .url {
        let conversion = TextConversion(to: attribute.type, takesAnyText: true).conversion
        conversions[attribute.name] =
          textHint.map { Self.hinting($0(attribute), conversion) } ?? conversion
      }
    }
    return JSONRecordEncoder(
      entity, names: names, conversions: conversions, isStrict: isStrict,
      ignoring: Set(links.map(\.relationship)),
      linked: Set(links.filter(\.isToOne).map(\.relationship)), keyName: keyName)
  }

  private static func hinting(
    _ hint: String, _ conversion: @escaping JSONRecordEncoder.Conversion
  ) -> JSONRecordEncoder.Conversion {
    { (node) throws(ValueMismatch) in
      do throws(ValueMismatch) {
        return try conversion(node)
      } catch {
        throw ValueMismatch(description: "\(error.description); \(hint)")
      }
    }
  }

  fileprivate func take(
    _ page: DynamicPage, _ encoder: JSONRecordEncoder, key: [UInt32]?,
    into decoded: inout DecodedPage
  ) {
    encoder.take(
      page.records, matching: key, isPart: conflict == .patch,
      sizeLimit: store.core.options.recordSizeLimitInBytes, into: &decoded)
    LinkMembers(links: links.map(\.imported), place: RecordPlace(path: ""), core: store.core)
      .take(page.records.map(\.node), into: &decoded)
  }
}

/// Encodes pages for the entity's current schema; only one task may use it.
private final class PageEncoding {
  private let importing: DynamicImport
  private let key: [UInt32]?
  private var encoders: [Bool: (layout: UInt16, encoder: JSONRecordEncoder)] = [:]

  init(_ importing: DynamicImport, key: [UInt32]?) {
    self.importing = importing
    self.key = key
  }

  func decode(_ page: DynamicPage, _ number: Int, _ entity: StoredEntity) -> DecodedPage {
    var decoded = DecodedPage(number: number, entity: entity)
    decoded.byteCount = page.byteCount
    importing.take(page, encoder(for: entity, isText: page.isText), key: key, into: &decoded)
    // If all records are in one JSON text, their lines are found there. Otherwise `page.places`
    // already contains the lines.
    let first = page.records.first?.node.document
    if let first, first === page.records.last?.node.document { decoded.findLines(in: first) }
    decoded.take(page.places.places)
    return decoded
  }

  private func encoder(for entity: StoredEntity, isText: Bool) -> JSONRecordEncoder {
    if let made = encoders[isText], made.layout == entity.layout.number { return made.encoder }
    let encoder = importing.encoder(for: entity, isText: isText)
    encoders[isText] = (entity.layout.number, encoder)
    return encoder
  }
}

extension EntityDescription.Attribute {
  /// A conversion to the attribute's type that adds a hint to the reason when it refuses a value.
  ///
  /// Returns nil for types without a hint.
  fileprivate func conversion(
    hinting hint: @Sendable (EntityDescription.Attribute) -> String
  ) -> JSONRecordEncoder.Conversion? {
    switch type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
      .recordID, .date:
      break
    case .decimal, .string, .url, .uuid, .data, .json, .document: return nil
    }
    let hint = hint(self)
    return { [type] (node) throws(ValueMismatch) in
      do throws(ValueMismatch) {
        return try Value(node, as: type)
      } catch {
        let mayBeOther = node.kind == .string || type == .date && node.numberText != nil
        throw mayBeOther ? ValueMismatch(description: "\(error.description); \(hint)") : error
      }
    }
  }
}

extension ImportReport {
  /// The report of an import without pages.
  package static func empty(of entity: String) -> ImportReport {
    var report = ImportReport()
    report.name = entity
    report.entity = entity
    report.ending = .finished
    return report
  }
}
