internal import LodestoreFormat

/// How a declared entity reads and writes the records of an entity in whose file are attributes that it
/// does not declare, or has in another order.
///
/// Values are encoded in a layout of the declared attributes alone, which no stored record has, and
/// completed to records: from the stored record where one changes, from initial values where one is
/// new. A declaration of all attributes has none of this.
final class DeclaredPart: Sendable {
  /// The number of ``layout``: bit 14 is set, which it is in no stored record.
  private static let layoutNumber: UInt16 = 0x7fff

  /// The declared attributes in the order of the declaration.
  let layout: RecordLayout
  /// Whether records of the file begin with the declared attributes, so that they are read as they are.
  let isPrefix: Bool
  /// By the places of the file's layout: whether the attribute is declared.
  let isGiven: [Bool]
  /// The first undeclared attribute that a new record cannot be without.
  let missing: String?
  /// By the places of the file's layout.
  private let sources: [Int?]
  private let initials: [Value]
  private let numbers: Set<UInt32>

  /// - Parameter numbers: of the declared attributes, in the order of the declaration.
  init(_ stored: EntityDescription, numbers: [UInt32]) {
    let whole = stored.layout
    layout = RecordLayout(
      number: Self.layoutNumber,
      attributes: numbers.compactMap { number in
        whole.placeIndex(ofAttribute: number).map { whole.attributes[$0] }
      })
    self.numbers = Set(numbers)
    isPrefix = whole.attributes.map(\.number).starts(with: numbers)
    sources = whole.attributes.map { attribute in numbers.firstIndex(of: attribute.number) }
    isGiven = sources.map { $0 != nil }
    let attributes = stored.declaredAttributes
    initials = attributes.map {
      $0.initial == .null && !$0.isOptional ? .placeholder(of: $0.type) : $0.initial
    }
    missing =
      zip(attributes, isGiven).first { !$1 && !$0.isOptional && $0.initial == .null }?.0.name
  }

  func declares(_ number: UInt32) -> Bool { numbers.contains(number) }

  /// Throws when a new record needs a value that the declaration does not have.
  func checkNew(_ entity: String) throws(StoreError) {
    if let missing { throw .undeclaredRequired(entity: entity, attribute: missing) }
  }

  /// The whole content for `content`, which is in ``layout`` and has four free bytes behind it; with
  /// room for its checksum.
  ///
  /// - Parameter stored: the record that it is to replace, whose checksum is checked; `nil` for a new one, whose undeclared
  ///   attributes have their initial values, and where they need others, placeholders.
  func completed(
    _ content: UnsafeRawBufferPointer, over stored: RecordView? = nil, id: UInt64 = 0,
    of entity: StoredEntity
  ) throws(StoreError) -> [UInt8] {
    do {
      let record = UnsafeRawBufferPointer(
        start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
      let view = try RecordView(record, layout: layout)
      var values = initials
      if let stored { values = try entity.values(of: stored) }
      for (place, source) in sources.enumerated() {
        if let source { values[place] = try view.value(at: layout.places[source]) }
      }
      let whole = try RecordBuilder.content(layout: entity.layout, values: values)
      return whole + [UInt8](repeating: 0, count: RecordLayout.checksumSize)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}

extension StoredEntity {
  /// The layout in which values of the program's type are encoded.
  var typeLayout: RecordLayout { part?.layout ?? layout }

  /// The unique indexes by which a value of the program's type finds the stored record that it is to
  /// replace: those over what it has.
  var matchingIndexes: [StoredIndex] {
    indexes.filter { index in
      index.isUnique && index.description.attributes.allSatisfy { part?.declares($0) ?? true }
    }
  }

  /// The values of the attributes of `layout` in a record of any layout.
  func values(of view: RecordView, in layout: RecordLayout) throws(FormatError) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(layout.attributes.count)
    for attribute in layout.attributes {
      if let place = view.layout.placeIndex(ofAttribute: attribute.number) {
        values.append(try view.value(at: view.layout.places[place]))
      } else {
        values.append(description.attribute(number: attribute.number)?.initial ?? .null)
      }
    }
    return values
  }
}
