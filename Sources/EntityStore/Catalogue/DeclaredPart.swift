internal import LodestoreBytes
internal import LodestoreFormat

/// How a type writes records where it gives a part of the entity's attributes, or has them in another order
/// than the file.
///
/// Values are encoded in a layout of the declared attributes alone, without those that are derived, which
/// no stored record has. The attributes that are not given then come from the stored record, of a new
/// record from initial values. A type that gives all attributes in their order has no `DeclaredPart`.
final class DeclaredPart: Sendable {
  /// The number of ``layout``: bit 14 is set, which it is in no stored record.
  static let layoutNumber: UInt16 = 0x7fff

  /// The declared attributes in the order of the declaration.
  let layout: RecordLayout
  /// By index in the file's layout: whether the attribute is declared.
  let isGiven: [Bool]
  /// The first undeclared attribute that a new record cannot be without.
  let missing: String?
  /// By index in the file's layout: the index in ``layout``.
  private let sources: [Int?]
  private let initials: [Value]
  private let numbers: Set<UInt32>

  /// - Parameter numbers: of the declared attributes, in the order of the declaration.
  init(_ stored: EntityDescription, numbers: [UInt32]) {
    let whole = stored.layout
    layout = RecordLayout(number: Self.layoutNumber, attributes: whole.attributes(numbers))
    self.numbers = Set(numbers)
    sources = whole.attributes.map { attribute in numbers.firstIndex(of: attribute.number) }
    isGiven = sources.map { $0 != nil }
    let attributes = stored.declaredAttributes
    initials = attributes.map {
      $0.defaultValue == .null && !$0.isOptional
        ? .placeholder(of: $0.type) : $0.defaultValue
    }
    missing =
      zip(attributes, isGiven).first {
        !$1 && !$0.isOptional && $0.defaultValue == .null && $0.derivation == nil
      }?.0.name
  }

  func declares(_ number: UInt32) -> Bool { numbers.contains(number) }

  /// Throws when a new record needs a value that the declaration does not have.
  func checkNew(_ entity: String) throws(StoreError) {
    if let missing { throw .undeclaredRequired(entity: entity, attribute: missing) }
  }

  /// The values in the file's layout of `record`, which is in ``layout``.
  ///
  /// - Parameter stored: the values of the record to be replaced; `nil` for a new one, in which
  ///   undeclared attributes have their default values, or placeholders where they have none.
  func completed(
    _ record: ByteView, over stored: [Value]? = nil, id: UInt64 = 0,
    of entity: StoredEntity
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
  var typeLayout: RecordLayout { part?.layout ?? layout }

  /// The unique indexes by which a value of the program's type finds the stored record that it is to
  /// replace: those over what it has.
  var matchingIndexes: [StoredIndex] {
    indexes.filter { index in
      index.isUnique
        && index.description.attributes.allSatisfy { number in
          part?.declares(number) ?? true || derivations?.contains(number) ?? false
        }
    }
  }
}
