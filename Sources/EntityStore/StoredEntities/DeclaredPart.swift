internal import LodestoreBytes
internal import LodestoreFormat

/// The rules for encoding values of a type that declares only some of an entity's attributes, or
/// declares them in another order.
///
/// Values are encoded in a layout of the declared attributes, without derived ones. No stored
/// record has this layout. The remaining attributes then come from the stored record, or for a new
/// record from initial values. A type that declares all attributes in the stored order has no
/// `DeclaredPart`.
final class DeclaredPart: Sendable {
  /// The number of ``layout``; its bit 14 is set, which is clear in all stored records.
  static let layoutNumber: UInt16 = 0x7fff

  /// The declared attributes in the order of the declaration.
  let layout: RecordLayout
  /// For each attribute of the file's layout: whether it is declared.
  let isGiven: [Bool]
  /// The first undeclared attribute that a new record requires.
  let missing: String?
  /// For each attribute of the file's layout: its index in ``layout``.
  private let sources: [Int?]
  private let initials: [Value]
  private let numbers: Set<UInt32>

  /// - Parameter numbers: the numbers of the declared attributes, in the order of the declaration.
  init(_ stored: EntityDescription, numbers: [UInt32]) {
    let whole = stored.layout
    layout = RecordLayout(number: Self.layoutNumber, attributes: whole.attributes(numbers))
    self.numbers = Set(numbers)
    sources = whole.attributes.map { attribute in numbers.firstIndex(of: attribute.number) }
    isGiven = sources.map { $0 != nil }
    let attributes = stored.declaredAttributes
    initials = attributes.map {
      $0.defaultValue == .null && !$0.isOptional ? .placeholder(of: $0.type) : $0.defaultValue
    }
    missing =
      zip(attributes, isGiven).first {
        !$1 && !$0.isOptional && $0.defaultValue == .null && $0.derivation == nil
      }?.0.name
  }

  func declares(_ number: UInt32) -> Bool { numbers.contains(number) }

  /// Throws when a new record needs a value that the declaration does not contain.
  func checkNew(_ entity: String) throws(StoreError) {
    if let missing { throw .undeclaredRequired(entity: entity, attribute: missing) }
  }

  /// Converts `record`, which is in ``layout``, to values in the file's layout.
  ///
  /// - Parameter stored: the values of the record to be replaced; `nil` for a new one. Undeclared
  ///   attributes of a new record have their default values, or placeholders without a default.
  func completed(
    _ record: ByteView, over stored: [Value]? = nil, id: UInt64 = 0, of entity: StoredEntity
  ) throws(StoreError) -> [Value] {
    do {
      let view = try RecordView(record, layout: layout)
      var values = stored ?? initials
      for (index, source) in sources.enumerated() {
        if let source { values[index] = try view.value(at: layout.slots[source]) }
      }
      return values
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}

extension RecordLayout {
  /// The attributes with these numbers.
  func attributes(_ numbers: [UInt32]) -> [RecordLayout.Attribute] {
    numbers.compactMap { number in slotIndex(ofAttribute: number).map { attributes[$0] } }
  }
}

extension StoredEntity {
  /// The layout in which values of the program's type are encoded.
  var encodingLayout: RecordLayout { part?.layout ?? layout }

  /// The unique indexes by which a value of the program's type finds the stored record to replace.
  ///
  /// Their attributes are all declared or derived.
  var matchingIndexes: [StoredIndex] {
    indexes.filter { index in
      index.isUnique
        && index.description.attributes.allSatisfy { number in
          part?.declares(number) ?? true || derivations?.contains(number) ?? false
        }
    }
  }
}
