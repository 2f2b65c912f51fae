/// An entity as the catalogue describes it.
///
/// See Format.md, "Catalogue".
package struct EntityDescription: Sendable {
  /// One attribute, declared or removed.
  package struct Attribute: Sendable, Hashable {
    package var number: UInt32
    package var name: String
    /// The name of the member that imports fill the attribute from; `nil` where it is the
    /// attribute's.
    package var source: String?
    package var type: AttributeType
    package var isOptional: Bool
    /// For documents: the name of the Swift type, for people.
    package var shape: String?
    /// For documents: their outline; `nil` where no program has declared one yet.
    package var members: DocumentOutline?
    /// The value of records whose layout does not have the attribute.
    package var initial: Value
    /// The value of new records that are given none, where it is not ``initial``; null for none.
    package var changedDefault: Value?
    /// The conditions on values that are written.
    package var constraints: AttributeConstraints
    /// How the store works out the values; `nil` where programs give them.
    package var derivation: DerivationDescription?
    package var isRemoved: Bool

    package init(
      number: UInt32, name: String, source: String? = nil, type: AttributeType, isOptional: Bool,
      shape: String? = nil, members: DocumentOutline? = nil, initial: Value = .null,
      constraints: AttributeConstraints = AttributeConstraints(),
      derivation: DerivationDescription? = nil, isRemoved: Bool = false
    ) {
      self.number = number
      self.name = name
      self.source = source
      self.type = type
      self.isOptional = isOptional
      self.shape = shape
      self.members = members
      self.initial = initial
      self.constraints = constraints
      self.derivation = derivation
      self.isRemoved = isRemoved
    }

    /// The value of new records that are given none; null where there is no default.
    package var defaultValue: Value { changedDefault ?? initial }
  }

  /// One index.
  package struct Index: Sendable, Hashable {
    package var number: UInt32
    package var attributes: [UInt32]
    package var isUnique: Bool

    package init(number: UInt32, attributes: [UInt32], isUnique: Bool) {
      self.number = number
      self.attributes = attributes
      self.isUnique = isUnique
    }
  }

  /// An index over the elements of arrays in the documents of one attribute.
  package struct ElementIndex: Sendable, Hashable {
    package var number: UInt32
    package var attribute: UInt32
    /// The names of the members that lead to the elements.
    package var path: [String]

    package init(number: UInt32, attribute: UInt32, path: [String]) {
      self.number = number
      self.attribute = attribute
      self.path = path
    }
  }

  /// A condition that every record fulfils when it is written.
  package struct Rule: Sendable, Hashable {
    package var name: String
    /// As a predicate format string.
    package var condition: String

    package init(name: String, condition: String) {
      self.name = name
      self.condition = condition
    }
  }

  /// The facts that the history keeps of changes of the records.
  package struct History: Sendable, Hashable {
    /// Whether records are kept as they were before they changed or went.
    package var keepsImages: Bool
    /// The numbers of the attributes whose values are kept of records that were removed, ascending.
    package var preserved: [UInt32]

    /// Whether anything is kept of records as they were.
    package var keepsRecords: Bool { keepsImages || !preserved.isEmpty }

    package init(keepsImages: Bool = false, preserved: [UInt32] = []) {
      self.keepsImages = keepsImages
      self.preserved = preserved
    }
  }

  package var number: EntityNumber
  package var name: String
  package var attributes: [Attribute]
  package var layouts: [RecordLayout]
  package var currentLayout: UInt16
  package var indexes: [Index]
  /// Indexes that have entries for some of the records only; their numbers are none of those of
  /// ``indexes``.
  package var building: [Index] = []
  package var elementIndexes: [ElementIndex] = []
  package var rules: [Rule]
  /// `nil` where the history keeps no changes.
  package var history: History?
  /// `nil` where records do not expire.
  package var expiry: Expiry?
  /// `nil` where the number and the size of the records are not limited.
  package var limit: Limit?
  package var unknownMembers = UnknownMembers()

  package init(
    number: EntityNumber, name: String, attributes: [Attribute], layouts: [RecordLayout],
    currentLayout: UInt16, indexes: [Index], rules: [Rule] = []
  ) {
    self.number = number
    self.name = name
    self.attributes = attributes
    self.layouts = layouts
    self.currentLayout = currentLayout
    self.indexes = indexes
    self.rules = rules
  }

  /// The layout that new records are written in.
  package var layout: RecordLayout {
    // The initializer from bytes has checked that it is there.
    layouts.first { $0.number == currentLayout } ?? RecordLayout(number: 0, attributes: [])
  }

  /// The attributes that are not removed, in the order of the current layout.
  package var declaredAttributes: [Attribute] {
    layout.attributes.compactMap { stored in attributes.first { $0.number == stored.number } }
  }

  package func attribute(number: UInt32) -> Attribute? {
    attributes.first { $0.number == number }
  }

  package func attribute(named name: String) -> Attribute? {
    attributeIndex(named: name).map { attributes[$0] }
  }

  /// The attribute that imports fill from the member `name`, when it keeps that name as its source.
  package func attribute(filledFrom name: String) -> Attribute? {
    attributes.first { $0.source == name && !$0.isRemoved }
  }

  /// The position of the attribute in ``attributes``, which are not copied on the way.
  package func attributeIndex(named name: String) -> Int? {
    attributes.indices.first { attributes[$0].name == name && !attributes[$0].isRemoved }
  }

  /// `Entity.name` of the attributes, joined by `+`: how an index is named in text.
  package func indexName(_ index: Index) -> String {
    index.attributes.map { attribute(number: $0)?.name ?? "\($0)" }.joined(separator: "+")
  }

  /// As in `Pod.keywords[]` or `Pod.authors[].name`, without the entity.
  package func indexName(_ index: ElementIndex) -> String {
    ([(attribute(number: index.attribute)?.name ?? "\(index.attribute)") + "[]"] + index.path)
      .joined(separator: ".")
  }

  /// The highest number of an attribute; bounds what a hostile catalogue can make a reader
  /// allocate.
  package static let highestAttributeNumber: UInt32 = 16_383

  /// The trees of its records and of its indexes, those being built among them.
  package var trees: [TreeName] {
    [.records(entity: number)]
      + (indexes + building).map { .index(entity: number, index: $0.number) }
      + elementIndexes.map { .elements(entity: number, index: $0.number) }
  }

  /// The most bytes of the name of an entity or attribute.
  package static let longestName = 64

  /// The most bytes of the name of a member that an attribute is filled from.
  package static let longestSource = 1_024

  /// Whether `name` may be an entity's or an attribute's.
  package static func isValidName(_ name: String) -> Bool {
    guard let first = name.utf8.first, name.utf8.count <= longestName,
      first < 0x30 || first > 0x39
    else { return false }
    return name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
        || (0x61...0x7a).contains(byte) || byte == 0x5f
    }
  }

  /// The name of a record's id among its attributes.
  package static let nameOfID = "_id"

  /// Whether `name` may be an attribute's, or that of a side of a relationship.
  package static func isValidAttributeName(_ name: String) -> Bool {
    isValidName(name) && name != nameOfID
  }
}
