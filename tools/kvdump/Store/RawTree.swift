import EntityStore
import LMDB
import LodestoreBytes
import LodestoreFormat
import LodestorePages

/// A tree of a store as bytes, with the meaning of the bytes that can be decoded.
///
/// The catalogue may be damaged. A value that cannot be decoded is shown only as bytes.
struct RawTree {
  let tree: Tree
  let kind: TreeName?
  private let entity: EntityDescription?

  init(_ tree: Tree, entities: [EntityDescription]) {
    self.tree = tree
    kind = TreeName(tree.name)
    switch kind {
    case .records(let number), .index(let number, _), .elements(let number, _),
      .search(let number, _), .place(let number, _), .vector(let number, _):
      entity = entities.first { $0.number == number }
    default: entity = nil
    }
  }

  var hasIntegerKeys: Bool { tree.hasIntegerKeys }

  /// The kind of content in words; `nil` for a tree that this version does not know.
  var content: String? {
    switch kind {
    case .header: "format, UUID and number of the schema"
    case .catalogue: "descriptions of the entities"
    case .counters: "next record ids, and sizes of limited entities"
    case .buckets: "the program's own keys and values"
    case .imports: "how far imports are, and their reports"
    case .links(let number, let side):
      "links of relationship \(number) from side '\(side == .from ? "from" : "to")'"
    case .order(let number, let side):
      "order of what side '\(side == .from ? "from" : "to")' of relationship \(number) leads to"
    case .elements(_, let number): computedIndex(number) ?? "an index over elements"
    case .search(_, let number): computedIndex(number) ?? "a search index"
    case .place(_, let number): computedIndex(number) ?? "a place index"
    case .vector(_, let number): computedIndex(number) ?? "a vector index"
    case .history: "the history of changes"
    case .digests: "digests of records, links and buckets"
    case .catalogueCopy: "a second copy of the catalogue"
    case .seal: "the description of the sealed file"
    case .records: entity.map { "records of \($0.name)" } ?? "records of an entity not described"
    case .index: index.map { "index \($0)" } ?? "an index not described"
    case nil: nil
    }
  }

  private func computedIndex(_ number: UInt32) -> String? {
    entity.flatMap { entity in
      entity.computedIndexes.first { $0.number == number }
        .map { "index \(entity.name).\(entity.indexName($0))" }
    }
  }

  private var index: String? {
    guard let entity, let index = description else { return nil }
    return "\(entity.name).\(entity.indexName(index))" + (index.isUnique ? " (unique)" : "")
  }

  private var description: EntityDescription.Index? {
    guard case .index(_, let number) = kind else { return nil }
    return entity.flatMap { ($0.indexes + $0.building).first { $0.number == number } }
  }

  /// The pair in words; `nil` if it cannot be decoded.
  ///
  /// - Parameter isLong: Whether the body is too long to be put into words.
  func decoded(_ key: ByteView, _ body: ByteView, isLong: Bool) -> String? {
    if isLong, kind != .buckets { return nil }
    return switch kind {
    case .header: header(key, body)
    case .catalogue, .seal: sealed(key, body) { "\(document($0) ?? "")" }
    case .catalogueCopy:
      sealed(key, body) { key.first == 0 ? "a field of the header" : "\(document($0) ?? "")" }
    case .counters: counter(key, body)
    case .buckets: bucket(key, body)
    case .imports: sealed(key, body) { importPair(key, $0) }
    case .records: record(key, body)
    case .index: entry(key, body)
    case .links: link(key)
    case .order: order(key, body)
    case .elements: element(key)
    case .search(_, let number): posting(key, body, number)
    case .place: place(key)
    case .vector(_, let number): vectors(key, body, number)
    case .history: history(key, body)
    case .digests: digest(key, body)
    case nil: nil
    }
  }

  private func history(_ key: ByteView, _ body: ByteView) -> String? {
    switch HistoryKey(key) {
    case .part(let number, let part):
      sealed(key, body) { content in
        "write \(number)" + (part > 0 ? ", part \(part)" : "") + ": \(document(content) ?? "")"
      }
    case .image(let entity, let id, let number):
      "record \(id) of entity \(entity) before write \(number)"
    case .tombstone(let entity, let id, let number):
      sealed(key, body) { content in
        "of record \(id) of entity \(entity), deleted by write \(number): "
          + (document(content) ?? "")
      }
    case .consumer(let name): sealed(key, body) { "consumer \(name): \(document($0) ?? "")" }
    case .purged: sealed(key, body) { "purged: \(document($0) ?? "")" }
    case nil: nil
    }
  }

  private func digest(_ key: ByteView, _ body: ByteView) -> String? {
    guard let content = DigestedContent(key: key), let digest = ContentDigest(bytes: body) else {
      return nil
    }
    return switch content {
    case .records(let entity): "records of entity \(entity): \(digest)"
    case .links(let relationship): "links of relationship \(relationship): \(digest)"
    case .buckets: "buckets: \(digest)"
    }
  }

  private func link(_ key: ByteView) -> String? {
    guard let id = KeyDecoder.leadingID(key), let other = KeyDecoder.recordIDSuffix(key) else {
      return nil
    }
    return "record \(id) leads to \(other)"
  }

  private func posting(_ key: ByteView, _ body: ByteView, _ number: UInt32) -> String? {
    if SearchKey.statistics._withBytes({ key.elementsEqual($0) }) {
      return body.count == 16
        ? "\(body.uint64(at: 0)) records with \(body.uint64(at: 8)) words" : nil
    }
    if let chunk = SearchKey.chunk(key) {
      let first = chunk.multipliedReportingOverflow(by: SearchKey.chunkSize).partialValue
      return "numbers of words of the records from \(first)"
    }
    guard let (term, _) = SearchKey.block(key),
      let index = entity?.computedIndexes.first(where: { $0.number == number }),
      let block = try? PostingBlock(body, index.postingForm),
      let text = String(validating: term, as: UTF8.self)
    else { return nil }
    let total = block.total.map { " of \($0)" } ?? ""
    return "'\(text)' in \(block.count)\(total) records from \(block.firstID)"
  }

  private func element(_ key: ByteView) -> String? {
    var decoder = KeyDecoder(key)
    guard let id = KeyDecoder.recordIDSuffix(key), let value = try? decoder.next() else {
      return nil
    }
    return "\(KeyText.text(of: value)), record \(id)"
  }

  private func place(_ key: ByteView) -> String? {
    guard key.count == 16 else { return nil }
    let field = PlaceCell(position: key.bigEndianUInt64(at: 0))
    let latitude = PlaceCell.latitudes(field.rows).lowerBound
    let longitude = PlaceCell.longitudes(field.columns).lowerBound
    return "latitude \(latitude), longitude \(longitude), record \(key.bigEndianUInt64(at: 8))"
  }

  private func vectors(_ key: ByteView, _ body: ByteView, _ number: UInt32) -> String? {
    guard let part = key.first.flatMap(VectorForm.Part.init), key.count >= 9,
      key.count == (part == .listedSigns ? 11 : 9),
      let index = entity?.vectorIndexes.first(where: { $0.number == number })
    else { return nil }
    let form = VectorForm(dimensions: index.dimensions)
    guard let block = try? VectorBlock(body, part, of: form) else { return nil }
    let number = key.bigEndianUInt64(at: 1)
    func counted(_ noun: String) -> String {
      "\(block.count) \(noun)\(block.count == 1 ? "" : "s")"
    }
    func from(_ first: UInt64) -> String { "\(first &+ UInt64(block.offset(0)))" }
    return switch part {
    case .signs, .levels:
      "\(part) of \(counted("vector")), records from \(from(number &* form.span(part)))"
    case .groups: "centroids of \(counted("group")) from \(from(number &* form.span(part)))"
    case .lists: "centroids of \(counted("list")) from \(from(number &* form.span(part)))"
    case .listedSigns:
      "signs of \(counted("vector")) of list \(number >> 48), records from \(from(number << 16))"
    }
  }

  private func order(_ key: ByteView, _ body: ByteView) -> String? {
    guard let number = number(body) else { return nil }
    return switch LinkOrderKey.content(key) {
    case .link(let owner, let other): "record \(owner) leads to \(other) at position \(number)"
    case .position(let owner, let position): "position \(position) of record \(owner): \(number)"
    case nil: nil
    }
  }

  private func header(_ key: ByteView, _ body: ByteView) -> String? {
    switch HeaderField(rawValue: String(decoding: key, as: UTF8.self)) {
    case .format:
      (try? FormatRequirement(bytes: body)).map {
        "format: lowest reader \($0.lowestReader), lowest writer \($0.lowestWriter)"
      }
    case .uuid: body.count == 16 ? "uuid: \(UUIDBytes(bytes: body, at: 0).text)" : nil
    case .created:
      number(body).map { "created: " + KeyText.text(of: .date(Double(bitPattern: $0))) }
    case .schema: number(body).map { "schema: \($0)" }
    case .model: number(body).map { "model: \($0)" }
    case nil: changes(key, body)
    }
  }

  private func changes(_ key: ByteView, _ body: ByteView) -> String? {
    guard let entity = HeaderField.changedEntity(key), let mark = number(body) else { return nil }
    return "mark of entity \(entity): \(mark), \(mark & 1 == 1 ? "as imports know it" : "changed")"
  }

  private func counter(_ key: ByteView, _ body: ByteView) -> String? {
    guard let count = number(body) else { return nil }
    if key.elementsEqual([2]) { return "next entity: \(count)" }
    if key.elementsEqual([3]) { return "next relationship: \(count)" }
    if let entity = CounterKey.sizedEntity(key) {
      return "size of the records of entity \(entity): \(count) bytes"
    }
    return CatalogueKey.entityNumber(key).map { "next record of entity \($0): \(count)" }
  }

  private func number(_ body: ByteView) -> UInt64? {
    body.count == 8 ? body.uint64(at: 0) : nil
  }

  private func bucket(_ key: ByteView, _ body: ByteView) -> String? {
    guard let (bucket, key) = BucketKey.split(key) else { return nil }
    let text = String(validating: key, as: UTF8.self) ?? Finding.hexadecimal(key)
    return "\(bucket): \(text), \(max(body.count - 4, 0)) bytes"
  }

  private func importPair(_ key: ByteView, _ content: ByteView) -> String? {
    guard let (name, key) = ImportKey.split(key) else { return nil }
    let what =
      switch key {
      case .state: "open"
      case .memory: "page"
      case .basis: "basis"
      case .report(let run): "run \(run)"
      case .seen(let page): "seen on page \(page)"
      }
    return "\(name): \(what) \(document(content) ?? "")"
  }

  private func sealed(
    _ key: ByteView, _ body: ByteView,
    _ text: (ByteView) -> String?
  ) -> String? {
    (try? Checksum.unsealed(key: key, body: body)).flatMap(text)
  }

  private func document(_ bytes: ByteView) -> String? {
    var text: [UInt8] = []
    guard (try? DocumentText.append(bytes, to: &text)) != nil else { return nil }
    return String(decoding: text, as: UTF8.self)
  }

  private func record(_ key: ByteView, _ body: ByteView) -> String? {
    guard key.count == 8, let entity, let number = try? RecordLayout.layoutNumber(of: body),
      let layout = entity.layouts.first(where: { $0.number == number }),
      let view = try? RecordView(body, layout: layout)
    else { return nil }
    var members: [(String, Cell)] = [("_id", .unsigned(key.uint64(at: 0)))]
    for (attribute, place) in zip(layout.attributes, layout.slots) {
      guard let cell = try? Cell(view.value(at: place)) else { return nil }
      members.append((entity.attribute(number: attribute.number)?.name ?? "?", cell))
    }
    return CellJSON.object(members)
  }

  private func entry(_ key: ByteView, _ body: ByteView) -> String? {
    guard let index = description else { return nil }
    var tuple = key
    var id = body.count == 8 ? body.uint64(at: 0) : 0
    let hasNull = values(key, index.attributes.count)?.contains(.null) ?? false
    if IndexTuple.keyHasRecordID(isUnique: index.isUnique, hasNull: hasNull) {
      guard let suffix = KeyDecoder.recordIDSuffix(key) else { return nil }
      id = suffix
      tuple = key.dropLast(8)
    }
    if KeyDecoder.isCut(tuple: tuple) { return "(cut) -> \(id)" }
    guard let values = values(tuple, index.attributes.count) else { return nil }
    return values.map(KeyText.text).joined(separator: ", ") + " -> \(id)"
  }

  private func values(_ tuple: ByteView, _ count: Int) -> [Value]? {
    var decoder = KeyDecoder(tuple)
    return try? (0..<count).map { _ in try decoder.next() }
  }
}
