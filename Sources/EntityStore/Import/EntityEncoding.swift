internal import LodestoreEssentials
internal import LodestoreFormat

/// Encodes the entities of incoming pages; only one task at a time may use it.
final class EntityEncoding<E: Entity> {
  @exclusivity(unchecked) private var writer: RecordWriter
  /// The numbers of the attributes by which records are matched; a record with a null in one is
  /// rejected.
  private let key: Set<UInt32>
  private let decoder = JSONNodeDecoder()

  init(_ store: Store, key: Set<UInt32>) {
    writer = RecordWriter(sizeLimit: store.core.options.recordSizeLimitInBytes)
    self.key = key
  }

  /// Decodes and transforms the records of a page of JSON; only the records that fail are rejected.
  func take<Record: Decodable>(
    _ data: Data, _ place: RecordPlace, _ transform: (Record) throws -> E?,
    into page: inout DecodedPage, _ entity: StoredEntity
  ) throws(StoreError) {
    let json = try JSONPage(data, number: page.number, at: place)
    let records = json.records
    page.byteCount = data.count
    defer { page.findLines(in: json.container.document) }
    for (number, node) in records.enumerated() {
      let origin = DecodedPage.Origin(record: number + 1, byteOffset: node.offset)
      if let fault = node.faultRejection {
        page.reject(
          .init(record: number + 1, byteOffset: fault.offset), reason: fault.reason,
          content: fault.content)
        continue
      }
      do {
        let decoded = try decoder.decode(Record.self, from: node, keyAs: place.keyName)
        if let value = try transform(decoded) { try take(value, at: origin, into: &page, entity) }
      } catch {
        let found = JSONNodeDecoder.offendingNode(of: error, in: node)
        page.reject(
          .init(record: number + 1, byteOffset: found.offset),
          attribute: JSONPage.attribute(error), reason: JSONPage.reason(error))
      }
    }
  }

  /// Encodes one record, or rejects it when it cannot be encoded.
  func take(
    _ value: E, at origin: DecodedPage.Origin, into page: inout DecodedPage, _ entity: StoredEntity
  ) throws(StoreError) {
    do throws(StoreError) {
      let record = try writer.encode(value, of: entity)
      guard let part = entity.part else {
        return try take(try entity.view(record), at: origin, into: &page, entity)
      }
      let whole = try entity.record(of: try part.completed(record.raw, of: entity))
      try writer.checkSize(whole.contentCount, of: entity)
      try whole.withView(of: entity) { (view) throws(StoreError) in
        try take(view, at: origin, into: &page, entity)
      }
    } catch  where error.code == .unstorableValue {
      page.reject(origin, attribute: error.attribute, reason: error.message)
    }
  }

  private func take(
    _ view: RecordView, at origin: DecodedPage.Origin, into page: inout DecodedPage,
    _ entity: StoredEntity
  ) throws(StoreError) {
    for number in key {
      let number = entity.derivations?.given(number) ?? number
      guard let index = entity.layout.slotIndex(ofAttribute: number),
        view.isNull(entity.layout.slots[index])
      else { continue }
      let name = entity.description.attribute(number: number)?.name
      page.reject(
        origin, attribute: name, reason: "a part of its key, '\(name ?? "?")', is absent or null")
      return
    }
    page.append(view.content, at: origin, given: entity.part?.isGiven)
  }
}
