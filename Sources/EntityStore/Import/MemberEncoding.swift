internal import LodestoreEssentials
internal import LodestoreFormat

/// Encodes the records of pages by the names of their members; only one task at a time may use it.
final class MemberEncoding {
  private let key: [UInt32]
  private let place: RecordPlace
  private let names: [String: String]
  /// The cases of attributes that hold enumerations, by attribute name.
  private let cases: [String: any EnumerationCases]
  /// Whether an update of a stored record changes only the attributes that the incoming record has.
  private let isPart: Bool
  private let sizeLimit: Int
  /// Whether all values are texts, as in files of separated values.
  private let readsTexts: Bool
  /// The names of members that contain keys of links to other records.
  private let linked: Set<String>
  private var encoder: (layout: UInt16, encoder: JSONRecordEncoder)?

  init(
    _ engine: ImportEngine, key: Set<UInt32>, place: RecordPlace, names: [String: String],
    cases: [String: any EnumerationCases], linked: Set<String> = [], readsTexts: Bool = false
  ) {
    self.readsTexts = readsTexts
    self.linked = linked
    self.key = Array(key)
    self.place = place
    self.names = names
    self.cases = cases
    isPart = engine.rule.takesParts
    sizeLimit = engine.core.options.recordSizeLimitInBytes
  }

  func take(_ data: Data, into page: inout DecodedPage, _ entity: StoredEntity) throws(StoreError) {
    let records = try JSONPage(data, number: page.number, at: place).container
    page.byteCount = data.count
    encoder(for: entity).take(
      elementsOf: records, matching: key, isPart: isPart, sizeLimit: sizeLimit, into: &page)
  }

  private func encoder(for entity: StoredEntity) -> JSONRecordEncoder {
    if let encoder, encoder.layout == entity.layout.number { return encoder.encoder }
    var conversions: [String: JSONRecordEncoder.Conversion] = [:]
    if readsTexts {
      for attribute in entity.description.declaredAttributes
      where attribute.type != .string && attribute.type != .url {
        conversions[attribute.name] = Self.readingText(as: attribute.type)
      }
    }
    for (name, cases) in cases {
      guard let type = entity.description.attribute(named: name)?.type else { continue }
      conversions[name] = cases.conversion(to: type, readsTexts)
    }
    let made = JSONRecordEncoder(
      entity, names: names, conversions: conversions, ignoring: linked, keyName: place.keyName)
    encoder = (entity.layout.number, made)
    return made
  }
}

extension MemberEncoding {
  private static func readingText(as type: AttributeType) -> JSONRecordEncoder.Conversion {
    { (node) throws(ValueMismatch) in
      try Value(textOrValue: node, as: type, takesAnyText: true)
    }
  }
}

extension EnumerationCases {
  /// The conversion to `type` that accepts only the raw values of these cases.
  fileprivate func conversion(
    to type: AttributeType, _ readsTexts: Bool
  ) -> JSONRecordEncoder.Conversion {
    { (node) throws(ValueMismatch) in
      let raw = try rawValue(node, type, readsTexts)
      guard contain(StoredValue(raw)) else {
        throw ValueMismatch(
          description: "must be a raw value of \(name), found \(Value.messageText(node))")
      }
      return raw
    }
  }

  private func rawValue(
    _ node: JSONNode, _ type: AttributeType, _ readsTexts: Bool
  ) throws(ValueMismatch) -> Value {
    if readsTexts { return try Value(textOrValue: node, as: type, takesAnyText: true) }
    return try Value(node, as: type)
  }
}
